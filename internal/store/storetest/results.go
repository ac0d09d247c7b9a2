package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
)

var resultContracts = []contract{
	{"addresses wait in their order", resultItems},
	{"a step counts each address once", resultTotals},
	{"facts come back as they were saved", resultFacts},
	{"a large step is saved", resultLargeStep},
	{"saving while reading does no harm", resultSavedWhileRead},
	{"pages are listed, searched, filtered and sorted", resultPages},
	{"findings are filtered, ordered and paged", resultFindings},
	{"a page that is saved again replaces what was known", resultReplaced},
	{"runs are compared", resultCompare},
}

// facts are a page with little on it.
func facts(url string, status int) *seo.Page {
	return &seo.Page{URL: url, Status: status, IsHTML: true, MediaType: "text/html", FetchedAt: at(0), FirstByte: time.Millisecond,
		Titles: []seo.Element{{Text: awkward, Length: 7, Raw: "<title>" + awkward}}, Links: []seo.Link{{URL: url + "?next", Internal: true}}}
}

// found is a finding on a page.
func found(check string, severity seo.Severity, page string) seo.Finding {
	return seo.Finding{Check: check, Page: page, Severity: severity, Value: awkward, Count: 3, Evidence: []string{"<a>", awkward}, Points: severity.Points()}
}

// crawledSite is a step with so many pages, each with a link to check, and findings of three kinds on some.
func crawledSite(pages int) seo.Step {
	s := seo.Step{Site: &seo.Site{Start: "https://example.com/000", Complete: true, Sitemaps: []seo.Sitemap{{URL: "https://example.com/sitemap.xml", Status: 404}}}}
	for i := range pages {
		url := fmt.Sprintf("https://example.com/%03d", i)
		p := seo.PageFacts{Page: facts(url, 200)}
		if i%3 == 0 {
			p.Findings = append(p.Findings, found("title.length", seo.Warning, url))
		}
		if i%4 == 0 {
			p.Findings = append(p.Findings, found("canonical.missing", seo.Notice, url))
		}
		if i%5 == 0 {
			p.Status = 404
			p.Findings = append(p.Findings, found("http.4xx", seo.Error, url))
		}
		if i%7 == 3 {
			p.Hops, p.End = []seo.Hop{{URL: url, Status: 301, Location: "/"}}, "https://example.com/000"
		}
		s.Pages = append(s.Pages, p)
		s.Found = append(s.Found, seo.Item{URL: url, Kind: seo.KindPage, Depth: i}, seo.Item{URL: url + ".png", Kind: seo.KindImage, Depth: i + 1, From: url})
		s.Done = append(s.Done, seo.ItemKey{URL: url, Kind: seo.KindPage})
		s.Resources = append(s.Resources, seo.Resource{URL: url + ".png", Internal: true, Status: 404, Reason: awkward})
	}
	return s
}

// newJob is a run of a new report that is under way.
func newJob(t *testing.T, c store.Catalog) (owner int64, job seo.Job) {
	t.Helper()
	owner = newAccount(t, c, "ann").ID
	newReport(t, c, owner, "https://example.com", 0)
	return owner, claim(t, c, 1)
}

// pagesRequest asks for all pages of a run.
func pagesRequest() listing.Request {
	return listing.Request{SortBy: seo.SortPagesByURL, Page: 1, PerPage: 1000}
}

// findingsOf are all findings of a run, read as a stream.
func findingsOf(t *testing.T, c store.Catalog, owner int64, ref seo.RunRef) []seo.Finding {
	t.Helper()
	var all []seo.Finding
	ok(t, c.EachFinding(t.Context(), owner, ref, seo.FindingFilter{}, func(f seo.Finding) error { all = append(all, f); return nil }))
	return all
}

