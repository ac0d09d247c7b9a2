package crawl

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
)

const (
	pageWorkers  = 8    // pages fetched and handled at once in one crawl
	checkWorkers = 32   // links, images and assets checked at once
	pageWindow   = 256  // pages taken from the frontier at once
	checkWindow  = 1000 // checks, many so that a slow host among them does not hold up the others
	handled      = 2    // pages of one host in the hands of the handler while others are fetched

	saveDone  = 256 // a step is saved when that many addresses are done,
	saveFound = 5000
	saveEvery = time.Second

	downPages  = 10 // failures in a row after which a site counts as down,
	downChecks = 3  // or another host
)

// A run is one crawl while it goes on. One goroutine owns it; fetches run beside it and send their results.
type run struct {
	*Crawler
	job     Job
	scope   address.Scope
	rules   *rulebook
	results chan result
	claims  chan claim

	pages, checks lane
	taken         map[Key]bool // in a window, in flight, or done but not saved
	asking        map[string]int
	down          map[string]*failing
	seen          map[uint64]rank
	seed          maphash.Seed
	step          Step
	totals        Totals
	background    int // goroutines that read sitemaps
	stopped       Reason
	err           error
}

// A lane is one of the two streams of work.
type lane struct {
	window  []Item
	flying  int
	workers int
	size    int
	low     int // when the window is refilled
	perHost int
	level   rank // of the pages in it
}

// failing counts what a host did not answer in a row.
type failing struct {
	times int
	last  *guard.Failure
}

// A result is what a fetch or a sitemap brought.
type result struct {
	item     Item // the zero Item from a sitemap
	done     []Key
	found    []Item
	fetched  bool           // it counts as a page
	answered bool           // the host answered
	failure  *guard.Failure // if it did not
	cut      Reason
	end      bool // a sitemap reader has ended
	err      error
}

// A claim asks for the right to hand on the page at which a redirect ended.
type claim struct {
	item  Item
	reply chan bool
}

// Crawl goes through a site until all of it is fetched, a limit is reached or ctx ends. The error is that of the handler,
// the frontier or ctx; the outcome holds in any case. Given the frontier of a crawl that was interrupted, it goes on there.
func (c *Crawler) Crawl(ctx context.Context, job Job) (Outcome, error) {
	job.Limits = job.Limits.withDefaults()
	if job.Frontier == nil {
		job.Frontier = NewMemory()
	}
	host := c.manners.Connections + handled
	r := &run{Crawler: c, job: job, scope: address.ScopeOf(job.Start, job.Subdomains),
		results: make(chan result), claims: make(chan claim),
		pages:  lane{workers: pageWorkers, size: pageWindow, low: 1, perHost: host},
		checks: lane{workers: checkWorkers, size: checkWindow, low: checkWindow / 2, perHost: c.manners.Connections},
		taken:  map[Key]bool{}, asking: map[string]int{}, down: map[string]*failing{}, seen: map[uint64]rank{}, seed: maphash.MakeSeed()}
	if job.Subdomains {
		r.pages.low = pageWindow / 2
	}
	r.rules = &rulebook{run: r, byOrigin: map[string]*rules{}}
	inner, cancel := ctx, context.CancelFunc(func() {})
	if job.Limits.Time > 0 {
		inner, cancel = context.WithTimeoutCause(ctx, job.Limits.Time, errTime)
	}
	defer cancel()
	return r.crawl(ctx, inner)
}

var errTime = errors.New("the time for the crawl is up")

// crawl works within the time limit, and says whether that or the caller ended it.
func (r *run) crawl(ctx, inner context.Context) (Outcome, error) {
	work, cancel := context.WithCancel(inner)
	defer cancel()
	r.find(Item{URL: r.job.Start, Kind: Page})
	r.save(work)
	if !r.job.NoSitemaps && r.err == nil {
		r.background++
		go func() { r.results <- result{end: true, err: r.sitemaps(work)} }()
	}
	r.loop(work)
	switch {
	case ctx.Err() != nil:
		r.stopped = StopCanceled
		r.err = errors.Join(r.err, ctx.Err())
	case inner.Err() != nil:
		r.stopped = StopTime
	}
	cancel()
	r.drain(work)
	last, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	r.save(last)
	return Outcome{Totals: r.totals, StoppedBy: r.reason()}, r.err
}

// reason is what kept the crawl from being complete.
func (r *run) reason() Reason {
	switch {
	case r.stopped != Complete:
		return r.stopped
	case r.totals.Pages > r.totals.PagesDone && r.totals.Fetched >= r.job.Limits.Pages:
		return StopPages
	}
	return r.totals.Cut
}

