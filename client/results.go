package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A ReportPage is a page that an audit knows.
type ReportPage struct {
	URL         string    `json:"url"`
	Class       string    `json:"class"`   // ok, redirect, broken or disallowed
	Status      int       `json:"status"`  // 0: there was no answer
	Failure     string    `json:"failure"` // the kind of trouble that kept it from answering
	Reason      string    `json:"reason"`  // the same in words
	RedirectsTo string    `json:"redirects_to"`
	Depth       int       `json:"depth"` // clicks from the start
	FoundFrom   string    `json:"found_from"`
	Title       string    `json:"title"`
	Words       int       `json:"words"`
	Size        int       `json:"size"` // bytes
	FirstByte   int       `json:"first_byte_ms"`
	Indexable   bool      `json:"indexable"`
	Score       *int      `json:"score"`    // nil: it does not count
	Findings    int       `json:"findings"` // how many checks it fails
	FetchedAt   time.Time `json:"fetched_at"`
}

// A Finding is one check that one page fails.
type Finding struct {
	Check    string   `json:"check"`
	Severity string   `json:"severity"` // error, warning or notice
	Page     string   `json:"page"`
	Value    string   `json:"value"` // what was measured
	Count    int      `json:"count"` // how often the page shows the defect
	Evidence []string `json:"evidence"`
	Points   int      `json:"points"` // what the page gets back when it is fixed
}

// A Run is one audit of a report.
type Run struct {
	Number    int       `json:"run"`
	State     string    `json:"state"`
	QueuedAt  time.Time `json:"queued_at"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
	Outcome
}

// A CheckChange is what changed in one check from one run to another.
type CheckChange struct {
	Check      string   `json:"check"`
	Severity   string   `json:"severity"`
	New        int      `json:"new"` // pages
	Fixed      int      `json:"fixed"`
	Open       int      `json:"open"`
	NewPages   []string `json:"new_pages"` // the first ten
	FixedPages []string `json:"fixed_pages"`
}

// PagesOptions say which pages of an audit a list shall hold.
type PagesOptions struct {
	ListOptions
	Class string // ok, redirect, broken or disallowed; empty: all
	Run   int    // 0: the newest
}

// FindingOptions say which findings of an audit a list shall hold.
type FindingOptions struct {
	PageOptions
	Check    string
	Severity string
	URL      string // of the page
	Run      int    // 0: the newest
}

// with adds what is not empty.
func with(query url.Values, run int, texts map[string]string) url.Values {
	if run != 0 {
		query.Set("run", strconv.Itoa(run))
	}
	for name, value := range texts {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// ReportPages lists one page of the pages of an audit.
func (c *Client) ReportPages(ctx context.Context, id int64, o PagesOptions) (Page[ReportPage], error) {
	return page[ReportPage](ctx, c, SEO, reportPath(id)+"/pages", with(o.values(), o.Run, map[string]string{"class": o.Class}))
}

// Findings lists one page of the findings of an audit: errors, then warnings, then notices.
func (c *Client) Findings(ctx context.Context, id int64, o FindingOptions) (Page[Finding], error) {
	query := with(o.values(), o.Run, map[string]string{"check": o.Check, "severity": o.Severity, "url": o.URL})
	return page[Finding](ctx, c, SEO, reportPath(id)+"/findings", query)
}

// AllFindings lists the findings on all pages, from o.Page on. An error ends it.
func (c *Client) AllFindings(ctx context.Context, id int64, o FindingOptions) iter.Seq2[Finding, error] {
	return all(o.PageOptions, func(p PageOptions) (Page[Finding], error) {
		o.PageOptions = p
		return c.Findings(ctx, id, o)
	})
}

// Runs lists one page of the audits of a report, the newest first.
func (c *Client) Runs(ctx context.Context, id int64, o PageOptions) (Page[Run], error) {
	return page[Run](ctx, c, SEO, reportPath(id)+"/runs", o.values())
}

// CompareRuns says what changed from one audit of a report to another.
func (c *Client) CompareRuns(ctx context.Context, id int64, from, to int) ([]CheckChange, error) {
	var body struct{ Data []CheckChange }
	_, err := c.do(ctx, call{area: SEO, method: http.MethodGet, path: fmt.Sprintf("%s/runs/%d/compare/%d", reportPath(id), from, to)}, &body)
	return body.Data, err
}

// ExportReport writes an audit as a file: csv, json, sarif or sitemap. Run 0 is the newest.
func (c *Client) ExportReport(ctx context.Context, id int64, run int, format string, w io.Writer) error {
	a, err := c.send(ctx, call{area: SEO, method: http.MethodGet, path: reportPath(id) + "/export", query: with(url.Values{"format": {format}}, run, nil)})
	if err != nil {
		return err
	}
	_, err = w.Write(a.body)
	return err
}
