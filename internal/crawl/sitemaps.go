package crawl

import (
	"context"
	"io"
	"net/http"
	"time"

	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
	"sightline/internal/crawl/sitemap"
)

const (
	sitemapDepth = 3           // indexes within indexes
	sitemapTime  = time.Minute // to fetch and read one
	sitemapChunk = 1000        // addresses handed on at once
	sitemapSlack = 1 << 20     // so that the reader finds out that a file is too large, and not the client
)

// A listed sitemap is one to look for.
type listed struct {
	at      address.Address
	from    string
	depth   int
	guessed bool
}

// sitemaps reads the sitemaps that robots.txt names, the one in the usual place, and those that they list.
func (r *run) sitemaps(ctx context.Context) error {
	rules, err := r.rules.of(ctx, r.job.Start)
	if err != nil {
		return err
	}
	if rules.closed != nil && !r.job.IgnoreRobots {
		return nil
	}
	robotsURL := r.job.Start.Origin() + "/robots.txt"
	var queue []listed
	for _, at := range r.job.Sitemaps {
		queue = append(queue, listed{at: at})
	}
	for _, text := range rules.file.Sitemaps {
		if at, err := address.Parse(text); err == nil {
			queue = append(queue, listed{at: at, from: robotsURL})
		}
	}
	if usual, err := address.Parse(r.job.Start.Origin() + "/sitemap.xml"); err == nil {
		queue = append(queue, listed{at: usual, guessed: true})
	}
	seen := map[string]bool{}
	for len(queue) > 0 && len(seen) < r.job.Limits.Sitemaps {
		next := queue[0]
		queue = queue[1:]
		if seen[next.at.URL] {
			continue
		}
		seen[next.at.URL] = true
		file, err := r.sitemap(ctx, next)
		if err != nil {
			return err
		}
		if file != nil && file.Kind == sitemap.Index && next.depth < sitemapDepth {
			for _, entry := range file.Entries[:min(len(file.Entries), r.job.Limits.Sitemaps)] {
				queue = append(queue, listed{at: entry.URL, from: next.at.URL, depth: next.depth + 1})
			}
		}
		if file != nil && file.TooLarge {
			r.results <- result{cut: StopKnown}
		}
	}
	if len(queue) > 0 {
		r.results <- result{cut: StopKnown}
	}
	return nil
}

// sitemap reads one and hands its pages on; nil if there is none.
func (r *run) sitemap(ctx context.Context, l listed) (*sitemap.File, error) {
	var file *sitemap.File
	read := func(last *guard.Hop, body io.Reader) {
		if last.Status == http.StatusOK {
			file = sitemap.Read(body)
		}
	}
	answer := r.fetch(ctx, guard.Request{URL: l.at, Method: http.MethodGet, Read: read, Gate: pacer{r},
		Limits: guard.Limits{Body: sitemap.MaxSize + sitemapSlack, Time: sitemapTime}}, func() { file = nil })
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err := r.job.Handler.Sitemap(ctx, &SitemapFile{URL: l.at.URL, From: l.from, Guessed: l.guessed, Answer: answer, File: file})
	if err != nil || file == nil || file.Kind == sitemap.Index {
		return file, err
	}
	items := make([]Item, 0, sitemapChunk)
	for i, entry := range file.Entries {
		if r.scope.Contains(entry.URL) {
			items = append(items, Item{URL: entry.URL, Kind: Page, Unlinked: true, From: l.at.URL})
		}
		if len(items) == sitemapChunk || i == len(file.Entries)-1 {
			r.results <- result{found: items}
			items = make([]Item, 0, sitemapChunk)
		}
	}
	return file, nil
}
