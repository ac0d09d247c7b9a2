package timed

import (
	"context"
	"time"

	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

// Reports implements seo.Reports.
func (c *Catalog) Reports(ctx context.Context, account int64, f seo.ReportFilter, r listing.Request) (_ listing.Page[seo.Report], err error) {
	defer c.begin("Reports").end(&err)
	return c.Catalog.Reports(ctx, account, f, r)
}

// Report implements seo.Reports.
func (c *Catalog) Report(ctx context.Context, account, id int64) (_ seo.Report, err error) {
	defer c.begin("Report").end(&err)
	return c.Catalog.Report(ctx, account, id)
}

// CreateReport implements seo.Reports.
func (c *Catalog) CreateReport(ctx context.Context, r *seo.Report, once *receipt.Receipt) (err error) {
	defer c.begin("CreateReport").end(&err)
	return c.Catalog.CreateReport(ctx, r, once)
}

// UpdateReport implements seo.Reports.
func (c *Catalog) UpdateReport(ctx context.Context, account, id int64, edit func(*seo.Report) error) (_ seo.Report, err error) {
	s := c.begin("UpdateReport")
	defer s.end(&err)
	return c.Catalog.UpdateReport(ctx, account, id, func(r *seo.Report) error { return s.own(edit(r)) })
}

// StopReport implements seo.Reports.
func (c *Catalog) StopReport(ctx context.Context, account, id int64, now time.Time, r *seo.Report, once *receipt.Receipt) (err error) {
	defer c.begin("StopReport").end(&err)
	return c.Catalog.StopReport(ctx, account, id, now, r, once)
}

// DeleteReport implements seo.Reports.
func (c *Catalog) DeleteReport(ctx context.Context, account, id int64, how trash.Deletion) (err error) {
	s := c.begin("DeleteReport")
	defer s.end(&err)
	return c.Catalog.DeleteReport(ctx, account, id, s.watch(how))
}

// RestoreReport implements seo.Reports.
func (c *Catalog) RestoreReport(ctx context.Context, account, id int64, r *seo.Report, once *receipt.Receipt) (err error) {
	defer c.begin("RestoreReport").end(&err)
	return c.Catalog.RestoreReport(ctx, account, id, r, once)
}

// ReportRuns implements seo.Results.
func (c *Catalog) ReportRuns(ctx context.Context, account, report int64, r listing.Request) (_ listing.Page[seo.Run], err error) {
	defer c.begin("ReportRuns").end(&err)
	return c.Catalog.ReportRuns(ctx, account, report, r)
}

// ReportRun implements seo.Results.
func (c *Catalog) ReportRun(ctx context.Context, account int64, run seo.RunRef) (_ seo.Run, err error) {
	defer c.begin("ReportRun").end(&err)
	return c.Catalog.ReportRun(ctx, account, run)
}

// ReportPages implements seo.Results.
func (c *Catalog) ReportPages(ctx context.Context, account int64, run seo.RunRef, f seo.PageFilter, r listing.Request) (_ listing.Page[seo.PageResult], err error) {
	defer c.begin("ReportPages").end(&err)
	return c.Catalog.ReportPages(ctx, account, run, f, r)
}

// ReportFindings implements seo.Results.
func (c *Catalog) ReportFindings(ctx context.Context, account int64, run seo.RunRef, f seo.FindingFilter, r listing.Request) (_ listing.Page[seo.Finding], err error) {
	defer c.begin("ReportFindings").end(&err)
	return c.Catalog.ReportFindings(ctx, account, run, f, r)
}

// EachPage implements seo.Results. The time that each takes is part of it.
func (c *Catalog) EachPage(ctx context.Context, account int64, run seo.RunRef, each func(seo.PageResult) error) (err error) {
	s := c.begin("EachPage")
	defer s.end(&err)
	return c.Catalog.EachPage(ctx, account, run, func(p seo.PageResult) error { return s.own(each(p)) })
}

// EachFinding implements seo.Results. The time that each takes is part of it.
func (c *Catalog) EachFinding(ctx context.Context, account int64, run seo.RunRef, f seo.FindingFilter, each func(seo.Finding) error) (err error) {
	s := c.begin("EachFinding")
	defer s.end(&err)
	return c.Catalog.EachFinding(ctx, account, run, f, func(f seo.Finding) error { return s.own(each(f)) })
}

// CompareRuns implements seo.Results.
func (c *Catalog) CompareRuns(ctx context.Context, account, report int64, from, to int) (_ []seo.Comparison, err error) {
	defer c.begin("CompareRuns").end(&err)
	return c.Catalog.CompareRuns(ctx, account, report, from, to)
}

// ClaimAudit implements seo.Audits.
func (c *Catalog) ClaimAudit(ctx context.Context, owner string, now, until time.Time) (_ seo.Job, err error) {
	defer c.begin("ClaimAudit").end(&err)
	return c.Catalog.ClaimAudit(ctx, owner, now, until)
}

// RenewAudit implements seo.Audits.
func (c *Catalog) RenewAudit(ctx context.Context, l seo.Lease, until time.Time) (_ bool, err error) {
	defer c.begin("RenewAudit").end(&err)
	return c.Catalog.RenewAudit(ctx, l, until)
}

// SaveAudit implements seo.Audits.
func (c *Catalog) SaveAudit(ctx context.Context, l seo.Lease, step seo.Step) (_ seo.Totals, err error) {
	defer c.begin("SaveAudit").end(&err)
	return c.Catalog.SaveAudit(ctx, l, step)
}

// WaitingItems implements seo.Audits.
func (c *Catalog) WaitingItems(ctx context.Context, l seo.Lease, pages bool, most int) (_ []seo.Item, err error) {
	defer c.begin("WaitingItems").end(&err)
	return c.Catalog.WaitingItems(ctx, l, pages, most)
}

// SavedCrawl implements seo.Audits. What reading it takes is not measured.
func (c *Catalog) SavedCrawl(ctx context.Context, l seo.Lease) (_ seo.Crawl, err error) {
	defer c.begin("SavedCrawl").end(&err)
	return c.Catalog.SavedCrawl(ctx, l)
}

// EarlierPage implements seo.Audits.
func (c *Catalog) EarlierPage(ctx context.Context, l seo.Lease, url string) (_ *seo.Page, err error) {
	defer c.begin("EarlierPage").end(&err)
	return c.Catalog.EarlierPage(ctx, l, url)
}

// FinishAudit implements seo.Audits.
func (c *Catalog) FinishAudit(ctx context.Context, l seo.Lease, state seo.State, o seo.Outcome, now time.Time) (err error) {
	defer c.begin("FinishAudit").end(&err)
	return c.Catalog.FinishAudit(ctx, l, state, o, now)
}

// EraseLeftovers implements schedule.Leftovers.
func (c *Catalog) EraseLeftovers(ctx context.Context, limit int) (_ int, err error) {
	defer c.begin("EraseLeftovers").end(&err)
	return c.Catalog.EraseLeftovers(ctx, limit)
}
