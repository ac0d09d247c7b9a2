package audit

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"sightline/internal/check"
	"sightline/internal/check/facts"
	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
	"sightline/internal/seo"
)

// A recorder makes facts and findings of what a crawl fetches, and saves them together with the steps of the crawl.
type recorder struct {
	task  Task
	start address.Address
	scope address.Scope
	now   func() time.Time
	seed  maphash.Seed

	mu      sync.Mutex
	pending Learned
	site    seo.Site
	listed  map[uint64]string // by page: the sitemap that lists it
	asides  map[uint64]bool   // from one address to another, by a canonical or a redirect instead of a link
	totals  crawl.Totals
}

func newRecorder(t Task, start address.Address, now func() time.Time) *recorder {
	r := &recorder{task: t, start: start, scope: address.ScopeOf(start, false), now: now, seed: maphash.MakeSeed(),
		listed: map[uint64]string{}, asides: map[uint64]bool{}}
	if t.Site != nil {
		r.site.Plain, r.site.Random = t.Site.Plain, t.Site.Random
		if t.Site.Start == start.URL {
			r.site.Robots = t.Site.Robots
		}
	}
	r.site.Start = start.URL
	return r
}

// Save implements crawl.Frontier: a page is done in the moment in which its facts are kept.
func (r *recorder) Save(ctx context.Context, s crawl.Step) (crawl.Totals, error) {
	r.mu.Lock()
	learned := r.pending
	r.pending = Learned{}
	r.mu.Unlock()
	totals, err := r.task.Store.Save(ctx, s, learned)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil { // the crawl may try again
		r.pending.Pages = append(learned.Pages, r.pending.Pages...)
		r.pending.Resources = append(learned.Resources, r.pending.Resources...)
		if r.pending.Site == nil {
			r.pending.Site = learned.Site
		}
		return totals, err
	}
	r.totals = totals
	return totals, nil
}

// Waiting implements crawl.Frontier.
func (r *recorder) Waiting(ctx context.Context, pages bool, most int) ([]crawl.Item, error) {
	return r.task.Store.Waiting(ctx, pages, most)
}

// flush saves what is left, and what was learned of the host.
func (r *recorder) flush(ctx context.Context) error {
	r.mu.Lock()
	for _, probe := range []**seo.Probe{&r.site.Plain, &r.site.Random} {
		if *probe != nil && (*probe).Failure == unasked {
			*probe = nil
		}
	}
	r.siteChanged()
	r.mu.Unlock()
	_, err := r.Save(ctx, crawl.Step{})
	return err
}

// siteChanged has what is known of the host saved with the next step; the lock is held.
func (r *recorder) siteChanged() {
	site := r.site
	r.pending.Site = &site
}

// Progress implements crawl.Handler.
func (r *recorder) Progress(p crawl.Progress) {
	r.mu.Lock()
	r.pending.Current = p.Current
	r.mu.Unlock()
	if r.task.Progress != nil {
		r.task.Progress(seo.Progress{Done: p.PagesDone, Found: p.Pages, Current: p.Current})
	}
}