func resultItems(t *testing.T, c store.Catalog) {
	_, job := newJob(t, c)
	item := func(name string, kind seo.Kind, depth int, unlinked bool) seo.Item {
		return seo.Item{URL: "https://example.com/" + name, Kind: kind, Depth: depth, Unlinked: unlinked, From: fmt.Sprintf("from %s %d", name, depth)}
	}
	wantWaiting := func(pages bool, most int, want ...seo.Item) {
		t.Helper()
		same(t, "what waits", want, must(c.WaitingItems(t.Context(), job.Lease, pages, most))(t))
	}
	a, b, d := item("a", seo.KindPage, 2, false), item("b", seo.KindPage, 1, false), item("d", seo.KindPage, 0, true)
	image, asset := item("a", seo.KindImage, 5, false), item("x", seo.KindAsset, 1, true)
	wantWaiting(true, 10)
	save := func(s seo.Step) { t.Helper(); must(c.SaveAudit(t.Context(), job.Lease, s))(t) }
	save(seo.Step{Found: []seo.Item{d, a, image, b, asset, a}})
	wantWaiting(true, 10, b, a, d)
	wantWaiting(true, 2, b, a)
	wantWaiting(false, 10, image, asset)
	nearer, farther := item("a", seo.KindPage, 1, false), item("d", seo.KindPage, 9, false)
	save(seo.Step{Found: []seo.Item{farther, a, nearer, item("a", seo.KindImage, 0, false), item("b", seo.KindPage, 0, true)}})
	wantWaiting(true, 10, nearer, b, farther) // alike, they come in the order in which they were first found
	wantWaiting(false, 10, image, asset)
	save(seo.Step{Done: []seo.ItemKey{{URL: b.URL, Kind: b.Kind}, {URL: image.URL, Kind: image.Kind}}})
	save(seo.Step{Found: []seo.Item{item("b", seo.KindPage, 0, false)}})
	wantWaiting(true, 10, nearer, farther)
	wantWaiting(false, 10, asset)
}

func resultTotals(t *testing.T, c store.Catalog) {
	_, job := newJob(t, c)
	page, image := seo.Item{URL: "https://example.com/", Kind: seo.KindPage}, seo.Item{URL: "https://example.com/", Kind: seo.KindImage}
	pageKey, imageKey := seo.ItemKey{URL: page.URL, Kind: page.Kind}, seo.ItemKey{URL: image.URL, Kind: image.Kind}
	save := func(s seo.Step, want seo.Totals) {
		t.Helper()
		same(t, "the totals", want, must(c.SaveAudit(t.Context(), job.Lease, s))(t))
	}
	save(seo.Step{Found: []seo.Item{page, image, page}, Current: "a"}, seo.Totals{Pages: 1, Checks: 1})
	save(seo.Step{Done: []seo.ItemKey{pageKey, pageKey, {URL: "https://unknown.example/", Kind: seo.KindPage}}, Fetched: 1, Cut: "depth"},
		seo.Totals{Pages: 1, PagesDone: 1, Checks: 1, Fetched: 1, Cut: "depth"})
	save(seo.Step{Found: []seo.Item{page, image}, Done: []seo.ItemKey{pageKey, imageKey}, Fetched: 2},
		seo.Totals{Pages: 1, PagesDone: 1, Checks: 1, ChecksDone: 1, Fetched: 3, Cut: "depth"})
	save(seo.Step{}, seo.Totals{Pages: 1, PagesDone: 1, Checks: 1, ChecksDone: 1, Fetched: 3, Cut: "depth"})
	r := must(c.Report(t.Context(), job.Report.AccountID, job.Report.ID))(t)
	same(t, "the progress", seo.Progress{Done: 1, Found: 1, Current: "a"}, r.Progress)
	same(t, "the version, which progress leaves alone", job.Report.Version, r.Version)
}

// readCrawl reads a whole crawl.
func readCrawl(t *testing.T, crawl seo.Crawl) (pages []*seo.Page, resources []seo.Resource) {
	t.Helper()
	for p, err := range crawl.Pages(t.Context()) {
		ok(t, err)
		pages = append(pages, p)
	}
	for r, err := range crawl.Resources(t.Context()) {
		ok(t, err)
		resources = append(resources, r)
	}
	slices.SortFunc(pages, func(a, b *seo.Page) int { return cmp.Compare(a.URL, b.URL) })
	slices.SortFunc(resources, func(a, b seo.Resource) int { return cmp.Compare(a.URL, b.URL) })
	return pages, resources
}

