package audit_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/audit"
	"sightline/internal/check/checktest"
	"sightline/internal/crawl"
	"sightline/internal/seo"
)

var fast = crawl.Manners{PerSecond: -1, ChecksPerSecond: -1, MaxPause: time.Millisecond}

// report is a report of an address.
func report(t testing.TB, url string, scope seo.Scope) seo.Report {
	t.Helper()
	r := seo.NewReport(1, time.Now())
	if err := r.SetURL(url); err != nil {
		t.Fatal(err)
	}
	r.SetScope(scope)
	return r
}

// run audits into a scratch.
func run(t testing.TB, s *stage, manners crawl.Manners, task audit.Task) (audit.Result, *audit.Scratch) {
	t.Helper()
	scratch := audit.NewScratch()
	t.Cleanup(func() { scratch.Close() })
	task.Store = scratch
	result, err := audit.New(crawl.New(s, manners), time.Now).Run(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return result, scratch
}

// found lists the pages of each check.
func found(s *audit.Scratch) map[string][]string {
	pages := map[string][]string{}
	for f := range s.Findings() {
		pages[f.Check] = append(pages[f.Check], f.Page)
	}
	return pages
}

// TestPlanted audits the planted sites for real and demands what was planted, exactly.
func TestPlanted(t *testing.T) {
	for _, site := range checktest.Sites() {
		s := newStage(t, site, site.Hosts()...)
		result, scratch := run(t, s, fast, audit.Task{Report: report(t, site.Start, seo.ScopeSite)})
		if diff := cmp.Diff(site.Plants, found(scratch)); diff != "" {
			t.Errorf("%s: planted (-), found (+):\n%s", site.Start, diff)
		}
		plants := 0
		for _, pages := range site.Plants {
			plants += len(pages)
		}
		if n := result.Issues.Errors + result.Issues.Warnings + result.Issues.Notices; n != plants {
			t.Errorf("%s: %d issues are counted, want %d", site.Start, n, plants)
		}
		closed := strings.Contains(site.Start, "closed")
		if result.Complete != true || result.StoppedBy != "" || (result.Score == nil) != closed || (result.State == seo.Failed) != closed {
			t.Errorf("%s: %+v", site.Start, result)
		}
	}
}

// pages serves HTML by path; what begins with > redirects.
type pages map[string]string

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, known := p[r.Host+r.URL.Path]
	if !known {
		text, known = p[r.URL.Path]
	}
	switch {
	case !known:
		http.NotFound(w, r)
	case strings.HasPrefix(text, ">"):
		w.Header().Set("Location", text[1:])
		w.WriteHeader(http.StatusMovedPermanently)
	case strings.HasSuffix(r.URL.Path, ".pdf"):
		w.Header().Set("Content-Type", "application/pdf")
		w.Write([]byte(text))
	default:
		w.Write([]byte(text))
	}
}

func good(url string, links ...string) string {
	doc := checktest.Good(url)
	doc.Links = links
	return doc.HTML()
}

// TestPage demands that an audit of one page asks whether its links and images are there, and for no other page's content.
func TestPage(t *testing.T) {
	home := strings.Replace(good("https://one.example/", "/there", "/lost", "https://two.example/gone"), "</body>", `<img src="/x.png" alt="x"></body>`, 1)
	s := newStage(t, pages{"one.example/": home, "/there": good("https://one.example/there", "/deeper")}, "one.example", "two.example")
	result, scratch := run(t, s, fast, audit.Task{Report: report(t, "https://one.example/", seo.ScopePage)})
	at := []string{"https://one.example/"}
	want := map[string][]string{"link.broken_internal": at, "link.broken_external": at, "img.broken": at, "site.no_https_redirect": at}
	if diff := cmp.Diff(want, found(scratch)); diff != "" {
		t.Error(diff)
	}
	if result.State != seo.Done || result.Pages != 1 || result.Rated != 1 || result.StoppedBy != "" || result.Complete {
		t.Errorf("%+v", result)
	}
	for _, c := range result.Results {
		if _, failed := want[c.Check]; failed == c.Passed || c.Passed != (c.Value == "") {
			t.Errorf("%+v", c)
		}
	}
	if slices.ContainsFunc(s.visits(), func(v visit) bool { return strings.HasSuffix(v.url, "/deeper") }) {
		t.Error("it followed a link of another page")
	}
}

