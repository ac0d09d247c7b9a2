package check_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sightline/internal/check"
	"sightline/internal/check/checktest"
	"sightline/internal/seo"
)

// TestScore works out small sites by hand. On a good first page the checks of a page are worth 119 points and those of the host 50;
// that there is no sitemap costs 5 of them. On another good page those of a page are worth 124: a link leads there.
func TestScore(t *testing.T) {
	type points = map[string]float64
	passes := func(passed, of int) float64 { return 100 * float64(passed) / float64(of) }
	tests := []struct {
		name  string
		site  scene
		want  *int
		pages int
		gains points
	}{
		{"a good page", home(nil), ptr(97), 1, points{"sitemap.missing": passes(169, 169) - passes(164, 169)}}, // 164 of 169
		{"a page without title, to which its length does not apply", home(func(d *doc) { d.Title = "" }), ptr(91), 1, // 149 of 164
			points{"title.missing": passes(159, 164) - passes(149, 164), "sitemap.missing": passes(154, 164) - passes(149, 164)}},
		{"two pages of the same title", page(good("/x", func(d *doc) { d.Title = checktest.Good(root + "/").Title })), ptr(93), 2, // 174 of 189 (link check: 10) is 92; 124 of 134 is 93
			points{"title.duplicate": (passes(174, 179) - passes(174, 189) + passes(124, 124) - passes(124, 134)) / 2, "sitemap.missing": (passes(179, 189) - passes(174, 189)) / 2}},
		{"a missing page", page(gone), ptr(46), 2, // 164 of 179 is 92, and 0
			points{"http.4xx": 100. / 2, "link.broken_internal": (passes(174, 179) - passes(164, 179)) / 2, "sitemap.missing": (passes(169, 179) - passes(164, 179)) / 2}},
		{"nothing to rate: noindex", home(robots("noindex")), nil, 0, points{"index.noindex": 0, "sitemap.missing": 0}},
		{"nothing to rate: disallowed", home(nil, "/robots.txt", answer{Status: 500}), nil, 0, points{"robots.unreachable": 0}},
	}
	for _, test := range tests {
		_, _, got := run(t, test.site.site.Crawl())
		if !gocmp.Equal(got.Value, test.want) || got.Pages != test.pages || !got.Complete {
			t.Errorf("%s: %s of %d pages, want %s of %d", test.name, show(got.Value), got.Pages, show(test.want), test.pages)
		}
		gains := points{}
		for _, c := range got.Checks {
			if c.Failed > 0 {
				gains[c.Check] = c.Points
			}
		}
		if diff := gocmp.Diff(test.gains, gains, gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
			t.Errorf("%s: points that fixes return (-want +got):\n%s", test.name, diff)
		}
	}
}

func ptr(n int) *int { return &n }

func show(n *int) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

// TestStart demands that checks of the host count where the redirect of the start leads.
func TestStart(t *testing.T) {
	s := home(nil, "/", to(301, "/en"), "/en", good("/en", nil))
	findings, scores, _ := run(t, s.site.Crawl())
	for _, f := range findings {
		if f.Check == "sitemap.missing" && f.Page != root+"/en" {
			t.Errorf("counted on %s", f.Page)
		}
	}
	if scores[root+"/en"].Applicable != 169 || scores[root+"/"].Counted {
		t.Errorf("%+v", scores)
	}
}

// drawPage draws the facts of a page out of few possibilities, so that pages meet.
func drawPage(t *rapid.T, url string, urls []string) *seo.Page {
	some := func(label string) string { return rapid.SampledFrom(urls).Draw(t, label) }
	p := &seo.Page{URL: url, FetchedAt: checktest.Now, FirstByte: time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond,
		Status: rapid.SampledFrom([]int{200, 200, 200, 404, 500, 302}).Draw(t, "status"), IsHTML: rapid.Bool().Draw(t, "html")}
	if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
		p.Failure = rapid.SampledFrom([]seo.Failure{seo.FailedRobots, seo.FailedTimeout, seo.FailedLoop}).Draw(t, "failure")
	}
	if rapid.IntRange(0, 3).Draw(t, "redirects") == 0 {
		p.End = some("end")
		p.Hops = []seo.Hop{{URL: url, Status: 301, Location: p.End}}
	}
	if rapid.Bool().Draw(t, "listed") {
		p.Listed = root + "/sitemap.xml"
	}
	for range rapid.IntRange(0, 2).Draw(t, "titles") {
		text := rapid.SampledFrom([]string{"", "a title that is long enough", "short"}).Draw(t, "title")
		p.Titles = append(p.Titles, seo.Element{Text: text, Length: len(text), Raw: "<title>" + text + "</title>"})
	}
	for range rapid.IntRange(0, 3).Draw(t, "links") {
		p.Links = append(p.Links, seo.Link{URL: some("link"), Internal: rapid.Bool().Draw(t, "internal"), Raw: "<a>"})
	}
	for range rapid.IntRange(0, 2).Draw(t, "canonicals") {
		p.Canonicals = append(p.Canonicals, seo.Canonical{URL: some("canonical"), Raw: "<link>"})
	}
	if rapid.IntRange(0, 4).Draw(t, "robots") == 0 {
		p.Robots = []seo.RobotsRule{{Name: "noindex", Raw: "<meta>"}}
	}
	p.Words, p.TextHash = rapid.IntRange(0, 400).Draw(t, "words"), rapid.Uint64Range(0, 2).Draw(t, "hash")
	return p
}

