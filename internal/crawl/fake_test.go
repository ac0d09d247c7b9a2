package crawl_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
)

// A web answers fetches from memory, so that time can be made up.
type web struct {
	pages   map[string]string                  // bodies by address; all others are 404
	answer  func(url string, n int) *guard.Hop // overrides pages for the nth request of an address, if it returns one
	fail    func(url string) *guard.Failure    // overrides all
	latency time.Duration
	mu      sync.Mutex
	log     []request
	busy    map[string]int
	busiest map[string]int
}

type request struct {
	method, url string
	at          time.Time
	header      http.Header
}

func (w *web) Fetch(ctx context.Context, r guard.Request) guard.Answer {
	hop := guard.Hop{URL: r.URL}
	header := http.Header{}
	if err := r.Gate.Enter(ctx, r.URL, header); err != nil {
		failure, ok := err.(*guard.Failure)
		if !ok {
			failure = &guard.Failure{Kind: guard.Canceled, Text: "stopped", Err: err}
		}
		return guard.Answer{Hops: []guard.Hop{hop}, Err: failure}
	}
	n := w.enter(r, header)
	defer w.leave(r.URL.Host)
	select {
	case <-time.After(w.latency):
	case <-ctx.Done():
	}
	var failure *guard.Failure
	if w.fail != nil {
		failure = w.fail(r.URL.URL)
	}
	if failure == nil {
		hop = w.hop(r.URL, n)
		hop.FirstByte = w.latency
		if r.Read != nil {
			r.Read(&hop, strings.NewReader(w.pages[r.URL.URL]))
		}
	}
	r.Gate.Leave(&hop, failure)
	return guard.Answer{Hops: []guard.Hop{hop}, Err: failure}
}

func (w *web) hop(at address.Address, n int) guard.Hop {
	if w.answer != nil {
		if hop := w.answer(at.URL, n); hop != nil {
			hop.URL = at
			return *hop
		}
	}
	status := http.StatusOK
	if _, known := w.pages[at.URL]; !known {
		status = http.StatusNotFound
	}
	return guard.Hop{URL: at, Status: status, Header: http.Header{"Content-Type": {"text/html"}}}
}

// enter logs a request and says how many there were for the same address before.
func (w *web) enter(r guard.Request, header http.Header) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, earlier := range w.log {
		if earlier.url == r.URL.URL {
			n++
		}
	}
	w.log = append(w.log, request{r.Method, r.URL.URL, time.Now(), header})
	if w.busy == nil {
		w.busy, w.busiest = map[string]int{}, map[string]int{}
	}
	w.busy[r.URL.Host]++
	w.busiest[r.URL.Host] = max(w.busiest[r.URL.Host], w.busy[r.URL.Host])
	return n
}

func (w *web) leave(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[host]--
}

// asked are the times at which a host was asked.
func (w *web) asked(host string) []time.Time {
	var times []time.Time
	for _, r := range w.log {
		if at, _ := address.Parse(r.url); at.Host == host {
			times = append(times, r.at)
		}
	}
	return times
}

// A notebook is a handler that writes down what it is told. Bodies list links: a kind and an address in each line.
type notebook struct {
	mu       sync.Mutex
	fetches  []crawl.Fetch
	robots   []crawl.RobotsFile
	sitemaps []crawl.SitemapFile
	progress []crawl.Progress
	err      error
	onFetch  func(*crawl.Fetch)

	robotsErr error
}

var kinds = map[string]crawl.Kind{"page": crawl.Page, "image": crawl.Image, "asset": crawl.Asset}

func (n *notebook) Fetched(_ context.Context, f *crawl.Fetch) ([]crawl.Link, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	kept := *f
	kept.Body = slices.Clone(f.Body)
	n.fetches = append(n.fetches, kept)
	if n.onFetch != nil {
		n.onFetch(f)
	}
	base, err := address.ParseBase(f.URL.URL)
	if err != nil {
		return nil, err
	}
	var links []crawl.Link
	for line := range strings.Lines(string(f.Body)) {
		kind, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at, err := base.Join(to); err == nil && kinds[kind] != 0 {
			links = append(links, crawl.Link{To: at, Kind: kinds[kind]})
		}
	}
	return links, n.err
}

func (n *notebook) Robots(_ context.Context, f *crawl.RobotsFile) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.robots = append(n.robots, *f)
	return n.robotsErr
}

func (n *notebook) Sitemap(_ context.Context, f *crawl.SitemapFile) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sitemaps = append(n.sitemaps, *f)
	return nil
}

func (n *notebook) Progress(p crawl.Progress) { n.progress = append(n.progress, p) }

// told are the addresses that were fetched, in order, with what went wrong.
func (n *notebook) told() []string {
	var out []string
	for _, f := range n.fetches {
		text := fmt.Sprintf("%d %s", f.Status, f.URL.URL)
		if f.Err != nil {
			text = fmt.Sprintf("%s %s", f.Err.Kind, f.URL.URL)
		}
		out = append(out, text)
	}
	return out
}

// find is the fetch of an address, of the given kind.
func (n *notebook) find(t *testing.T, url string, kind crawl.Kind) crawl.Fetch {
	t.Helper()
	var found []crawl.Fetch
	for _, f := range n.fetches {
		if f.URL.URL == url && f.Kind == kind {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s was told of %d times: %v", url, len(found), n.told())
	}
	return found[0]
}

func at(text string) address.Address {
	a, err := address.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}

const site = "https://site.example/"

// chain is a site of n pages, each of which links to the next two.
func chain(n int) map[string]string {
	pages := map[string]string{}
	for i := range n {
		name := site
		if i > 0 {
			name = fmt.Sprintf("%sp%d", site, i)
		}
		pages[name] = fmt.Sprintf("page /p%d\npage /p%d\n", min(i+1, n-1), min(i+2, n-1))
	}
	return pages
}