// TestFailures demands a sentence for whatever leaves nothing to rate.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name, url string
		pages     pages
		want      string
	}{
		{"no such host", "https://nowhere.example/", nil, "https://nowhere.example/ cannot be opened: the host's name could not be looked up"},
		{"disallowed", "https://one.example/a", pages{"/robots.txt": "User-agent: *\nDisallow: /a"}, "The robots.txt of the site keeps crawlers away from https://one.example/a"},
		{"not HTML", "https://one.example/a.pdf", pages{"/a.pdf": "%PDF"}, "https://one.example/a.pdf is not an HTML page but application/pdf."},
		{"circle", "https://one.example/a", pages{"/a": ">/b", "/b": ">/a"}, "https://one.example/a cannot be opened: the redirects lead in a circle."},
		{"noindex", "https://one.example/", pages{"/": `<!doctype html><meta name="robots" content="noindex">`}, "https://one.example/ asks search engines to leave it out (noindex)"},
		{"not in the form of a crawl", "https://one.example/" + strings.Repeat("é", 500), nil, "The address cannot be audited: "},
	} {
		for _, scope := range []seo.Scope{seo.ScopePage, seo.ScopeSite} {
			s := newStage(t, test.pages, "one.example")
			result, _ := run(t, s, fast, audit.Task{Report: report(t, test.url, scope)})
			if slices.ContainsFunc(result.Results, func(c seo.CheckResult) bool { return c.Points != 0 }) {
				t.Errorf("%s: something is to be gained without a score: %v", test.want, result.Results)
			}
			if result.State != seo.Failed || result.Score != nil || !strings.HasPrefix(result.Failure, test.want) || !strings.HasSuffix(result.Failure, ".") {
				t.Errorf("%s, %s: %s %q", test.name, scope, result.State, result.Failure)
			}
		}
	}
}

// TestMoved demands that a start on another site is audited there, and its redirect is told.
func TestMoved(t *testing.T) {
	s := newStage(t, pages{"old.example/": ">https://new.example/home", "new.example/home": good("https://new.example/home", "/more"),
		"new.example/more": good("https://new.example/more", "/home")}, "old.example", "new.example")
	result, scratch := run(t, s, fast, audit.Task{Report: report(t, "https://old.example/", seo.ScopeSite)})
	if result.Start != "https://new.example/home" || result.State != seo.Done || result.Pages != 2 {
		t.Errorf("%+v", result)
	}
	if got := found(scratch)["http.redirect"]; !slices.Equal(got, []string{"https://old.example/"}) {
		t.Error(got)
	}
}

// TestIgnoreRobots demands that an owner can have a closed site audited, and no site that it moved to.
func TestIgnoreRobots(t *testing.T) {
	closed := "User-agent: *\nDisallow: /"
	for _, test := range []struct {
		name  string
		pages pages
		state seo.State
	}{
		{"its own", pages{"/robots.txt": closed, "/": good("https://one.example/", "/more"), "/more": good("https://one.example/more", "/")}, seo.Done},
		{"another", pages{"one.example/": ">https://two.example/", "two.example/robots.txt": closed, "two.example/": good("https://two.example/")}, seo.Failed},
	} {
		r := report(t, "https://one.example/", seo.ScopeSite)
		r.IgnoreRobots = true
		result, _ := run(t, newStage(t, test.pages, "one.example", "two.example"), fast, audit.Task{Report: r})
		if result.State != test.state || test.state == seo.Done && (result.Pages != 2 || result.Rated != 2) {
			t.Errorf("%s: %+v", test.name, result)
		}
	}
}

