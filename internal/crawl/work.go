package crawl

import (
	"bytes"
	"context"
	"fmt"

	"sightline/internal/crawl/guard"
)

func (r *run) lane(kind Kind) *lane {
	if kind == Page {
		return &r.pages
	}
	return &r.checks
}

// dispatch starts as many fetches as there is room for.
func (r *run) dispatch(ctx context.Context) {
	for r.stopped == Complete && r.totals.Fetched+r.step.Fetched+r.pages.flying < r.job.Limits.Pages && r.start(ctx, &r.pages) {
	}
	for r.start(ctx, &r.checks) {
	}
}

// start starts the fetch of the first item whose host is not busy; false if there is none, or no room.
func (r *run) start(ctx context.Context, lane *lane) bool {
	if lane.flying == lane.workers || r.err != nil || ctx.Err() != nil {
		return false
	}
	at := r.pick(lane)
	if at < 0 && len(lane.window) < lane.low {
		r.refill(ctx, lane)
		at = r.pick(lane)
	}
	if at < 0 {
		return false
	}
	item := lane.window[at]
	lane.window = append(lane.window[:at], lane.window[at+1:]...)
	lane.flying++
	r.asking[item.URL.Host]++
	var known *guard.Failure
	if f := r.down[item.URL.Host]; f != nil && f.times >= downChecks && (item.Kind != Page || f.times >= downPages) {
		known = f.last
	}
	go func() { r.results <- r.work(ctx, item, known) }()
	return true
}

// pick finds the first item of a window whose host is not busy.
func (r *run) pick(lane *lane) int {
	for i := range lane.window {
		if r.asking[lane.window[i].URL.Host] < lane.perHost {
			return i
		}
	}
	return -1
}

// refill takes what waits in the frontier into the window. Pages come level by level, so that the depth of each is that of
// the shortest way to it.
func (r *run) refill(ctx context.Context, lane *lane) {
	if len(r.step.Found) == 0 && r.waiting(lane) <= 0 {
		return
	}
	r.save(ctx)
	if r.err != nil || r.waiting(lane) <= 0 {
		return
	}
	busy := len(lane.window) + lane.flying
	items, err := r.job.Frontier.Waiting(ctx, lane == &r.pages, busy+lane.size)
	if err != nil {
		if ctx.Err() == nil {
			r.err = fmt.Errorf("read what is left of the crawl: %w", err)
		}
		return
	}
	if busy == 0 && len(items) > 0 {
		lane.level = items[0].rank()
	}
	for _, item := range items {
		if !r.taken[item.key()] && len(lane.window) < lane.size && (lane == &r.checks || item.rank() == lane.level) {
			r.taken[item.key()] = true
			lane.window = append(lane.window, item)
		}
	}
}

// waiting counts what is in the frontier and neither done nor taken.
func (r *run) waiting(lane *lane) int {
	n := r.totals.Checks - r.totals.ChecksDone
	if lane == &r.pages {
		n = r.totals.Pages - r.totals.PagesDone
	}
	for _, key := range r.step.Done {
		if r.lane(key.Kind) == lane {
			n--
		}
	}
	return n - len(lane.window) - lane.flying
}

// work fetches one item and hands it on. A failure that is known is not tried for again.
func (r *run) work(ctx context.Context, item Item, known *guard.Failure) result {
	if known != nil {
		return r.hand(ctx, &Fetch{Item: item, Err: known})
	}
	body := buffers.Get().(*bytes.Buffer)
	body.Reset()
	defer putBuffer(body)
	fetch := r.check
	if item.Kind == Page {
		fetch = func(ctx context.Context, item Item) (*Fetch, error) { return r.fetchPage(ctx, item, body) }
	}
	f, err := fetch(ctx, item)
	switch {
	case err != nil:
		return result{item: item, err: err}
	case item.Kind == Page && f.Redirected():
		return r.redirected(ctx, f)
	}
	return r.hand(ctx, f)
}

// redirected hands on an address that leads elsewhere, and then the page that it leads to, unless that is fetched anyway.
func (r *run) redirected(ctx context.Context, f *Fetch) result {
	end := *f
	f.Body, f.Unchanged = nil, false
	first := r.hand(ctx, f)
	last := end.Last()
	if len(first.done) == 0 || first.err != nil || last.Location != "" || !r.scope.Contains(last.URL) {
		return first
	}
	end.Item = Item{URL: last.URL, Kind: Page, Depth: f.Depth, Unlinked: f.Unlinked, From: f.URL.URL}
	if last.Status == 0 { // it gets a fetch of its own, and with it a reason
		first.found = append(first.found, end.Item)
		return first
	}
	if !r.claim(ctx, end.Item) {
		return first
	}
	end.Hops = end.Hops[len(end.Hops)-1:]
	second := r.hand(ctx, &end)
	first.done = append(first.done, second.done...)
	first.found = append(first.found, second.found...)
	first.err = second.err
	if second.cut != Complete {
		first.cut = second.cut
	}
	return first
}

func (r *run) claim(ctx context.Context, item Item) bool {
	reply := make(chan bool, 1)
	select {
	case r.claims <- claim{item, reply}:
		return <-reply
	case <-ctx.Done():
		return false
	}
}

// hand gives a fetch to the handler and takes the links that it finds.
func (r *run) hand(ctx context.Context, f *Fetch) result {
	res := result{item: f.Item, fetched: f.Kind == Page && len(f.Hops) > 0}
	if ctx.Err() != nil {
		return res
	}
	switch {
	case len(f.Hops) > 1: // it redirects, so its own host is there
		res.answered = true
	case overloaded(f.Status):
		res.failure = &guard.Failure{Kind: guard.Overloaded, Text: fmt.Sprintf("the host keeps answering %d", f.Status)}
	case f.Status != 0:
		res.answered = true
	case f.Err != nil && f.Err.Down():
		res.failure = f.Err
	}
	links, err := r.job.Handler.Fetched(ctx, f)
	if err != nil {
		res.err = fmt.Errorf("%s: %w", f.URL.URL, err)
		return res
	}
	res.done = []Key{f.key()}
	res.found, res.cut = r.follow(f, links)
	return res
}

// follow turns the links of a page into items, as far as the limits allow.
func (r *run) follow(f *Fetch, links []Link) (items []Item, cut Reason) {
	if len(links) > r.job.Limits.Links {
		links, cut = links[:r.job.Limits.Links], StopKnown
	}
	items = make([]Item, 0, len(links))
	for _, link := range links {
		item := Item{URL: link.To, Kind: link.Kind, Depth: f.Depth + 1, Unlinked: f.Unlinked, From: f.URL.URL}
		if item.Kind == Page && !r.scope.Contains(link.To) {
			item.Kind = External
		}
		if link.To.URL != "" && (item.Kind == Page || !r.job.NoChecks) {
			items = append(items, item)
		}
	}
	return items, cut
}
