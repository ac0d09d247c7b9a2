package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/seo"
)

// readRun is a run of an account's report.
func (db *DB) readRun(account int64, ref seo.RunRef) (*run, error) {
	r, err := db.findReport(account, ref.Report)
	if err != nil {
		return nil, err
	}
	if found := db.runOf(r.ID, cmp.Or(ref.Number, db.lastEnded(r.ID), r.Run)); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("run %d of report %d: %w", ref.Number, ref.Report, fault.NotFound)
}

// lastEnded is the number of the newest run of a report that ended; 0 while none has.
func (db *DB) lastEnded(report int64) (number int) {
	for i := range db.runs {
		if r := &db.runs[i]; r.report == report && !r.EndedAt.IsZero() {
			number = max(number, r.Number)
		}
	}
	return number
}

// ReportRuns implements seo.Results.
func (db *DB) ReportRuns(ctx context.Context, account, report int64, r listing.Request) (listing.Page[seo.Run], error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return listing.Page[seo.Run]{}, err
	}
	defer unlock()
	if _, err := db.findReport(account, report); err != nil {
		return listing.Page[seo.Run]{}, err
	}
	var runs []seo.Run
	for _, one := range db.runs {
		if one.report == report {
			runs = append(runs, keptRun(one.Run))
		}
	}
	return onePage(runs, listing.Request{Page: r.Page, PerPage: r.PerPage, Desc: true}, func(a, b seo.Run) int { return cmp.Compare(a.Number, b.Number) }), nil
}

// ReportRun implements seo.Results.
func (db *DB) ReportRun(ctx context.Context, account int64, ref seo.RunRef) (seo.Run, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return seo.Run{}, err
	}
	defer unlock()
	r, err := db.readRun(account, ref)
	if err != nil {
		return seo.Run{}, err
	}
	return keptRun(r.Run), nil
}

// keptRun is a run that shares no memory with r.
func keptRun(r seo.Run) seo.Run {
	r.Outcome = keptOutcome(r.Outcome)
	return r
}

// ReportPages implements seo.Results.
func (db *DB) ReportPages(ctx context.Context, account int64, ref seo.RunRef, f seo.PageFilter, r listing.Request) (listing.Page[seo.PageResult], error) {
	all, err := db.pageResults(ctx, account, ref)
	if err != nil {
		return listing.Page[seo.PageResult]{}, err
	}
	all = slices.DeleteFunc(all, func(p seo.PageResult) bool {
		return f.Class != "" && p.Class() != f.Class || !strings.Contains(p.URL, r.Search)
	})
	return onePage(all, r, func(a, b seo.PageResult) int {
		if r.SortBy == seo.SortPagesByScore {
			return cmp.Or(cmp.Compare(a.Score.Ranked(), b.Score.Ranked()), cmp.Compare(a.URL, b.URL))
		}
		return cmp.Compare(a.URL, b.URL)
	}), nil
}

// pageResults are all pages of a run by address.
func (db *DB) pageResults(ctx context.Context, account int64, ref seo.RunRef) ([]seo.PageResult, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	run, err := db.readRun(account, ref)
	if err != nil {
		return nil, err
	}
	var all []seo.PageResult
	for _, one := range run.pages {
		p, err := seo.UnpackPage(one.facts)
		if err != nil {
			return nil, err
		}
		findings := 0
		for _, f := range run.findings {
			if f.Page == one.url {
				findings++
			}
		}
		all = append(all, seo.PageResult{Page: p, Score: one.score, Findings: findings})
	}
	slices.SortFunc(all, func(a, b seo.PageResult) int { return cmp.Compare(a.URL, b.URL) })
	return all, nil
}

// EachPage implements seo.Results.
func (db *DB) EachPage(ctx context.Context, account int64, ref seo.RunRef, each func(seo.PageResult) error) error {
	all, err := db.pageResults(ctx, account, ref)
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// ReportFindings implements seo.Results.
func (db *DB) ReportFindings(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter, r listing.Request) (listing.Page[seo.Finding], error) {
	all, err := db.someFindings(ctx, account, ref, f)
	if err != nil {
		return listing.Page[seo.Finding]{}, err
	}
	return onePage(all, listing.Request{Page: r.Page, PerPage: r.PerPage}, byFinding), nil
}

// byFinding orders findings: the worst first, then by check and page.
func byFinding(a, b seo.Finding) int {
	return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Page, b.Page))
}

// someFindings are the findings of a run that a filter lets through, in order.
func (db *DB) someFindings(ctx context.Context, account int64, ref seo.RunRef, filter seo.FindingFilter) ([]seo.Finding, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	run, err := db.readRun(account, ref)
	if err != nil {
		return nil, err
	}
	var all []seo.Finding
	for _, f := range run.findings {
		wanted := seo.FindingFilter{Check: cmp.Or(filter.Check, f.Check), Severity: cmp.Or(filter.Severity, f.Severity), Page: cmp.Or(filter.Page, f.Page)}
		if wanted == (seo.FindingFilter{Check: f.Check, Severity: f.Severity, Page: f.Page}) {
			all = append(all, kept(f))
		}
	}
	slices.SortFunc(all, byFinding)
	return all, nil
}

// EachFinding implements seo.Results.
func (db *DB) EachFinding(ctx context.Context, account int64, ref seo.RunRef, filter seo.FindingFilter, each func(seo.Finding) error) error {
	all, err := db.someFindings(ctx, account, ref, filter)
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// CompareRuns implements seo.Results.
func (db *DB) CompareRuns(ctx context.Context, account, report int64, from, to int) ([]seo.Comparison, error) {
	before, err := db.someFindings(ctx, account, seo.RunRef{Report: report, Number: from}, seo.FindingFilter{})
	if err != nil {
		return nil, err
	}
	after, err := db.someFindings(ctx, account, seo.RunRef{Report: report, Number: to}, seo.FindingFilter{})
	if err != nil {
		return nil, err
	}
	all := map[string]*seo.Comparison{}
	has := func(findings []seo.Finding, f seo.Finding) bool {
		return slices.ContainsFunc(findings, func(other seo.Finding) bool { return other.Check == f.Check && other.Page == f.Page })
	}
	for _, f := range append(slices.Clone(after), before...) {
		c := all[f.Check]
		if c == nil {
			c = &seo.Comparison{Check: f.Check, Severity: f.Severity}
			all[f.Check] = c
		}
		switch was, is := has(before, f), has(after, f); {
		case !was:
			c.New++
			c.NewPages = append(c.NewPages, f.Page)
		case !is:
			c.Fixed++
			c.FixedPages = append(c.FixedPages, f.Page)
		default:
			c.Open++ // in both lists
		}
	}
	var comparisons []seo.Comparison
	for _, c := range all {
		c.Open /= 2
		c.NewPages, c.FixedPages = first(c.NewPages), first(c.FixedPages)
		comparisons = append(comparisons, *c)
	}
	slices.SortFunc(comparisons, func(a, b seo.Comparison) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(a.Check, b.Check))
	})
	return comparisons, nil
}

// first is as many pages as a comparison names.
func first(pages []string) []string {
	return pages[:min(len(pages), seo.ComparedPages)]
}
