package crawl_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
)

// A largeSite is a site of many pages of one size, with some links each.
type largeSite struct {
	pages, size, links int
	fill               []byte
}

func newLargeSite(pages, size, links int) *largeSite {
	return &largeSite{pages, size, links, []byte(strings.Repeat("<p>All work and no play makes a page long.</p>\n", size/46))}
}

// page is a page: links to those in its neighbourhood and to its children in a tree, so that all are found quickly.
func (s *largeSite) page(n int) []byte {
	page := make([]byte, 0, s.size+1024)
	for i := range s.links {
		to := n*10 + i + 1
		if i >= 10 {
			to = n + i
		}
		if to < s.pages {
			page = append(page, `<a href="/section-`...)
			page = strconv.AppendInt(page, int64(to%50), 10)
			page = append(page, `/page-`...)
			page = strconv.AppendInt(page, int64(to), 10)
			page = append(page, ".html\">The next page</a>\n"...)
		}
	}
	return append(page, s.fill[:max(0, s.size-len(page))]...)
}

// number is that of a page with a path; false if there is none.
func (s *largeSite) number(path string) (int, bool) {
	if path == "/" {
		return 0, true
	}
	name, found := strings.CutSuffix(path[strings.LastIndexByte(path, '-')+1:], ".html")
	n, err := strconv.Atoi(name)
	return n, found && err == nil && n < s.pages
}

// ServeHTTP implements http.Handler.
func (s *largeSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, found := s.number(r.URL.Path)
	if !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(s.page(n))
}

// hrefs calls visit with each link of a page.
func hrefs(body []byte, visit func(link string)) {
	for {
		_, rest, found := bytes.Cut(body, []byte(`<a href="`))
		if !found {
			return
		}
		link, after, _ := bytes.Cut(rest, []byte(`"`))
		visit(string(link))
		body = after
	}
}

// A follower is a handler that follows links and keeps nothing.
type follower struct {
	fetched atomic.Int64
	at      map[int64]func() // what to do when that many are fetched
}

func (h *follower) Fetched(_ context.Context, f *crawl.Fetch) ([]crawl.Link, error) {
	base, err := address.ParseBase(f.URL.URL)
	if err != nil {
		return nil, err
	}
	links := make([]crawl.Link, 0, 64)
	hrefs(f.Body, func(link string) {
		if to, err := base.Join(link); err == nil {
			links = append(links, crawl.Link{To: to, Kind: crawl.Page})
		}
	})
	if do := h.at[h.fetched.Add(1)]; do != nil {
		do()
	}
	return links, nil
}

func (*follower) Robots(context.Context, *crawl.RobotsFile) error   { return nil }
func (*follower) Sitemap(context.Context, *crawl.SitemapFile) error { return nil }
func (*follower) Progress(crawl.Progress)                           {}

var unlimited = crawl.Manners{Connections: 8, PerSecond: -1, ChecksPerSecond: -1}

// BenchmarkCrawl crawls 5,000 pages of 36 KB on loopback; BenchmarkBareFetch is a plain loop that fetches the same pages and
// finds the same links.
func BenchmarkCrawl(b *testing.B) {
	const pages = 5000
	server := httptest.NewServer(newLargeSite(pages, 36<<10, 60))
	defer server.Close()
	client := guard.New(guard.Options{Rules: guard.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	defer client.Close()
	peak := startWatch()
	for b.Loop() {
		outcome, err := crawl.New(client, unlimited).Crawl(b.Context(), crawl.Job{Start: at(server.URL), Handler: &follower{}, Limits: crawl.Limits{Pages: pages}})
		if err != nil || outcome.Fetched != pages {
			b.Fatalf("%+v, %v", outcome, err)
		}
	}
	b.ReportMetric(float64(b.N)*pages/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
}

func BenchmarkBareFetch(b *testing.B) {
	const pages = 5000
	server := httptest.NewServer(newLargeSite(pages, 36<<10, 60))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	peak := startWatch()
	for b.Loop() {
		if n := bareCrawl(b, client, server.URL); n != pages {
			b.Fatalf("%d pages", n)
		}
	}
	b.ReportMetric(float64(b.N)*pages/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
}

func bareCrawl(b *testing.B, client *http.Client, start string) int {
	var mu sync.Mutex
	var left sync.WaitGroup
	seen := map[string]bool{"/": true}
	slots := make(chan struct{}, 8)
	var fetch func(path string)
	fetch = func(path string) {
		defer left.Done()
		slots <- struct{}{}
		defer func() { <-slots }()
		response, err := client.Get(start + path)
		if err != nil {
			b.Error(err)
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			b.Error(err)
		}
		hrefs(body, func(link string) {
			mu.Lock()
			defer mu.Unlock()
			if !seen[link] {
				seen[link] = true
				left.Add(1)
				go fetch(link)
			}
		})
	}
	left.Add(1)
	go fetch("/")
	left.Wait()
	return len(seen)
}

func startWatch() func() uint64 {
	stop := make(chan struct{})
	peak := watchMemory(stop)
	return func() uint64 { close(stop); return <-peak }
}

// A mill answers fetches with the pages of a large site, without a network.
type mill struct{ site *largeSite }

func (m mill) Fetch(ctx context.Context, r guard.Request) guard.Answer {
	hop := guard.Hop{URL: r.URL}
	if err := r.Gate.Enter(ctx, r.URL, http.Header{}); err != nil {
		return guard.Answer{Hops: []guard.Hop{hop}, Err: &guard.Failure{Kind: guard.Canceled, Err: err}}
	}
	hop.Status = http.StatusNotFound
	if n, found := m.site.number(r.URL.Target); found {
		hop.Status = http.StatusOK
		r.Read(&hop, bytes.NewReader(m.site.page(n)))
	}
	r.Gate.Leave(&hop, nil)
	return guard.Answer{Hops: []guard.Hop{hop}}
}

// Each further page costs little memory, though all are remembered.
func TestMemoryPerPage(t *testing.T) {
	const few, many = 1000, 50_000
	perPage := (float64(heapAtEnd(t, many)) - float64(heapAtEnd(t, few))) / (many - few)
	t.Logf("%.0f bytes per further page", perPage)
	if perPage > 10<<10 {
		t.Errorf("each further page costs %.0f bytes", perPage)
	}
}

// heapAtEnd crawls a site and says how much memory is in use when its last page is handled.
func heapAtEnd(t *testing.T, pages int) (heap uint64) {
	handler := &follower{at: map[int64]func(){int64(pages): func() {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		heap = sample[0].Value.Uint64()
	}}}
	outcome, err := crawl.New(mill{newLargeSite(pages, 1<<10, 12)}, unlimited).Crawl(t.Context(),
		crawl.Job{Start: at(site), Handler: handler, Limits: crawl.Limits{Pages: pages}, NoSitemaps: true})
	if err != nil || outcome.Fetched != pages {
		t.Fatalf("%+v, %v", outcome, err)
	}
	return heap
}