// TestScoreProperties demands of any crawl: scores of 0 to 100, no finding whose fix costs points, the mean of the pages that count,
// and the same of everything in any order of the pages.
func TestScoreProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var urls []string
		for i := range rapid.IntRange(1, 8).Draw(r, "pages") {
			urls = append(urls, fmt.Sprintf("%s/%d", root, i))
		}
		crawl := &checktest.Crawl{About: seo.Site{Start: urls[0], Complete: rapid.Bool().Draw(r, "complete")}}
		for _, url := range urls {
			crawl.All = append(crawl.All, drawPage(r, url, urls))
		}
		findings, scores, total := run(t, crawl)
		sum, counted := 0, 0
		for url, s := range scores {
			if s.Value < 0 || s.Value > 100 || s.Passed > s.Applicable {
				r.Errorf("%s: %+v", url, s)
			}
			if s.Counted {
				sum, counted = sum+s.Value, counted+1
			}
		}
		if counted != total.Pages || counted > 0 && math.Abs(float64(sum)/float64(counted)-float64(*total.Value)) > 0.5 {
			r.Errorf("%d pages of %d points: %+v", counted, sum, total)
		}
		for _, c := range total.Checks {
			if c.Points < 0 || c.Failed > c.Pages || c.Failed == 0 && c.Points != 0 {
				r.Errorf("%+v", c)
			}
		}
		crawl.All = rapid.Permutation(crawl.All).Draw(r, "order")
		again, scoresAgain, totalAgain := run(t, crawl)
		near := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if diff := gocmp.Diff([]any{sorted(findings), scores, total}, []any{sorted(again), scoresAgain, totalAgain}, near); diff != "" {
			r.Errorf("another order of the pages gives another result:\n%s", diff)
		}
	})
}

func sorted(findings []seo.Finding) []seo.Finding {
	slices.SortFunc(findings, func(a, b seo.Finding) int { return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Check, b.Check)) })
	return findings
}

// failing is a crawl that breaks off.
type failing struct{ checktest.Crawl }

var errStore = errors.New("disk on fire")

func (f *failing) Pages(context.Context) iter.Seq2[*seo.Page, error] {
	return func(yield func(*seo.Page, error) bool) { yield(nil, errStore) }
}

func TestFinishFails(t *testing.T) {
	nothing := func(*seo.Page, []seo.Finding, seo.PageScore) error { return nil }
	if _, err := check.Finish(t.Context(), &failing{}, nothing); !errors.Is(err, errStore) {
		t.Errorf("a store that fails: %v", err)
	}
	crawl := home(nil).site.Crawl()
	if _, err := check.Finish(t.Context(), crawl, func(*seo.Page, []seo.Finding, seo.PageScore) error { return errStore }); !errors.Is(err, errStore) {
		t.Errorf("a caller that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.Finish(ctx, crawl, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
	crawl.About.Start = root + "/other"
	if _, err := check.Finish(t.Context(), crawl, nothing); err == nil {
		t.Error("a crawl without its first page was accepted")
	}
}

// TestMemory demands that the checks hold less than 1 KB for a page of a large site.
func TestMemory(t *testing.T) {
	const pages = 3000
	crawl := &packed{about: seo.Site{Start: address(0), Complete: true}}
	for i := range pages {
		p := &seo.Page{URL: address(i), Status: 200, IsHTML: true, Words: 300, TextHash: uint64(i), Listed: root + "/sitemap.xml"}
		text := fmt.Sprintf("Everything about number %d", i)
		p.Titles = []seo.Element{{Text: text, Length: len(text), Raw: text}}
		p.Descriptions = p.Titles
		for n := range 40 {
			p.Links = append(p.Links, seo.Link{URL: address((i*7 + n) % pages), Internal: true})
		}
		page, err := p.Pack()
		if err != nil {
			t.Fatal(err)
		}
		crawl.pages = append(crawl.pages, page)
	}
	before, last, seen := heap(), uint64(0), 0
	_, err := check.Finish(t.Context(), crawl, func(*seo.Page, []seo.Finding, seo.PageScore) error {
		if seen++; seen == pages {
			last = heap()
		}
		return nil
	})
	if err != nil || seen != pages {
		t.Fatal(seen, err)
	}
	each := (int64(last) - int64(before)) / pages
	t.Logf("%d bytes for each page", each)
	if each > 1000 {
		t.Error("that is too much")
	}
}

func address(i int) string { return fmt.Sprintf("%s/section/page-%d.html", root, i) }

// heap is the memory in use. What is only pooled is gone after the second collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