func resultFacts(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	empty := must(c.SavedCrawl(t.Context(), job.Lease))(t)
	pages, resources := readCrawl(t, empty)
	same(t, "a crawl that saved nothing", []any{seo.Site{}, 0, 0}, []any{empty.Site(), len(pages), len(resources)})
	step := crawledSite(3)
	step.Pages[1].Findings = append(step.Pages[1].Findings, seo.Finding{Check: "odd", Page: step.Pages[1].URL, Severity: seo.Notice, Value: "a\x00b", Evidence: []string{"\x00", "\xff\xfe"}})
	step.Resources[0].Reason = "\x00\xff"
	must(c.SaveAudit(t.Context(), job.Lease, step))(t)
	saved := must(c.SavedCrawl(t.Context(), job.Lease))(t)
	pages, resources = readCrawl(t, saved)
	same(t, "the site", *step.Site, saved.Site())
	for i, p := range pages {
		same(t, "a page", step.Pages[i].Page, p)
	}
	same(t, "the number of pages", len(step.Pages), len(pages))
	step.Resources[0].Reason = "\x00\ufffd"
	same(t, "the resources", step.Resources, resources)
	var odd seo.Finding
	for _, f := range findingsOf(t, c, owner, seo.RunRef{Report: job.Report.ID}) {
		if f.Check == "odd" {
			odd = f
		}
	}
	same(t, "a finding with bytes that are no text", []string{"\x00", "\ufffd\ufffd"}, odd.Evidence)
	same(t, "its value", "a\x00b", odd.Value)
}

func resultLargeStep(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	step := crawledSite(450)
	got := must(c.SaveAudit(t.Context(), job.Lease, step))(t)
	same(t, "the totals", seo.Totals{Pages: 450, PagesDone: 450, Checks: 450}, got)
	pages, resources := readCrawl(t, must(c.SavedCrawl(t.Context(), job.Lease))(t))
	same(t, "what is read", []int{450, 450}, []int{len(pages), len(resources)})
	ref := seo.RunRef{Report: job.Report.ID}
	n := 0
	ok(t, c.EachPage(t.Context(), owner, ref, func(p seo.PageResult) error {
		if want := step.Pages[n]; p.URL != want.URL || p.Findings != len(want.Findings) {
			t.Errorf("page %d is %s with %d findings", n, p.URL, p.Findings)
		}
		n++
		return nil
	}))
	same(t, "how many pages are streamed", 450, n)
	n = 0
	if err := c.EachPage(t.Context(), owner, ref, func(seo.PageResult) error { n++; return errRefused }); !errors.Is(err, errRefused) || n != 1 {
		t.Errorf("after %d pages: %v", n, err)
	}
	step.Found = make([]seo.Item, seo.MaxStep+1)
	if _, err := c.SaveAudit(t.Context(), job.Lease, step); err == nil {
		t.Error("a step that is too large is saved")
	}
}

func resultSavedWhileRead(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	must(c.SaveAudit(t.Context(), job.Lease, crawledSite(250)))(t)
	n := 0
	for p, err := range must(c.SavedCrawl(t.Context(), job.Lease))(t).Pages(t.Context()) {
		ok(t, err)
		n++
		if n%10 == 0 {
			rating := seo.Rating{URL: p.URL, Score: seo.PageScore{Passed: n, Applicable: 300, Counted: true, Value: n / 3}}
			rating.Findings = []seo.Finding{found("title.duplicate", seo.Error, p.URL)}
			for range 2 { // after a crash it is rated again
				must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Ratings: []seo.Rating{rating}}))(t)
			}
		}
	}
	same(t, "how many pages were read", 250, n)
	page := must(c.ReportFindings(t.Context(), owner, seo.RunRef{Report: job.Report.ID}, seo.FindingFilter{Check: "title.duplicate"}, pageRequest()))(t)
	same(t, "the late findings", 25, page.Total)
}

