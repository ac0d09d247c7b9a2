package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sightline/internal/audit"
	"sightline/internal/audit/export"
	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
	"sightline/internal/seo"
)

// AuditCmd is sightline audit.
type AuditCmd struct {
	URL          string `arg:"" help:"The page to audit, such as https://example.com or http://localhost:3000."`
	Site         bool   `help:"Audit all pages of the site that can be found from there."`
	MaxPages     int    `name:"max-pages" placeholder:"N" help:"Pages to audit at most, with --site; 500 if left out."`
	MaxDepth     int    `name:"max-depth" placeholder:"N" help:"Clicks from the start at most, with --site; without limit if left out."`
	Sitemap      string `placeholder:"URL" help:"Audit the pages of this sitemap too, with --site."`
	IgnoreRobots bool   `name:"ignore-robots" help:"Audit what robots.txt disallows too: for sites of your own."`
	Rate         int    `default:"5" placeholder:"N" help:"Requests per second to one host; 0 for as many as it takes."`
	FailOn       string `name:"fail-on" enum:",error,warning,notice" default:"" placeholder:"SEVERITY" help:"Exit with 1 when something as bad is found: error, warning or notice."`
	Format       string `enum:"table,json,html,sarif" default:"table" placeholder:"FORMAT" help:"table, json, html or sarif."`
	Output       string `placeholder:"FILE" help:"Write to a file instead of standard output."`
}

// Help is shown by sightline audit --help.
func (*AuditCmd) Help() string {
	return `Needs no server and no database. It may reach what you can reach, also http://localhost, keeps to robots.txt unless
--ignore-robots says otherwise, and asks each host for no more than 5 things in a second (--rate). Ctrl-C ends it with what was found so far.

Exits with 0 when all is well, with 1 when --fail-on finds something or there is nothing to rate, with 2 when the
command is written wrongly.

Examples:

    sightline audit https://example.com
    sightline audit https://example.com --site --max-pages 2000
    sightline audit http://localhost:3000 --site --rate 0 --fail-on error
    sightline audit https://example.com --site --format html --output report.html
    sightline audit https://example.com --site --format sarif > audit.sarif`
}

// Run audits a page or a site.
func (c *AuditCmd) Run(ctx context.Context, term *terminal) (err error) {
	report, err := c.report(term.now())
	if err != nil {
		return usage(err)
	}
	client := guard.New(guard.Options{Rules: guard.Rules{Unguarded: true}, Agent: userAgent()})
	defer client.Close()
	progress := newAuditProgress(term)
	found := audit.NewScratch()
	defer func() { err = errors.Join(err, found.Close()) }()
	began := term.now()
	result, err := audit.New(crawl.New(client, c.manners()), term.now).Run(context.WithoutCancel(ctx),
		audit.Task{Report: report, Store: found, Stop: ctx.Done(), Progress: progress.note})
	progress.end()
	if err != nil {
		return err
	}
	finished := &export.Audit{URL: result.Start, Scope: report.Scope, State: result.State, EndedAt: term.now(), Outcome: result.Outcome,
		Pages: found.Pages(context.WithoutCancel(ctx)), Findings: found.Findings()}
	if err := c.write(term.stdout, finished, term.now().Sub(began)); err != nil {
		return err
	}
	return c.verdict(result)
}

// report is what the flags ask for.
func (c *AuditCmd) report(now time.Time) (seo.Report, error) {
	r := seo.NewReport(0, now)
	if err := r.SetURL(c.URL); err != nil {
		return r, err
	}
	if !c.Site && (c.MaxPages != 0 || c.MaxDepth != 0 || c.Sitemap != "") {
		return r, errors.New("--max-pages, --max-depth and --sitemap need --site")
	}
	if c.Site {
		r.SetScope(seo.ScopeSite)
	}
	if c.MaxPages != 0 {
		r.MaxPages = c.MaxPages
	}
	r.MaxDepth, r.IgnoreRobots = c.MaxDepth, c.IgnoreRobots
	if c.Sitemap != "" {
		if err := r.SetSitemap(c.Sitemap); err != nil {
			return r, err
		}
	}
	if r.MaxPages < 1 || r.MaxPages > seo.MaxPages {
		return r, fmt.Errorf("--max-pages must be from 1 to %d", seo.MaxPages)
	}
	if r.MaxDepth < 0 || r.MaxDepth > seo.MaxDepth {
		return r, fmt.Errorf("--max-depth must be from 1 to %d", seo.MaxDepth)
	}
	if c.Rate < 0 || c.Rate > maxRate {
		return r, fmt.Errorf("--rate must be from 0 to %d", maxRate)
	}
	return r, nil
}

// maxRate is the most requests per second that a person can ask for by number.
const maxRate = 1000

// manners are how fast hosts are asked.
func (c *AuditCmd) manners() crawl.Manners {
	if c.Rate == 0 {
		return crawl.Manners{Connections: 8, PerSecond: -1}
	}
	return crawl.Manners{PerSecond: float64(c.Rate)}
}

// write writes the audit in the format, to the file or to standard output.
func (c *AuditCmd) write(stdout io.Writer, a *export.Audit, took time.Duration) (err error) {
	w := stdout
	if c.Output != "" {
		file, failed := os.Create(c.Output)
		if failed != nil {
			return fmt.Errorf("write the report: %w", failed)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = file
	}
	switch c.Format {
	case "json":
		return export.JSON.Write(w, a)
	case "html":
		return export.HTML.Write(w, a)
	case "sarif":
		return export.SARIF.Write(w, a)
	}
	return writeAudit(w, a, took)
}

// verdict is the error that the program exits with; nil if all is well.
func (c *AuditCmd) verdict(result audit.Result) error {
	if result.Failure != "" {
		return errors.New(result.Failure)
	}
	bad, word := result.Issues.Errors, "error"
	switch c.FailOn {
	case "":
		return nil
	case "warning":
		bad, word = bad+result.Issues.Warnings, "error or warning"
	case "notice":
		bad, word = bad+result.Issues.Warnings+result.Issues.Notices, "finding"
	}
	if bad == 0 && result.State == seo.Stopped {
		return errors.New("the audit was stopped before its end, so it cannot tell that all is well")
	}
	if bad == 0 {
		return nil
	}
	if bad > 1 {
		word = map[string]string{"error": "errors", "error or warning": "errors and warnings", "finding": "findings"}[word]
	}
	return fmt.Errorf("%d %s, and --fail-on is %s", bad, word, c.FailOn)
}

// userAgent is what the program calls itself to other servers.
func userAgent() string {
	return crawl.Agent + "/" + buildVersion() + " (site audit; robots.txt is heeded as " + crawl.Agent + ")"
}
