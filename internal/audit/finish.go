package audit

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"

	"sightline/internal/check"
	"sightline/internal/crawl"
	"sightline/internal/seo"
)

// ratingBatch is how many ratings are saved at once.
const ratingBatch = 500

// finish runs the checks over all that was crawled, and rates it.
func (r *recorder) finish(ctx context.Context, end crawl.Outcome) (Result, error) {
	result := Result{State: seo.Done, Start: r.start.URL, Outcome: seo.Outcome{StoppedBy: string(end.StoppedBy)}}
	if end.StoppedBy == crawl.StopCanceled {
		result.State = seo.Stopped
	}
	done := end.PagesDone
	if r.moved() {
		done-- // the redirect
	}
	if done <= 0 {
		result.Failure = "The audit was stopped before its first page."
		return result, nil
	}
	saved, err := r.task.Store.Crawl(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("read what was crawled: %w", err)
	}
	whole := crawled{r, saved, r.site}
	whole.site.Complete = end.StoppedBy == crawl.Complete && r.task.Report.Scope == seo.ScopeSite
	result.Complete = whole.site.Complete
	if err := r.rate(ctx, whole, &result); err != nil {
		return Result{}, fmt.Errorf("check %s: %w", r.start.URL, err)
	}
	return result, r.explain(ctx, whole, &result)
}

// moved says that the crawl began at another site than it was asked to.
func (r *recorder) moved() bool {
	asked, err := normal(r.task.Report.URL)
	return err == nil && asked != r.start.URL
}

// rate runs the checks and saves what they find.
func (r *recorder) rate(ctx context.Context, c crawled, result *Result) error {
	var batch []seo.Rating
	values := map[string]string{}
	save := func() error {
		_, err := r.task.Store.Save(ctx, crawl.Step{}, Learned{Ratings: batch})
		batch = nil
		return err
	}
	score, err := check.Finish(ctx, c, func(p *seo.Page, late []seo.Finding, score seo.PageScore) error {
		if !p.Disallowed() && !p.IsRedirect() {
			result.Pages++
		}
		if r.task.Report.Scope == seo.ScopePage {
			for _, f := range append(check.Page(p), late...) {
				values[f.Check] = f.Value
			}
		}
		if batch = append(batch, seo.Rating{URL: p.URL, Score: score, Findings: late}); len(batch) < ratingBatch {
			return nil
		}
		return save()
	})
	if err != nil {
		return err
	}
	result.Score, result.Rated = score.Value, score.Pages
	for _, c := range score.Checks {
		result.Issues.Add(c.Severity, c.Failed)
		if c.Pages > 0 {
			result.Results = append(result.Results, seo.CheckResult{
				Check: c.Check, Severity: c.Severity, Passed: c.Failed == 0, Value: values[c.Check], Findings: c.Failed, Points: c.Points})
		}
	}
	return save()
}

// explain says why there is nothing to rate. A start that does not answer leaves nothing worth a score.
func (r *recorder) explain(ctx context.Context, c crawled, result *Result) error {
	start, err := r.startPage(ctx, c)
	if err != nil {
		return fmt.Errorf("find the start page: %w", err)
	}
	unanswered := start.Status == 0 && start.Failure != "" || start.Failure == seo.FailedLoop || start.Failure == seo.FailedHops
	if result.Score != nil && (!unanswered || result.Rated > 1) {
		return nil
	}
	result.Score, result.Rated = nil, 0
	for i := range result.Results {
		result.Results[i].Points = 0 // without a score there is none to gain
	}
	result.Failure = failure(start)
	if result.State == seo.Done {
		result.State = seo.Failed
	}
	return nil
}

// startPage is the page that the audit began with, behind its redirects.
func (r *recorder) startPage(ctx context.Context, c crawled) (*seo.Page, error) {
	var start *seo.Page
	seen := map[string]bool{} // a site may redirect differently each time, also in a circle
	for url := r.start.URL; ; url = start.End {
		found := false
		seen[url] = true
		for p, err := range c.Pages(ctx) {
			if err != nil {
				return nil, err
			}
			if p.URL == url {
				start, found = p, true
				break
			}
		}
		if !found || start.End == "" || seen[start.End] {
			return start, nil
		}
	}
}

// failure is a sentence that says why a page cannot be rated.
func failure(p *seo.Page) string {
	switch {
	case p.Failure == seo.FailedRobots && p.IsRedirect():
		return sentence("%s redirects to a page that the robots.txt of the site keeps crawlers away from: %s", p.URL, p.Reason)
	case p.Failure == seo.FailedRobots:
		return sentence("The robots.txt of the site keeps crawlers away from %s: %s", p.URL, p.Reason)
	case p.Failure != "":
		return sentence("%s cannot be opened: %s", p.URL, p.Reason)
	case p.IsRedirect():
		return sentence("%s redirects to %s, which is not part of the site", p.URL, p.End)
	case p.Broken():
		return sentence("%s answers with %d", p.URL, p.Status)
	case p.Status != 200:
		return sentence("%s answers with %d instead of a page", p.URL, p.Status)
	case !p.IsHTML && p.MediaType == "":
		return sentence("%s is not an HTML page", p.URL)
	case !p.IsHTML:
		return sentence("%s is not an HTML page but %s", p.URL, p.MediaType)
	case p.NoIndex():
		return sentence("%s asks search engines to leave it out (noindex), so there is no page to rate", p.URL)
	}
	return "There is no page to rate."
}

// crawled is what was saved of a crawl, with what only its end could tell.
type crawled struct {
	rec *recorder
	seo.Crawl
	site seo.Site
}

// Site implements seo.Crawl.
func (c crawled) Site() seo.Site { return c.site }

// Pages implements seo.Crawl. A page may have been fetched before the sitemap that lists it.
func (c crawled) Pages(ctx context.Context) iter.Seq2[*seo.Page, error] {
	return func(yield func(*seo.Page, error) bool) {
		for p, err := range c.Crawl.Pages(ctx) {
			if err == nil && p.Listed == "" {
				p.Listed = c.rec.listed[maphash.String(c.rec.seed, p.URL)]
			}
			if !yield(p, err) {
				return
			}
		}
	}
}