func resultPages(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	step, ref := crawledSite(30), seo.RunRef{Report: job.Report.ID}
	must(c.SaveAudit(t.Context(), job.Lease, step))(t)
	var ratings []seo.Rating
	var want []seo.PageResult
	for i, p := range step.Pages {
		result := seo.PageResult{Page: p.Page, Findings: len(p.Findings), Score: seo.PageScore{Passed: i, Applicable: 60, Counted: i%2 == 0, Value: 50 - i%5}}
		if i > 20 {
			result.Score = seo.PageScore{} // not rated yet
		} else {
			ratings = append(ratings, seo.Rating{URL: p.URL, Score: result.Score})
		}
		want = append(want, result)
	}
	must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Ratings: ratings}))(t)
	for _, class := range []seo.PageClass{"", seo.PageOK, seo.PageRedirect, seo.PageBroken, seo.PageDisallowed} {
		for _, search := range []string{"", "m/01", "M/01"} {
			wanted := slices.DeleteFunc(slices.Clone(want), func(p seo.PageResult) bool {
				return class != "" && p.Class() != class || !strings.Contains(p.URL, search)
			})
			for _, by := range []string{seo.SortPagesByURL, seo.SortPagesByScore} {
				for _, desc := range []bool{false, true} {
					wantPages(t, c, owner, ref, seo.PageFilter{Class: class}, listing.Request{Search: search, SortBy: by, Desc: desc, Page: 1, PerPage: 100}, wanted)
				}
			}
		}
	}
	_, err := c.ReportPages(t.Context(), owner, seo.RunRef{Report: ref.Report, Number: 2}, seo.PageFilter{}, pagesRequest())
	wantNotFound(t, "the pages of a run that is not there", err)
}

// wantPages demands a list of pages in its order, and that its pages are parts of it.
func wantPages(t *testing.T, c store.Catalog, owner int64, ref seo.RunRef, f seo.PageFilter, r listing.Request, want []seo.PageResult) {
	t.Helper()
	want = slices.SortedFunc(slices.Values(want), func(a, b seo.PageResult) int {
		if r.SortBy == seo.SortPagesByScore {
			return cmp.Or(cmp.Compare(a.Score.Ranked(), b.Score.Ranked()), cmp.Compare(a.URL, b.URL))
		}
		return cmp.Compare(a.URL, b.URL)
	})
	if r.Desc {
		slices.Reverse(want)
	}
	what := fmt.Sprintf("the pages of class %q with %q by %s%s", f.Class, r.Search, r.SortBy, direction(r.Desc))
	same(t, what, want, must(c.ReportPages(t.Context(), owner, ref, f, r))(t).Items)
	checkPages(t, what, len(want), r, func(r listing.Request) (listing.Page[seo.PageResult], error) {
		return c.ReportPages(t.Context(), owner, ref, f, r)
	})
}

func resultFindings(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	step, ref := crawledSite(130), seo.RunRef{Report: job.Report.ID}
	must(c.SaveAudit(t.Context(), job.Lease, step))(t)
	var all []seo.Finding
	for _, p := range step.Pages {
		all = append(all, p.Findings...)
	}
	slices.SortFunc(all, func(a, b seo.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Page, b.Page))
	})
	for _, f := range []seo.FindingFilter{
		{}, {Check: "http.4xx"}, {Severity: seo.Warning}, {Page: step.Pages[60].URL}, {Check: "title.length", Page: step.Pages[60].URL},
		{Check: "title.length", Severity: seo.Error}, {Severity: seo.Notice, Page: step.Pages[60].URL}, {Check: "unknown"}, {Page: "https://example.com/"},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(one seo.Finding) bool {
			return f.Check != "" && one.Check != f.Check || f.Severity != "" && one.Severity != f.Severity || f.Page != "" && one.Page != f.Page
		})
		what := fmt.Sprintf("the findings of %+v", f)
		r := listing.Request{Page: 1, PerPage: 1000}
		same(t, what, want, must(c.ReportFindings(t.Context(), owner, ref, f, r))(t).Items)
		checkPages(t, what, len(want), r, func(r listing.Request) (listing.Page[seo.Finding], error) {
			return c.ReportFindings(t.Context(), owner, ref, f, r)
		})
		var streamed []seo.Finding
		ok(t, c.EachFinding(t.Context(), owner, ref, f, func(f seo.Finding) error { streamed = append(streamed, f); return nil }))
		same(t, what+", streamed", want, streamed)
	}
	if err := c.EachFinding(t.Context(), owner, ref, seo.FindingFilter{}, func(seo.Finding) error { return errRefused }); !errors.Is(err, errRefused) {
		t.Errorf("the error of a reader becomes %v", err)
	}
}

