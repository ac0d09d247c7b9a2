// Package audit makes an audit of a site: crawl, facts, checks, score. Its queue does so for the reports that wait.
package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/seo"
)

const (
	// longest is how long one crawl may take: a site of seo.MaxPages takes three hours at the usual pace.
	longest = 24 * time.Hour
	// maxMoves is how often the start may redirect to another site.
	maxMoves = 3
)

// An Auditor makes audits. One serves a whole program, so that audits that meet at a host share its pace.
type Auditor struct {
	crawler *crawl.Crawler
	now     func() time.Time
}

// New makes an auditor.
func New(crawler *crawl.Crawler, now func() time.Time) *Auditor {
	return &Auditor{crawler: crawler, now: now}
}

// A Task is an audit to make.
type Task struct {
	Report   seo.Report         // what to audit
	Site     *seo.Site          // what an attempt that was interrupted saved of it; nil: nothing
	Store    Store              // what an attempt that was interrupted left in it is gone on with
	Stop     <-chan struct{}    // closed: the audit ends with what it has; nil: never
	Progress func(seo.Progress) // is told now and then how far the audit is; may be nil
}

// A Result is what an audit came to.
type Result struct {
	seo.Outcome
	State    seo.State
	Start    string // where the crawl began: the report's address in normal form, or where that redirects to
	Rated    int    // how many pages the score is the mean of
	Complete bool   // every page of the site was audited
}

// A Store is where one audit keeps what it learns.
type Store interface {
	// Save keeps a step of the crawl together with what was learned in it: all of it, or nothing.
	Save(ctx context.Context, s crawl.Step, l Learned) (crawl.Totals, error)
	// Waiting is that of a crawl.Frontier.
	Waiting(ctx context.Context, pages bool, most int) ([]crawl.Item, error)
	// Crawl is what was saved, for the checks over all of it.
	Crawl(ctx context.Context) (seo.Crawl, error)
	// Earlier is a page as the audit before has it, or an error.
	Earlier(ctx context.Context, url string) (*seo.Page, error)
}

// Learned is what an audit has learned since it saved last.
type Learned struct {
	Pages     []seo.PageFacts // each replaces what is known of its address
	Resources []seo.Resource  // each replaces what is known of its address
	Ratings   []seo.Rating    // of pages that were saved before
	Site      *seo.Site       // replaces what is known; nil: as before
	Current   string          // the address that was fetched last; empty: as before
}

// Run makes an audit. Whatever the site is like, there is a result: an error is that of the store or of ctx.
func (a *Auditor) Run(ctx context.Context, t Task) (Result, error) {
	from := t.Report.URL
	if t.Site != nil && t.Site.Start != "" {
		from = t.Site.Start
	}
	start, err := address.Parse(from)
	if err != nil {
		return Result{State: seo.Failed, Start: from, Outcome: seo.Outcome{Failure: sentence("The address cannot be audited: %v", err)}}, nil
	}
	for range maxMoves {
		rec := newRecorder(t, start, a.now)
		end, err := a.crawl(ctx, t, rec)
		var moved movedError
		if !errors.As(err, &moved) {
			if err != nil {
				return Result{}, fmt.Errorf("audit %s: %w", t.Report.URL, err)
			}
			return rec.finish(ctx, end)
		}
		start = moved.to
	}
	return Result{State: seo.Failed, Start: start.URL, Outcome: seo.Outcome{Failure: "The address redirects from one site to another without end."}}, nil
}

// crawl goes through the site until it is done or to be stopped.
func (a *Auditor) crawl(ctx context.Context, t Task, rec *recorder) (crawl.Outcome, error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	if t.Stop != nil {
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			select {
			case <-t.Stop:
				cancel()
			case <-ended:
			}
		}()
	}
	end, err := a.crawler.Crawl(running, rec.job(running))
	if errors.Is(err, context.Canceled) && ctx.Err() == nil { // stopped
		err = nil
	}
	if err != nil {
		return end, err
	}
	return end, rec.flush(ctx)
}

// job is the crawl of a report.
func (r *recorder) job(ctx context.Context) crawl.Job {
	report := &r.task.Report
	job := crawl.Job{
		Start: r.start, Handler: r, Frontier: r,
		Limits: crawl.Limits{Pages: report.MaxPages, Depth: report.MaxDepth, Time: longest},
	}
	job.IgnoreRobots = report.IgnoreRobots && !r.moved() // the site that it moved to may be somebody else's
	if report.Scope == seo.ScopePage {
		job.NoSitemaps = true
	}
	if extra, err := address.Parse(report.Sitemap); err == nil {
		job.Sitemaps = []address.Address{extra}
	}
	if report.Run > 1 {
		job.Validators = func(url string) (etag, modified string) { return r.validators(ctx, url) }
	}
	return job
}

// A movedError says that the start leads to another site.
type movedError struct{ to address.Address }

func (e movedError) Error() string { return "the start redirects to " + e.to.URL }

// randomPath is a path that no site has.
func randomPath() string { return "/" + strings.ToLower(rand.Text()) }

// sentence ends a text as one.
func sentence(format string, parts ...any) string {
	return strings.TrimRight(fmt.Sprintf(format, parts...), ".") + "."
}
