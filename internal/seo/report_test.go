package seo

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sightline/internal/access"
	"sightline/internal/fault"
)

var reported = time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)

func siteReport(change func(*Report)) Report {
	r := NewReport(1, reported)
	r.URL, r.Project = "https://example.com", "example.com"
	r.SetScope(ScopeSite)
	change(&r)
	return r
}

func TestReportRules(t *testing.T) {
	for name, test := range map[string]struct {
		report Report
		bad    []string
	}{
		"a site":                      {siteReport(func(r *Report) {}), nil},
		"a page":                      {siteReport(func(r *Report) { r.SetScope(ScopePage) }), nil},
		"the largest":                 {siteReport(func(r *Report) { r.MaxPages, r.MaxDepth = MaxPages, MaxDepth }), nil},
		"no URL":                      {NewReport(1, reported), []string{"url"}},
		"too large":                   {siteReport(func(r *Report) { r.MaxPages, r.MaxDepth = MaxPages+1, MaxDepth+1 }), []string{"max_depth", "max_pages"}},
		"too small":                   {siteReport(func(r *Report) { r.MaxPages, r.MaxDepth = 0, -1 }), []string{"max_depth", "max_pages"}},
		"an unknown scope":            {siteReport(func(r *Report) { r.Scope = "all" }), []string{"scope"}},
		"two pages in page scope":     {siteReport(func(r *Report) { r.SetScope(ScopePage); r.MaxPages = 2 }), []string{"max_pages"}},
		"a sitemap in page scope":     {siteReport(func(r *Report) { r.SetScope(ScopePage); r.Sitemap = "https://a.example" }), []string{"sitemap"}},
		"no password":                 {siteReport(func(r *Report) { r.Privacy = access.Password }), []string{"password"}},
		"a password":                  {siteReport(func(r *Report) { r.Privacy, r.PasswordHash = access.Password, "hash" }), nil},
		"a privacy that is not there": {siteReport(func(r *Report) { r.Privacy = 3 }), []string{"privacy"}},
	} {
		var bad fault.Invalid
		errors.As(test.report.Check(), &bad)
		if got := bad.Fields(); !reflect.DeepEqual(got, test.bad) {
			t.Errorf("%s: the bad fields are %v, want %v", name, got, test.bad)
		}
	}
}

func TestReportAddresses(t *testing.T) {
	for text, want := range map[string][2]string{ // URL and project; none: refused
		"https://WWW.Example.com/A?b":          {"https://www.example.com/A?b", "example.com"},
		"example.com":                          {"https://example.com", "example.com"},
		"http://localhost:9000/x":              {"http://localhost:9000/x", "localhost:9000"},
		"https://bücher.example":               {"https://xn--bcher-kva.example", "xn--bcher-kva.example"},
		"ftp://example.com":                    {},
		"https://user@example.com":             {},
		"":                                     {},
		"https://" + strings.Repeat("a", 3000): {},
	} {
		var r Report
		err := r.SetURL(text)
		if got := [2]string{r.URL, r.Project}; got != want || (err == nil) != (want[0] != "") {
			t.Errorf("%q becomes %v, %v", text, got, err)
		}
	}
	var r Report
	if err := r.SetSitemap("https://example.com/sitemap.xml"); err != nil || r.Sitemap != "https://example.com/sitemap.xml" {
		t.Errorf("the sitemap is %q, %v", r.Sitemap, err)
	}
	if r.SetSitemap("nonsense") == nil {
		t.Error("nonsense is a sitemap")
	}
}

func TestReportRuns(t *testing.T) {
	later := reported.Add(time.Hour)
	for from, want := range map[State]struct{ again, stopped State }{
		Queued:  {Queued, Stopped},
		Running: {Running, Running},
		Done:    {Queued, Done},
		Failed:  {Queued, Failed},
		Stopped: {Queued, Stopped},
	} {
		again := Report{State: from, Run: 3, QueuedAt: reported, Stopping: from == Running, Progress: Progress{Done: 7}}
		stopped := again
		again.Again(later)
		stopped.Stop()
		if again.State != want.again || stopped.State != want.stopped {
			t.Errorf("%s becomes %s when asked again and %s when stopped", from, again.State, stopped.State)
		}
		isNew := from.Ended()
		if (again.Run == 4) != isNew || again.QueuedAt.Equal(later) != isNew || (again.Progress == Progress{}) != isNew {
			t.Errorf("asked again, %s becomes %+v", from, again)
		}
		if stopped.Stopping != (from == Running) {
			t.Errorf("stopped, %s becomes %+v", from, stopped)
		}
	}
}

func TestReportEdit(t *testing.T) {
	r := siteReport(func(*Report) {})
	before := r
	if err := r.Edit(reported.Add(time.Minute), func(r *Report) error { r.Privacy = access.Password; return nil }); err == nil || !reflect.DeepEqual(r, before) {
		t.Errorf("a change against the rules: %v, %+v", err, r)
	}
	if err := r.Edit(reported.Add(time.Minute), func(*Report) error { return nil }); err != nil || !reflect.DeepEqual(r, before) {
		t.Errorf("no change: %v, %+v", err, r)
	}
	if err := r.Edit(reported.Add(time.Minute), func(r *Report) error { r.Privacy = access.Public; return nil }); err != nil || r.Version != 2 || !r.UpdatedAt.Equal(reported.Add(time.Minute)) {
		t.Errorf("a change: %v, %+v", err, r)
	}
}

func TestFilterScores(t *testing.T) {
	for score := range 101 {
		result := Result(&score)
		for _, name := range []string{"good", "decent", "bad"} {
			lowest, highest := ReportFilter{Result: name}.Scores()
			if (score >= lowest && score <= highest) != (name == result) {
				t.Errorf("%d is %s, but %s is from %d to %d", score, result, name, lowest, highest)
			}
		}
	}
}

func TestDistinct(t *testing.T) {
	page := func(url string, depth int, unlinked bool) Item {
		return Item{URL: url, Kind: KindPage, Depth: depth, Unlinked: unlinked}
	}
	s := Step{Found: []Item{page("a", 3, true), page("b", 1, false), page("a", 9, false), {URL: "a", Kind: KindImage, Depth: 5}, page("a", 2, false),
		page("a", 2, true), {URL: "a", Kind: KindImage, Depth: 1}}}
	want := []Item{page("a", 2, false), page("b", 1, false), {URL: "a", Kind: KindImage, Depth: 5}}
	if got := s.Distinct(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPageClass(t *testing.T) {
	for want, p := range map[PageClass]*Page{
		PageOK:         {Status: 200},
		PageRedirect:   {Status: 404, Hops: []Hop{{Status: 301}}},
		PageBroken:     {Status: 500},
		PageDisallowed: {Failure: FailedRobots},
	} {
		if got := p.Class(); got != want {
			t.Errorf("%+v is %s, want %s", p, got, want)
		}
	}
}
