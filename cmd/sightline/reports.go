package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"sightline/client"
	"sightline/internal/audit/export"
	"sightline/internal/check"
	"sightline/internal/seo"
)

// ReportsCmd is sightline reports.
type ReportsCmd struct {
	List    ReportsListCmd    `cmd:"" help:"List the reports."`
	Get     ReportsGetCmd     `cmd:"" help:"Show a report and what fails."`
	Create  ReportsCreateCmd  `cmd:"" help:"Have a page or a site audited."`
	Watch   ReportsWatchCmd   `cmd:"" help:"Show how far an audit is until it ends."`
	Stop    ReportsStopCmd    `cmd:"" help:"End an audit with what it has found so far."`
	Delete  ReportsDeleteCmd  `cmd:"" help:"Move a report into the trash."`
	Restore ReportsRestoreCmd `cmd:"" help:"Bring a report back from the trash."`
}

// ReportsListCmd is sightline reports list.
type ReportsListCmd struct {
	ListFlags
	Project string `placeholder:"NAME" help:"Only those of a project, by its name or number."`
	Result  string `placeholder:"RESULT" help:"Only those that are good, decent or bad."`
}

// Run lists reports.
func (c *ReportsListCmd) Run(ctx context.Context, term *terminal) error {
	of := func(o client.ListOptions) client.ReportOptions {
		return client.ReportOptions{ListOptions: o, Project: c.Project, Result: c.Result}
	}
	return list[client.Report]{
		plural: "reports",
		page: func(api *client.Client, ctx context.Context, o client.ListOptions) (client.Page[client.Report], error) {
			return api.Reports(ctx, of(o))
		},
		all: func(api *client.Client, ctx context.Context, o client.ListOptions) iter.Seq2[client.Report, error] {
			return api.AllReports(ctx, of(o))
		},
		raw:   func(r client.Report) json.RawMessage { return r.Raw },
		heads: []string{"ID", "URL", "STATE", "SCORE", "ERRORS", "WARNINGS", "NOTICES", "PAGES", "AUDITED"},
		row: func(r client.Report) []string {
			return []string{strconv.FormatInt(r.ID, 10), printable(r.URL), printable(r.State), reportScore(r), strconv.Itoa(r.Issues.Error), strconv.Itoa(r.Issues.Warning),
				strconv.Itoa(r.Issues.Notice), strconv.Itoa(r.Pages), dateText(r.GeneratedAt)}
		},
	}.show(ctx, term, &c.ListFlags)
}

func reportScore(r client.Report) string {
	if r.Score == nil {
		return "-"
	}
	return fmt.Sprintf("%d (%s)", *r.Score, printable(r.Result))
}

// ReportArgument names a report of the server.
type ReportArgument struct {
	ID int64 `arg:"" help:"The report's number in sightline reports list."`
}

// ReportsGetCmd is sightline reports get.
type ReportsGetCmd struct {
	RemoteFlags
	ReportArgument
}

// Run shows a report.
func (c *ReportsGetCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		report, err := api.Report(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("report %d: %w", c.ID, err)
		}
		return c.show(term, report)
	})
}

// show writes a report with the checks that it fails.
func (f *RemoteFlags) show(term *terminal, r client.Report) error {
	if f.JSON {
		return writeJSON(term.stdout, r.Raw)
	}
	rows := [][]string{
		{"id", strconv.FormatInt(r.ID, 10)},
		{"url", printable(r.URL)},
		{"project", printable(r.Project)},
		{"scope", printable(r.Scope)},
		{"state", printable(r.State)},
		{"score", reportScore(r)},
		{"findings", fmt.Sprintf("%s, %s, %s", export.Number(r.Issues.Error, "error"), export.Number(r.Issues.Warning, "warning"), export.Number(r.Issues.Notice, "notice"))},
		{"pages", strconv.Itoa(r.Pages)},
		{"audited", timeText(r.GeneratedAt)},
	}
	for _, row := range [][]string{{"stopped by", printable(r.StoppedBy)}, {"failure", printable(r.Failure)}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if err := writeColumns(term.stdout, rows, 0); err != nil {
		return err
	}
	failed := failedChecks(r)
	if len(failed) == 1 {
		return nil
	}
	fmt.Fprintln(term.stdout)
	return writeTable(term.stdout, failed)
}

// failedChecks lists the checks that a report fails, the worst first, below a heading.
func failedChecks(r client.Report) [][]string {
	titles := map[string]string{}
	for _, row := range check.Table() {
		titles[row.ID] = row.Title
	}
	ids := slices.SortedFunc(maps.Keys(r.Results), func(a, b string) int {
		x, y := r.Results[a], r.Results[b]
		if by := seo.Severity(x.Severity).Rank() - seo.Severity(y.Severity).Rank(); by != 0 {
			return by
		}
		if x.Points != y.Points {
			return int(10 * (y.Points - x.Points))
		}
		return cmp.Or(y.Findings-x.Findings, cmp.Compare(a, b))
	})
	rows := [][]string{{"SEVERITY", "CHECK", "WHAT", "PAGES", "POINTS"}}
	for _, id := range ids {
		if c := r.Results[id]; !c.Passed {
			rows = append(rows, []string{printable(c.Severity), printable(id), titles[id], strconv.Itoa(c.Findings), export.Points(c.Points)})
		}
	}
	return rows
}

// ReportsCreateCmd is sightline reports create.
type ReportsCreateCmd struct {
	RemoteFlags
	URL          string `arg:"" help:"The page to audit."`
	Site         bool   `help:"Audit all pages of the site that can be found from there."`
	MaxPages     int    `name:"max-pages" placeholder:"N" help:"Pages to audit at most, with --site; 500 if left out."`
	MaxDepth     int    `name:"max-depth" placeholder:"N" help:"Clicks from the start at most, with --site; without limit if left out."`
	Sitemap      string `placeholder:"URL" help:"Audit the pages of this sitemap too, with --site."`
	IgnoreRobots bool   `name:"ignore-robots" help:"Audit what robots.txt disallows too: of a host that is a website of the account."`
	Wait         bool   `help:"Show how far the audit is until it ends."`
}

// Run has a page or a site audited.
func (c *ReportsCreateCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		what := client.NewReport{URL: c.URL, MaxPages: c.MaxPages, MaxDepth: c.MaxDepth, Sitemap: c.Sitemap, IgnoreRobots: c.IgnoreRobots}
		if c.Site {
			what.Scope = "site"
		}
		report, err := api.CreateReport(ctx, what)
		if err != nil {
			return err
		}
		if c.Wait {
			return c.watch(ctx, term, api, report)
		}
		if c.JSON {
			return writeJSON(term.stdout, report.Raw)
		}
		_, err = fmt.Fprintf(term.stdout, "Report %d (%s) is queued. This shows how far it is: sightline reports watch %d\n", report.ID, printable(report.URL), report.ID)
		return err
	})
}