// loop starts fetches and takes their results in until there is nothing left to do.
func (r *run) loop(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for r.err == nil && ctx.Err() == nil {
		r.dispatch(ctx)
		if r.pages.flying+r.checks.flying+r.background == 0 {
			return
		}
		select {
		case result := <-r.results:
			r.take(ctx, result)
		case claim := <-r.claims:
			claim.reply <- r.grant(ctx, claim.item)
		case <-ticker.C:
			r.save(ctx)
		case <-ctx.Done():
		}
	}
}

// drain waits for what is in flight; the context that it runs under has ended.
func (r *run) drain(ended context.Context) {
	for r.pages.flying+r.checks.flying+r.background > 0 {
		select {
		case result := <-r.results:
			r.take(ended, result)
		case claim := <-r.claims:
			claim.reply <- false
		}
	}
}

// take books a result.
func (r *run) take(ctx context.Context, result result) {
	interrupted := ctx.Err() != nil && (errors.Is(result.err, context.Canceled) || errors.Is(result.err, context.DeadlineExceeded))
	if result.err != nil && !interrupted {
		r.err = errors.Join(r.err, result.err)
	}
	for _, item := range result.found {
		r.find(item)
	}
	if result.cut != Complete {
		r.step.Cut = result.cut
	}
	if result.end {
		r.background--
	}
	if result.item.Kind != 0 {
		r.land(result)
	}
	if ctx.Err() == nil && (len(r.step.Done) >= saveDone || len(r.step.Found) >= saveFound) {
		r.save(ctx)
	}
}

// land books the end of a fetch.
func (r *run) land(result result) {
	lane := r.lane(result.item.Kind)
	lane.flying--
	host := result.item.URL.Host
	if r.asking[host]--; r.asking[host] == 0 {
		delete(r.asking, host)
	}
	if len(result.done) == 0 {
		delete(r.taken, result.item.key()) // interrupted: it waits for the next run
		return
	}
	r.step.Done = append(r.step.Done, result.done...)
	if result.fetched {
		r.step.Fetched++
	}
	r.note(host, result)
	progress := r.totals
	progress.Fetched += r.step.Fetched
	for _, key := range r.step.Done {
		if key.Kind == Page {
			progress.PagesDone++
		} else {
			progress.ChecksDone++
		}
	}
	r.job.Handler.Progress(Progress{Totals: progress, Current: result.item.URL.URL})
}

// note counts what a host does not answer. A site that has stopped answering ends its crawl.
func (r *run) note(host string, result result) {
	if result.answered {
		delete(r.down, host)
		return
	}
	if result.failure == nil {
		return
	}
	f := r.down[host]
	if f == nil {
		f = &failing{}
		r.down[host] = f
	}
	f.times++
	f.last = result.failure
	if f.times >= downPages && result.item.Kind == Page && address.ScopeOf(r.job.Start, false).Contains(result.item.URL) {
		r.stopped = StopDown
	}
}

// find remembers an address unless it is known to be known.
func (r *run) find(item Item) {
	key := item.key()
	hash := maphash.Comparable(r.seed, key)
	at := item.rank()
	best, known := r.seen[hash]
	switch {
	case known && best <= at:
		return
	case item.Kind == Page && r.job.Limits.Depth > 0 && item.Depth > r.job.Limits.Depth:
		if !known {
			r.step.Cut = StopDepth
		}
		return
	case !known && r.totals.Pages+r.totals.Checks+len(r.step.Found) >= r.room(item):
		r.step.Cut = StopKnown
		return
	}
	r.seen[hash] = at
	r.step.Found = append(r.step.Found, item)
}

// room is how many addresses may be known for another one to be remembered. Sitemaps fill half of it at most, and leave
// the rest to links.
func (r *run) room(item Item) int {
	if item.Unlinked {
		return r.job.Limits.Known / 2
	}
	return r.job.Limits.Known
}

// save writes the step to the frontier.
func (r *run) save(ctx context.Context) {
	if len(r.step.Found)+len(r.step.Done) == 0 && r.step.Cut == r.totals.Cut {
		return
	}
	totals, err := r.job.Frontier.Save(ctx, r.step)
	if err != nil {
		if ctx.Err() == nil {
			r.err = errors.Join(r.err, fmt.Errorf("save the crawl: %w", err))
		}
		return
	}
	for _, key := range r.step.Done {
		delete(r.taken, key)
	}
	r.totals = totals
	r.step = Step{Found: r.step.Found[:0], Done: r.step.Done[:0], Cut: totals.Cut}
}

// grant lets a fetch hand on the page that its redirects led to, if nobody else knows that page.
func (r *run) grant(ctx context.Context, item Item) bool {
	r.save(ctx)
	before := r.totals.Pages
	r.find(item)
	r.save(ctx)
	if r.totals.Pages == before {
		return false
	}
	r.taken[item.key()] = true
	return true
}
