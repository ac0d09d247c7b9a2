package audit

import (
	"context"
	"hash/maphash"
	"net/http"
	"strings"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/sitemap"
	"sightline/internal/seo"
)

const (
	maxListed   = 1_000_000 // addresses of sitemaps that are remembered
	maxProblems = 20        // of one sitemap; findings show fewer
)

// Robots implements crawl.Handler.
func (r *recorder) Robots(_ context.Context, f *crawl.RobotsFile) error {
	if f.URL != r.start.Origin()+"/robots.txt" {
		return nil
	}
	robots := seo.Robots{URL: f.URL, Status: f.Answer.Last().Status}
	if failure := f.Answer.Err; failure != nil {
		robots.Failure, robots.Reason = seo.Failure(failure.Kind), failure.Text
	}
	for _, p := range f.File.Problems {
		robots.Problems = append(robots.Problems, seo.Problem{Line: p.Line, What: p.Text})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.site.Robots = robots
	r.siteChanged()
	return nil
}

// Sitemap implements crawl.Handler.
func (r *recorder) Sitemap(_ context.Context, f *crawl.SitemapFile) error {
	last := f.Answer.Last()
	m := seo.Sitemap{URL: f.URL, Named: !f.Guessed, Status: last.Status}
	if failure := f.Answer.Err; failure != nil {
		m.Failure, m.Reason = seo.Failure(failure.Kind), failure.Text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.File != nil {
		if f.Guessed && f.File.Err != nil && isHTML(last.Header) { // what answers every unknown address
			m.Status, m.Failure, m.Reason = 0, "not_sitemap", "answers with an HTML page and not with a sitemap"
		}
		for _, p := range f.File.Problems[:min(len(f.File.Problems), maxProblems)] {
			m.Problems = append(m.Problems, seo.Problem{Line: p.Line, What: p.Text})
		}
		if f.File.Err != nil {
			m.Problems = append(m.Problems, seo.Problem{What: f.File.Err.Error()})
		}
		for _, entry := range f.File.Entries {
			if f.File.Kind == sitemap.Index {
				break
			}
			key := maphash.String(r.seed, entry.URL.URL)
			if r.listed[key] == "" && len(r.listed) < maxListed && r.scope.Contains(entry.URL) {
				r.listed[key] = f.URL
			}
		}
	}
	r.site.Sitemaps = append(r.site.Sitemaps, m)
	r.siteChanged()
	return nil
}

func isHTML(header http.Header) bool {
	return strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "text/html")
}

// probes are two addresses that show what the host does: the site over http, where it has the usual port, and a page that
// cannot exist. They are asked for like links of the start page.
func (r *recorder) probes() []crawl.Link {
	texts := []string{r.start.Origin() + randomPath()}
	if port := strings.LastIndexByte(r.start.Host, ':'); port <= strings.LastIndexByte(r.start.Host, ']') {
		texts = append(texts, "http://"+r.start.Host+"/")
	}
	var links []crawl.Link
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, text := range texts {
		to, err := address.Parse(text)
		if err != nil {
			continue
		}
		probe := &seo.Probe{URL: to.URL, End: to.URL, Failure: unasked}
		if i == 0 {
			r.site.Random = probe
		} else {
			r.site.Plain = probe
		}
		links = append(links, crawl.Link{To: to, Kind: crawl.External})
	}
	r.siteChanged()
	return links
}

// unasked is the failure of a probe before it has an answer.
const unasked seo.Failure = "canceled"
