package storetest

import (
	"context"

	"sightline/internal/seo"
	"sightline/internal/store"
)

func reportCalls(c store.Catalog, f filled) []call {
	owner := f.account.ID
	return []call{
		{"Reports", func(ctx context.Context) error {
			_, err := c.Reports(ctx, owner, seo.ReportFilter{}, reportRequest())
			return err
		}},
		{"Report", func(ctx context.Context) error { _, err := c.Report(ctx, owner, f.report.ID); return err }},
		{"CreateReport", func(ctx context.Context) error {
			r := seo.NewReport(owner, at(1))
			r.URL, r.Project = "https://example.com", "example.com"
			return c.CreateReport(ctx, &r, newReceipt(owner, "CreateReport"))
		}},
		{"UpdateReport", func(ctx context.Context) error {
			_, err := c.UpdateReport(ctx, owner, f.report.ID, func(r *seo.Report) error { r.Version++; return nil })
			return err
		}},
		{"StopReport", func(ctx context.Context) error {
			var r seo.Report
			return c.StopReport(ctx, owner, f.report.ID, at(9), &r, newReceipt(owner, "StopReport"))
		}},
		{"ClaimAudit", func(ctx context.Context) error { _, err := c.ClaimAudit(ctx, "caller", at(9), at(10)); return err }},
		{"RestoreReport", func(ctx context.Context) error {
			var r seo.Report
			return c.RestoreReport(ctx, owner, f.deletedReport.ID, &r, newReceipt(owner, "RestoreReport"))
		}},
		{"DeleteReport", func(ctx context.Context) error { return c.DeleteReport(ctx, owner, f.report.ID, erase) }},
		{"EraseLeftovers", func(ctx context.Context) error { _, err := c.EraseLeftovers(ctx, 10); return err }},
	}
}

func resultCalls(c store.Catalog, f filled) []call {
	owner, ref := f.account.ID, seo.RunRef{Report: f.report.ID}
	return []call{
		{"ReportRuns", func(ctx context.Context) error {
			_, err := c.ReportRuns(ctx, owner, f.report.ID, pageRequest())
			return err
		}},
		{"ReportRun", func(ctx context.Context) error { _, err := c.ReportRun(ctx, owner, ref); return err }},
		{"ReportPages", func(ctx context.Context) error {
			_, err := c.ReportPages(ctx, owner, ref, seo.PageFilter{}, pagesRequest())
			return err
		}},
		{"ReportFindings", func(ctx context.Context) error {
			_, err := c.ReportFindings(ctx, owner, ref, seo.FindingFilter{}, pageRequest())
			return err
		}},
		{"EachPage", func(ctx context.Context) error {
			return c.EachPage(ctx, owner, ref, func(seo.PageResult) error { return nil })
		}},
		{"EachFinding", func(ctx context.Context) error {
			return c.EachFinding(ctx, owner, ref, seo.FindingFilter{}, func(seo.Finding) error { return nil })
		}},
		{"CompareRuns", func(ctx context.Context) error { _, err := c.CompareRuns(ctx, owner, f.report.ID, 1, 2); return err }},
	}
}

func auditCalls(c store.Catalog, f filled) []call {
	l := f.job.Lease
	return []call{
		{"RenewAudit", func(ctx context.Context) error { _, err := c.RenewAudit(ctx, l, at(2_000_000)); return err }},
		{"SaveAudit", func(ctx context.Context) error { _, err := c.SaveAudit(ctx, l, crawledSite(2)); return err }},
		{"WaitingItems", func(ctx context.Context) error { _, err := c.WaitingItems(ctx, l, true, 10); return err }},
		{"SavedCrawl", func(ctx context.Context) error { _, err := c.SavedCrawl(ctx, l); return err }},
		{"EarlierPage", func(ctx context.Context) error {
			_, err := c.EarlierPage(ctx, l, "https://example.com/000")
			return err
		}},
		{"FinishAudit", func(ctx context.Context) error { return c.FinishAudit(ctx, l, seo.Done, seo.Outcome{}, at(9)) }},
	}
}