// Fetched implements crawl.Handler. What breaks it on one page ends the audit, and not the program.
func (r *recorder) Fetched(ctx context.Context, f *crawl.Fetch) (links []crawl.Link, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the page broke its reader: %v", broken)
		}
	}()
	if f.Kind != crawl.Page {
		r.checked(f)
		return nil, nil
	}
	if to := f.Last(); f.URL == r.start && f.Redirected() && to.Location == "" && to.Status != 0 && !r.scope.Contains(to.URL) {
		return nil, r.move(ctx, f)
	}
	page, links, err := r.read(ctx, f)
	if err != nil {
		return nil, err
	}
	if f.URL == r.start {
		links = append(links, r.probes()...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.Pages = append(r.pending.Pages, seo.PageFacts{Page: page, Findings: check.Page(page)})
	return links, nil
}

// move keeps the redirect of the start to another site, where the crawl then begins anew.
func (r *recorder) move(ctx context.Context, f *crawl.Fetch) error {
	to := f.Last().URL
	page := facts.Read(r.fetch(f), resolver(r.scope, nil))
	_, err := r.task.Store.Save(ctx, crawl.Step{Done: []crawl.Key{{URL: f.URL.URL, Kind: crawl.Page}}},
		Learned{Pages: []seo.PageFacts{{Page: page, Findings: check.Page(page)}}, Site: &seo.Site{Start: to.URL}})
	if err != nil {
		return err
	}
	return movedError{to}
}

// read makes the facts of a page, and lists what it leads to.
func (r *recorder) read(ctx context.Context, f *crawl.Fetch) (*seo.Page, []crawl.Link, error) {
	known := map[string]address.Address{}
	fetch := r.fetch(f)
	if !f.Unchanged {
		page := facts.Read(fetch, resolver(r.scope, known))
		return page, r.links(page, known), nil
	}
	earlier, err := r.task.Store.Earlier(ctx, f.URL.URL)
	if err != nil {
		return nil, nil, err
	}
	page := *earlier
	page.Depth, page.FoundFrom, page.Listed, page.FirstByte = fetch.Depth, fetch.FoundFrom, fetch.Listed, fetch.FirstByte
	page.FetchedAt = fetch.At.UTC().Truncate(time.Second)
	return &page, r.links(&page, known), nil
}

// links are the addresses to ask for after a page. An audit of one page only looks whether they are there.
func (r *recorder) links(p *seo.Page, known map[string]address.Address) []crawl.Link {
	targets := p.Targets()
	links := make([]crawl.Link, 0, len(targets)+2) // the start adds its probes
	linked := map[string]bool{}
	for _, t := range targets {
		to, found := known[t.URL]
		if !found {
			var err error
			if to, err = address.Restore(t.URL); err != nil {
				continue
			}
		}
		kind := crawlKind(t.Kind)
		if kind == crawl.Page && r.task.Report.Scope == seo.ScopePage && t.URL != p.URL {
			kind = crawl.External
		}
		links = append(links, crawl.Link{To: to, Kind: kind})
		if t.Linked {
			linked[t.URL] = true
		} else if kind == crawl.Page && !linked[t.URL] {
			r.aside(p.URL, t.URL)
		}
	}
	if p.End != "" {
		r.aside(p.URL, p.End)
	}
	return links
}

func (r *recorder) aside(from, to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asides[r.way(from, to)] = true
}

func (r *recorder) way(from, to string) uint64 {
	return maphash.Comparable(r.seed, [2]string{from, to})
}

// fetch is what the facts need of a fetch.
func (r *recorder) fetch(f *crawl.Fetch) facts.Fetch {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := facts.Fetch{URL: f.URL.URL, Depth: f.Depth, At: r.now(), Status: f.Status, Body: f.Body, Listed: r.listed[maphash.String(r.seed, f.URL.URL)]}
	bySitemap := f.Unlinked && f.Depth == 0
	if !bySitemap && !r.asides[r.way(f.From, f.URL.URL)] {
		out.FoundFrom = f.From
	}
	out.Hops, out.End = redirects(f.Hops)
	if last := f.Last(); last != nil {
		out.FirstByte, out.Header = last.FirstByte, last.Header
	}
	if f.Err != nil {
		out.Failure, out.Reason = seo.Failure(f.Err.Kind), f.Err.Text
	}
	if f.Err != nil && f.Err.Kind == guard.BodyTooLarge {
		out.Failure, out.Reason, out.Truncated = "", "", true
	}
	return out
}

// redirects are those among the hops of a fetch, and where they end; empty if nowhere.
func redirects(hops []guard.Hop) (list []seo.Hop, end string) {
	for i := range hops {
		if h := &hops[i]; h.Location != "" {
			list = append(list, seo.Hop{URL: h.URL.URL, Status: h.Status, Location: h.Location})
		}
	}
	if len(list) > 0 && hops[len(hops)-1].Location == "" {
		end = hops[len(hops)-1].URL.URL
	}
	return list, end
}

// checked notes whether something is there: a probe, or the target of a link or image.
func (r *recorder) checked(f *crawl.Fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := seo.Resource{URL: f.URL.URL, Internal: r.scope.Contains(f.URL), Status: f.Status}
	if f.Err != nil && f.Err.Kind != guard.BodyTooLarge {
		answer.Failure, answer.Reason = seo.Failure(f.Err.Kind), f.Err.Text
	}
	for _, probe := range []**seo.Probe{&r.site.Plain, &r.site.Random} {
		if *probe != nil && (*probe).URL == f.URL.URL {
			hops, end := redirects(f.Hops)
			*probe = &seo.Probe{URL: f.URL.URL, Hops: hops, End: cmp.Or(end, f.URL.URL), Status: f.Status, Failure: answer.Failure}
			r.siteChanged()
		}
	}
	if answer.Status >= 400 || answer.Failure != "" {
		r.pending.Resources = append(r.pending.Resources, answer)
	}
}

// resolver reads references as the crawl does, and remembers what came of them.
func resolver(scope address.Scope, known map[string]address.Address) facts.From {
	return func(base string) facts.Resolve {
		from, err := address.ParseBase(base)
		return func(reference string) (string, bool, bool) {
			if err != nil {
				return "", false, false
			}
			to, err := from.Join(reference)
			if err != nil {
				return "", false, false
			}
			if known != nil {
				known[to.URL] = to
			}
			return to.URL, scope.Contains(to), true
		}
	}
}

// validators are what a page called its version at the audit before.
func (r *recorder) validators(ctx context.Context, url string) (etag, modified string) {
	page, err := r.task.Store.Earlier(ctx, url)
	if err != nil { // then the page is fetched as a whole
		return "", ""
	}
	for _, line := range page.Header {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "Etag":
			etag = value
		case "Last-Modified":
			modified = value
		}
	}
	return etag, modified
}
