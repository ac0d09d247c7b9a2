package doctest

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// A word is a value with rules that its schema cannot express: how to make one that keeps them, and values that break them.
type word struct {
	make   func(g *Generator) string
	bad    []string
	always bool // never null: that would mean more than that it is not sent
}

// words are found by the format of a schema, else by the name of the field.
var words = map[string]word{
	"url":     {make: (*Generator).address, bad: badAddresses},
	"sitemap": {make: (*Generator).address, bad: badAddresses},
	"domain":  {make: (*Generator).host, always: true, bad: []string{"no-dots", "a..example", "user@example.com"}},
	"project": {make: func(g *Generator) string {
		return pick(g, []string{g.host(), "Shop no. " + g.unique(), "büro " + g.unique()})
	},
		bad: []string{"123", "  ", "/", ".", "..", "99999999999999999999"}},
	"name":       {make: func(g *Generator) string { return g.unique() + g.text(20) }},
	"password":   {make: fixed("open sesame"), bad: []string{strings.Repeat("ü", 129)}},
	"expires_at": {make: (*Generator).moment, bad: []string{"tomorrow", "2020-01-01T00:00:00Z", "2027-02-30T00:00:00Z", "2027-01-31", "2027-01-31T25:00:00Z", "0"}},
	"scopes":     {make: fixed("seo:read", "seo:read,seo:write", "analytics:read account:write", " seo:read , analytics:write "), bad: []string{"everything", "seo:admin", "seo:read;seo:write", "SEO:READ"}},
	"exclude_params": {make: fixed("", "utm_*", "utm_source\r\nfbclid", "a,b;c d", "&"),
		bad: []string{strings.Repeat("a ", 101), strings.Repeat("x", 101)}},
	"exclude_ips": {make: fixed("", "192.0.2.1", "10.0.0.*", "2001:db8::/32\n::1", "10.*; 192.0.2.0/24"),
		bad: []string{"10.0.0.300", "192.0.2.0/33", "localhost", "*", "10.*.1.1", "::1%eth0", strings.Repeat("10.0.0.1 ", 501)}},

	"wait": {make: fixed("0", "1"), bad: []string{"31", "-1", "0.5", "1s"}},
	"run":  {make: func(g *Generator) string { return pick(g, g.report().Runs) }, bad: []string{"0", "1.5", "2147483648", "newest"}},
	"check": {make: func(g *Generator) string {
		return pick(g, []string{"title.missing", "http.4xx", "no.such.check", g.text(20)})
	}},
	"audited-page": {make: func(g *Generator) string {
		return pick(g, []string{"https://" + g.report().Host + "/", "https://" + g.report().Host + "/lost", g.address(), g.text(20)})
	}},
	"project-ref": {make: func(g *Generator) string {
		return pick(g, []string{g.report().Host, "WWW." + g.report().Host, g.host(), "büro " + g.unique(), "1", "9223372036854775807"})
	}, bad: []string{"0", "  ", "/", ".", "..", "9223372036854775808"}},

	"from": {make: func(g *Generator) string {
		return pick(g, []string{"today", "1d", "7d", "30d", "366d", "1mo", "12mo", g.day(2026, 11)})
	}, bad: []string{"yesterday", "0d", "07d", "10000d", "9999mo", "7w", "-7d", "2026-02-30", "2026-13-01", "1969-12-31", "2200-01-01", "2026-1-1", "2026-11-01T00:00:00Z"}},
	"to": {make: fixed("2026-11-14", "2026-11-30", "2026-12-24"), bad: []string{"today", "7d", "2026-02-30", "1969-12-31", "2200-01-01", "20261114", "14.11.2026"}},
	"compare": {make: func(g *Generator) string {
		return pick(g, []string{"previous_period", "previous_year", g.day(2024, 7) + ".." + g.day(2025, 13)})
	}, bad: []string{"previous", "2026-01-01", "2026-01-31..2026-01-01", "..", "2026-02-30..2026-03-01", "1960-01-01..1960-01-02", "2026-01-01...2026-01-02"}},
	"timezone": {make: fixed("UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Etc/GMT+12"),
		bad: []string{"Local", "Mars/Olympus", "Europe/", "/UTC", "../UTC", "UTC+1", "Europe/Berlin/", "+02:00"}},
	"metrics": {make: (*Generator).metrics, bad: []string{",", " , ", "visitors,visitors", "visitors,nonsense"}},
	"filter":  {make: func(g *Generator) string { return g.matching(filterPattern) }, bad: []string{"country", "country:is", "prop::is:x", "color:is:x", "time:is:today", "country:equals:DE", "page:is:" + strings.Repeat("x", 2049), "page:is:" + strings.Repeat("|", 100), "prop:" + strings.Repeat("x", 301) + ":is:y"}},
	"sort": {make: func(g *Generator) string {
		return pick(g, []string{"asc", "desc", pick(g, metricNames), pick(g, metricNames) + ":asc", "visitors:desc"})
	}, bad: []string{"up", "visitors:up", "visitors:", ":desc", "asc:desc", "visitors,pageviews"}},

	"at":          {make: (*Generator).past, bad: []string{"yesterday", "2027-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2026-02-30T00:00:00Z", "2026-11-14", "0", "1763112600"}},
	"ip":          {make: fixed("", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"), bad: []string{"10.0.0.300", "localhost", "192.0.2.0/24", "1"}},
	"tracking-id": {make: func(g *Generator) string { return pick(g, []string{g.website().TrackingID, g.unique()}) }},
	"page-url": {make: func(g *Generator) string {
		return "https://" + pick(g, []string{g.website().Host, g.host()}) + pick(g, pages)
	}},
	"domains": {make: func(g *Generator) string {
		return pick(g, []string{g.website().Host, g.host() + ", " + g.website().Host})
	}, bad: []string{"", ",", " , ", strings.Repeat("a.example,", 21)}},
	"number-text": {make: fixed("0", "49.9", "-1", "1e3", " 7 ", "+.5"), bad: []string{"1e999", "-1e999"}},
	"props-text":  {make: fixed("", "{}", "null", `{"plan": "pro"}`, ` {"n": 1, "paid": true, "x": null}`), bad: []string{`{"a"}`, "{} {}", `{"` + strings.Repeat("x", 301) + `": 1}`}},
}

var badAddresses = []string{"ftp://example.com", "https://", "https://user@example.com", "https://a b.example", "no-dots", "https://example.com:99999",
	"https://exa%mple.com", "https://a..example", "javascript:alert(1)", "https://" + strings.Repeat("a", 64) + ".example"}

// filterPattern makes filters that are easy to pass.
const filterPattern = `(page|entry_page|exit_page|source|country|city|device|event|prop:[a-z]{1,9}):(is|is_not|contains|matches):[a-zA-Z/|*:.ü ]{0,9}`

var (
	metricNames = []string{"visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events", "event_value", "scroll_depth"}
	pages       = []string{"", "/", "/a?b=%zz&utm_source=x#c", "/ü;x=<>'", "/?" + strings.Repeat("x", 1500)}
)

// wordOf finds the word that describes a field.
func wordOf(name string, schema *openapi3.Schema) (word, bool) {
	if len(schema.Enum) > 0 || !schema.Type.Permits("string") && !schema.Type.Is("array") && !schema.Type.Is("integer") {
		return word{}, false
	}
	found, known := words[schema.Format]
	if !known {
		found, known = words[name]
	}
	return found, known
}

func fixed(texts ...string) func(*Generator) string {
	return func(g *Generator) string { return pick(g, texts) }
}

// unique is text that no other value has.
func (g *Generator) unique() string {
	g.serial++
	return fmt.Sprintf("%08x-%d", g.random.Uint32(), g.serial)
}

// website is one that is there.
func (g *Generator) website() Record { return g.stage.Record("") }

// report is a report of an audit that is there.
func (g *Generator) report() Record { return g.stage.Record("/reports/") }

func (g *Generator) host() string {
	return pick(g, []string{"", "www.", "shop."}) + g.unique() + pick(g, []string{".example", ".example.com:8080", ".münchen.example"})
}

func (g *Generator) address() string {
	return pick(g, []string{"https://", "http://", "HTTPS://", "", " https://"}) + g.host() + pick(g, []string{"", "/", "/a?b=%zz#c", "/ü;x=<>'"})
}

// moment is a time in the future.
func (g *Generator) moment() string {
	return fmt.Sprint(2027+g.random.IntN(70)) + pick(g, []string{"-01-31T00:00:00Z", "-06-15T12:30:00+02:00", "-02-28T23:59:59.999Z"})
}

// past is a time in the past.
func (g *Generator) past() string {
	return pick(g, []string{g.day(1971+g.random.IntN(56), 11), "2026-11-13"}) + pick(g, []string{"T00:00:00Z", "T12:30:00+02:00", "T23:59:59.999Z", "T08:15:00.123456789-11:30"})
}

// day is a day of a year before a month.
func (g *Generator) day(year, month int) string {
	return fmt.Sprintf("%d-%02d-%02d", year, 1+g.random.IntN(month-1), 1+g.random.IntN(28))
}

// metrics is some of them, each once.
func (g *Generator) metrics() string {
	order := g.random.Perm(len(metricNames))[:1+g.random.IntN(4)]
	names := make([]string, len(order))
	for i, n := range order {
		names[i] = metricNames[n]
	}
	return strings.Join(names, pick(g, []string{",", " ", ", "}))
}