// TestLimits demands that a report says what ended it.
func TestLimits(t *testing.T) {
	site := pages{}
	for i := range 20 {
		site[fmt.Sprintf("/%d", i)] = good(fmt.Sprintf("https://one.example/%d", i), fmt.Sprintf("/%d", i+1))
	}
	for _, test := range []struct {
		pages, depth int
		by           string
		audited      int
	}{{5, 0, "pages", 5}, {500, 3, "depth", 4}, {500, 0, "", 21}} {
		r := report(t, "https://one.example/0", seo.ScopeSite)
		r.MaxPages, r.MaxDepth = test.pages, test.depth
		result, _ := run(t, newStage(t, site, "one.example"), fast, audit.Task{Report: r})
		if result.StoppedBy != test.by || result.Pages != test.audited || result.Complete != (test.by == "") {
			t.Errorf("%+v: stopped by %q after %d", test, result.StoppedBy, result.Pages)
		}
	}
}

// TestSitemap demands that the pages of a sitemap that the report names are audited.
func TestSitemap(t *testing.T) {
	s := newStage(t, pages{"/": good("https://one.example/"), "/extra.txt": "https://one.example/hidden\nhttps://one.example/lost\n",
		"/hidden": good("https://one.example/hidden")}, "one.example")
	r := report(t, "https://one.example/", seo.ScopeSite)
	if err := r.SetSitemap("https://one.example/extra.txt"); err != nil {
		t.Fatal(err)
	}
	_, scratch := run(t, s, fast, audit.Task{Report: r})
	got := found(scratch)
	if !slices.Equal(got["page.orphan"], []string{"https://one.example/hidden"}) || !slices.Equal(got["sitemap.bad_status"], []string{"https://one.example/lost"}) {
		t.Error(got)
	}
}

// TestStop demands that an audit that is stopped ends with what it has.
func TestStop(t *testing.T) {
	site := pages{}
	for i := range 100 {
		site[fmt.Sprintf("/%d", i)] = good(fmt.Sprintf("https://one.example/%d", i), fmt.Sprintf("/%d", i+1))
	}
	stop := make(chan struct{})
	stopped := false
	progress := func(p seo.Progress) {
		if p.Done >= 3 && !stopped {
			stopped = true
			close(stop)
		}
	}
	result, _ := run(t, newStage(t, site, "one.example"), fast,
		audit.Task{Report: report(t, "https://one.example/0", seo.ScopeSite), Stop: stop, Progress: progress})
	if result.State != seo.Stopped || result.Score == nil || result.Pages < 3 || result.Pages > 20 || result.StoppedBy != "canceled" {
		t.Errorf("%+v", result)
	}
}

// TestPolite looks into the server's log: one name, robots.txt first, no faster than allowed, and two connections at once.
func TestPolite(t *testing.T) {
	site := checktest.Sites()[1]
	var now, most atomic.Int32
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(5 * time.Millisecond)
		site.ServeHTTP(w, r)
	})
	s := newStage(t, counted, site.Hosts()...)
	begin := time.Now()
	run(t, s, crawl.Manners{PerSecond: 50}, audit.Task{Report: report(t, site.Start, seo.ScopeSite)})
	visits := s.visits()
	if len(visits) < 5 || visits[0].url != "https://bare.example/robots.txt" {
		t.Fatalf("%v", visits)
	}
	for _, v := range visits {
		if v.agent != crawl.Agent {
			t.Errorf("%s was asked for by %q", v.url, v.agent)
		}
	}
	if took, least := visits[len(visits)-1].at.Sub(begin), time.Duration(len(visits)-1)*time.Second/50; took < least {
		t.Errorf("%d requests within %v, want %v or more", len(visits), took, least)
	}
	if most.Load() > 2 {
		t.Errorf("%d requests at once", most.Load())
	}
}