// ReportsWatchCmd is sightline reports watch.
type ReportsWatchCmd struct {
	RemoteFlags
	ReportArgument
}

// Run shows how far an audit is until it ends, and then what it found.
func (c *ReportsWatchCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		report, err := api.Report(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("report %d: %w", c.ID, err)
		}
		return c.watch(ctx, term, api, report)
	})
}

// watch reads a report until its audit ends: every second for a terminal, else as seldom as the server lets us wait.
func (f *RemoteFlags) watch(ctx context.Context, term *terminal, api *client.Client, report client.Report) error {
	progress := newAuditProgress(term)
	wait := time.Minute
	if progress.live {
		wait = time.Second
	}
	for !report.Ended() {
		progress.note(seo.Progress{Done: report.Progress.Done, Found: report.Progress.Found, Current: report.Progress.Current})
		later, err := api.AwaitReport(ctx, report.ID, wait)
		if err != nil {
			progress.end()
			return fmt.Errorf("report %d: %w", report.ID, err)
		}
		report = later
	}
	progress.end()
	if err := f.show(term, report); err != nil {
		return err
	}
	if report.State == "failed" {
		return errors.New(printable(report.Failure))
	}
	return nil
}

// ReportsDeleteCmd is sightline reports delete.
type ReportsDeleteCmd struct {
	RemoteFlags
	ReportArgument
}

// Run moves a report into the trash.
func (c *ReportsDeleteCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		gone, err := api.DeleteReport(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("report %d: %w", c.ID, err)
		}
		if c.JSON {
			return writeJSON(term.stdout, gone)
		}
		_, err = fmt.Fprintf(term.stdout, "Report %d is deleted. While it is in the trash, this brings it back: sightline reports restore %d\n", gone.ID, gone.ID)
		return err
	})
}

// ReportsRestoreCmd is sightline reports restore.
type ReportsRestoreCmd struct {
	RemoteFlags
	ID int64 `arg:"" help:"The number that the report had."`
}

// Run brings a report back.
func (c *ReportsRestoreCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		report, err := api.RestoreReport(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("report %d in the trash: %w", c.ID, err)
		}
		return c.show(term, report)
	})
}

// ReportsStopCmd is sightline reports stop.
type ReportsStopCmd struct {
	RemoteFlags
	ReportArgument
}

// Run ends an audit.
func (c *ReportsStopCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		report, err := api.StopReport(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("report %d: %w", c.ID, err)
		}
		return c.show(term, report)
	})
}

// Help is shown by sightline reports --help.
func (*ReportsCmd) Help() string {
	return `These commands call a running server, near or far, with an API key of the account. To audit without a server: sightline audit.

Examples:

    export SIGHTLINE_API_KEY=…
    sightline reports create https://example.com --site --wait
    sightline reports list --project example.com`
}

// Help is shown by sightline reports list --help.
func (*ReportsListCmd) Help() string {
	return `Newest first, unless --sort or --sort-by (id, generated_at, url or score) say otherwise. --json prints the records as a JSON array.

Examples:

    sightline reports list
    sightline reports list --project example.com --result bad
    sightline reports list --sort-by score --sort asc --all --json`
}

// Help is shown by sightline reports get --help.
func (*ReportsGetCmd) Help() string {
	return `POINTS says by how much the score rises when a check is fixed on all pages.

Examples:

    sightline reports get 7
    sightline reports get 7 --json`
}

// Help is shown by sightline reports create --help.
func (*ReportsCreateCmd) Help() string {
	return `The server makes the audit. It reaches the public web only, unless it was started with --allow-private-targets.

Examples:

    sightline reports create https://example.com
    sightline reports create https://example.com --site --max-pages 2000 --wait`
}

// Help is shown by sightline reports watch --help.
func (*ReportsWatchCmd) Help() string {
	return `Exits with 1 when there was nothing to rate.

Examples:

    sightline reports watch 7`
}

// Help is shown by sightline reports delete --help.
func (*ReportsDeleteCmd) Help() string {
	return `Does not ask. The server keeps deleted reports in its trash for some days; the project stays.

Examples:

    sightline reports delete 7
    sightline reports restore 7`
}

// Help is shown by sightline reports stop --help.
func (*ReportsStopCmd) Help() string {
	return `The server rates what it has; that can take a moment, which sightline reports watch waits for.

Examples:

    sightline reports stop 7`
}

// Help is shown by sightline reports restore --help.
func (*ReportsRestoreCmd) Help() string {
	return `One that was deleted with its project comes back with that: sightline projects restore.

Examples:

    sightline reports restore 7`
}
