package doctest

import (
	"cmp"
	"slices"
	"strings"
)

// agree takes care of the fields and parameters that depend on each other: it changes or leaves out those that do not go with
// the others.
func (g *Generator) agree(all []field) []field {
	f := fields(all)
	if f.text("ignore_robots") == "1" { // on one's own site alone
		f.set("url", "https://"+g.website().Host)
	}
	f.agreePrivacy()
	f.agreeEvent()
	f.agreeScope()
	f.agreePeriod()
	f.agreeRows()
	return f
}

// fields are those of an object or a query.
type fields []field

func (f fields) index(name string) int {
	return slices.IndexFunc(f, func(one field) bool { return one.name == name })
}

// text is the value of a field; empty when it is not sent.
func (f fields) text(name string) string {
	if i := f.index(name); i >= 0 {
		return text(f[i].value)
	}
	return ""
}

func (f *fields) set(name string, value any) {
	if i := f.index(name); i >= 0 {
		(*f)[i].value = value
		return
	}
	*f = append(*f, field{name, value})
}

func (f *fields) drop(name string) {
	*f = slices.DeleteFunc(*f, func(one field) bool { return one.name == name })
}

// agreePrivacy: privacy 2 needs a password, and removing that another privacy.
func (f *fields) agreePrivacy() {
	password := f.index("password")
	switch {
	case password >= 0 && (*f)[password].value == nil:
		f.set("privacy", "1")
	case password < 0 && f.text("privacy") == "2":
		f.set("privacy", "0")
	}
}

// agreeEvent: an event of one's own has a name.
func (f *fields) agreeEvent() {
	if f.text("kind") == "event" && f.text("name") == "" {
		f.set("name", "signup")
	}
}

// agreeScope: only an audit of a site has a number of pages and a sitemap.
func (f *fields) agreeScope() {
	if f.text("max_pages")+f.text("sitemap") != "" {
		f.set("scope", "site")
	}
}

// agreePeriod: to goes with a day in from, steps of minutes with a short period, and two days to compare with steps that are
// not too short.
func (f *fields) agreePeriod() {
	by := f.text("by")
	if by == "minute" || by == "time" && f.text("interval") == "minute" {
		f.set("from", "today")
	}
	if from := f.text("from"); from != "" && len(from) != len("2026-11-14") {
		f.drop("to")
	}
	if (by == "time" || by == "hour" || by == "minute") && strings.Contains(f.text("compare"), "..") {
		f.set("compare", "previous_period")
	}
}

// agreeRows: interval goes with by=time, limit and per_page are one, compared rows are few, and rows are sorted by what they have.
func (f *fields) agreeRows() {
	by := f.text("by")
	if by != "time" && by != f.text("interval") {
		f.drop("interval")
	}
	if f.text("compare") != "" {
		f.drop("limit")
	}
	if f.index("limit") >= 0 || f.text("compare") != "" {
		f.drop("per_page")
	}
	order, _, _ := strings.Cut(f.text("sort"), ":")
	metrics := cmp.Or(f.text("metrics"), "visitors,pageviews")
	known := strings.FieldsFunc(metrics, func(r rune) bool { return r == ',' || r == ' ' })
	if !slices.Contains(append(known, "", "asc", "desc", by), order) {
		f.drop("sort")
	}
}