func resultReplaced(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	ref, url := seo.RunRef{Report: job.Report.ID}, "https://example.com/000"
	step := crawledSite(1)
	must(c.SaveAudit(t.Context(), job.Lease, step))(t)
	must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Ratings: []seo.Rating{{URL: url, Score: seo.PageScore{Passed: 1, Applicable: 2, Counted: true, Value: 50}}}}))(t)
	page := seo.PageFacts{Page: facts(url, 200), Findings: []seo.Finding{found("h1.missing", seo.Warning, url)}}
	resource := seo.Resource{URL: step.Resources[0].URL, Status: 200}
	must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Pages: []seo.PageFacts{page}, Resources: []seo.Resource{resource}}))(t)
	want := []seo.PageResult{{Page: page.Page, Findings: 1}}
	same(t, "the pages", want, must(c.ReportPages(t.Context(), owner, ref, seo.PageFilter{}, pagesRequest()))(t).Items)
	same(t, "the findings", page.Findings, findingsOf(t, c, owner, ref))
	crawl := must(c.SavedCrawl(t.Context(), job.Lease))(t)
	_, resources := readCrawl(t, crawl)
	same(t, "the resources", []seo.Resource{resource}, resources)
	same(t, "the site, which was not saved again", *step.Site, crawl.Site())
}

func resultCompare(t *testing.T, c store.Catalog) {
	owner, job := newJob(t, c)
	page := func(i int) string { return fmt.Sprintf("https://example.com/%03d", i) }
	save := func(job seo.Job, checks map[string][]int) {
		var s seo.Step
		for check, pages := range checks {
			for _, i := range pages {
				s.Ratings = append(s.Ratings, seo.Rating{URL: page(i), Findings: []seo.Finding{found(check, seo.Severity(strings.Fields(check)[0]), page(i))}})
			}
		}
		must(c.SaveAudit(t.Context(), job.Lease, s))(t)
		ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{}, at(5)))
	}
	many := make([]int, 2*seo.ComparedPages)
	var names []string
	for i := range many {
		many[i] = i
		names = append(names, page(i))
	}
	save(job, map[string][]int{"error a": {1, 2, 3}, "warning gone": many, "notice same": {1, 2}})
	must(c.UpdateReport(t.Context(), owner, job.Report.ID, func(r *seo.Report) error { r.Again(at(6)); return nil }))(t)
	save(claim(t, c, 7), map[string][]int{"error a": {3, 4}, "notice same": {1, 2}, "error b": many})
	first := names[:seo.ComparedPages]
	same(t, "from the first run to the second", []seo.Comparison{
		{Check: "error a", Severity: seo.Error, New: 1, Fixed: 2, Open: 1, NewPages: []string{page(4)}, FixedPages: []string{page(1), page(2)}},
		{Check: "error b", Severity: seo.Error, New: len(many), NewPages: first},
		{Check: "warning gone", Severity: seo.Warning, Fixed: len(many), FixedPages: first},
		{Check: "notice same", Severity: seo.Notice, Open: 2},
	}, must(c.CompareRuns(t.Context(), owner, job.Report.ID, 1, 2))(t))
	same(t, "back", []seo.Comparison{
		{Check: "error a", Severity: seo.Error, New: 2, Fixed: 1, Open: 1, NewPages: []string{page(1), page(2)}, FixedPages: []string{page(4)}},
		{Check: "error b", Severity: seo.Error, Fixed: len(many), FixedPages: first},
		{Check: "warning gone", Severity: seo.Warning, New: len(many), NewPages: first},
		{Check: "notice same", Severity: seo.Notice, Open: 2},
	}, must(c.CompareRuns(t.Context(), owner, job.Report.ID, 2, 1))(t))
	same(t, "with itself", []seo.Comparison{
		{Check: "error a", Severity: seo.Error, Open: 2}, {Check: "error b", Severity: seo.Error, Open: len(many)}, {Check: "notice same", Severity: seo.Notice, Open: 2},
	}, must(c.CompareRuns(t.Context(), owner, job.Report.ID, 2, 2))(t))
	_, err := c.CompareRuns(t.Context(), owner, job.Report.ID, 1, 3)
	wantNotFound(t, "comparing with a run that is not there", err)
}
