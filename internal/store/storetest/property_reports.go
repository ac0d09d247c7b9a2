package storetest

import (
	"errors"
	"fmt"

	"pgregory.net/rapid"

	"sightline/internal/access"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

// twinJob is a run that both have claimed.
type twinJob struct{ engine, oracle seo.Job }

// reportActions are those around reports and their audits.
func (m *machine) reportActions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"audit claimed":    m.claimAudit,
		"audit claimed 2":  m.claimAudit,
		"audit finished":   m.finishAudit,
		"audit left":       m.eraseLeftovers,
		"audit renewed":    m.renewAudit,
		"audit saved":      m.saveAudit,
		"audit saved 2":    m.saveAudit,
		"create report":    m.createReport,
		"create report 2":  m.createReport,
		"delete report":    m.deleteReport,
		"list reports":     m.listReports,
		"read results":     m.readResults,
		"restore report":   m.restoreReport,
		"update report":    m.updateReport,
		"update report 2":  m.updateReport,
		"stop report":      m.stopReport,
		"restore report 2": m.restoreReport,
	}
}

// emptyQueue ends what the runs before left to do, since a claim is one of all accounts.
func (m *machine) emptyQueue(t *rapid.T) {
	for {
		job, err := m.engine.ClaimAudit(m.ctx, "end", at(1_000_000), at(1_000_001))
		if kind(err) == "not found" {
			return
		}
		if err == nil {
			err = m.engine.FinishAudit(m.ctx, job.Lease, seo.Done, seo.Outcome{}, at(1_000_000))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

var someReportURLs = []string{"https://example.com/a", "https://www.example.com/B", "https://münchen.de", "https://report.example:8443/a'%_"}

func (m *machine) createReport(t *rapid.T) {
	owner, r := m.accounts.any(t, "account"), seo.NewReport(0, someTime(t))
	if err := r.SetURL(draw(t, "url", someReportURLs...)); err != nil {
		t.Fatal(err)
	}
	ours, theirs := r, r
	ours.AccountID, theirs.AccountID = owner.oracle, owner.engine
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	if !agree(t, m.oracle.CreateReport(m.ctx, &ours, ourReceipt), m.engine.CreateReport(m.ctx, &theirs, theirReceipt)) {
		return
	}
	m.reports.add(t, twin{theirs.ID, ours.ID, &owner})
	if m.projects.oracle(theirs.ProjectID) == 0 { // it has made its project
		m.projects.add(t, twin{theirs.ProjectID, ours.ProjectID, &owner})
	}
	equal(t, ours, m.asOracleReport(theirs))
}

// asOracleReport is a report of the engine with the oracle's ids.
func (m *machine) asOracleReport(r seo.Report) seo.Report {
	r.ID, r.AccountID, r.ProjectID = m.reports.oracle(r.ID), m.accounts.oracle(r.AccountID), m.projects.oracle(r.ProjectID)
	return r
}

func (m *machine) updateReport(t *rapid.T) {
	owner, id := m.record(t, m.reports, "report")
	now, change := someTime(t), draw(t, "change", "again", "stop", "public", "password", "nothing", "refused")
	edit := func(r *seo.Report) error {
		return r.Edit(now, func(r *seo.Report) error {
			switch change {
			case "again":
				r.Again(now)
			case "stop":
				r.Stop()
			case "public":
				r.Privacy = access.Public
			case "password":
				r.Privacy = access.Password // which may lack its password
			case "refused":
				return errRefused
			}
			return nil
		})
	}
	want, wantErr := m.oracle.UpdateReport(m.ctx, owner.oracle, id.oracle, edit)
	got, err := m.engine.UpdateReport(m.ctx, owner.engine, id.engine, edit)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleReport(got))
	}
}

func (m *machine) stopReport(t *rapid.T) {
	owner, id := m.record(t, m.reports, "report")
	now := someTime(t)
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	var ours, theirs seo.Report
	wantErr := m.oracle.StopReport(m.ctx, owner.oracle, id.oracle, now, &ours, ourReceipt)
	err := m.engine.StopReport(m.ctx, owner.engine, id.engine, now, &theirs, theirReceipt)
	if agree(t, wantErr, err) {
		equal(t, ours, m.asOracleReport(theirs))
	}
}

func (m *machine) deleteReport(t *rapid.T) {
	owner, id := m.record(t, m.reports, "report")
	how := someDeletion(t)
	agree(t, m.oracle.DeleteReport(m.ctx, owner.oracle, id.oracle, how), m.engine.DeleteReport(m.ctx, owner.engine, id.engine, how))
}

func (m *machine) restoreReport(t *rapid.T) {
	owner, id := m.inTrash(t, trash.Report)
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	var ours, theirs seo.Report
	wantErr := m.oracle.RestoreReport(m.ctx, owner.oracle, id.oracle, &ours, ourReceipt)
	err := m.engine.RestoreReport(m.ctx, owner.engine, id.engine, &theirs, theirReceipt)
	if agree(t, wantErr, err) {
		equal(t, ours, m.asOracleReport(theirs))
	}
}

func (m *machine) listReports(t *rapid.T) {
	owner := m.accounts.any(t, "account")
	for range lists {
		ours, theirs := seo.Ref{}, seo.Ref{}
		if draw(t, "by project", true, false) {
			_, ours, theirs = m.ref(t)
		}
		result := draw(t, "result", "", "", "good", "decent", "bad")
		r := someRequest(t, someReportURLs, []string{seo.SearchByURL}, []string{seo.SortByID, seo.SortByGenerated, seo.SortByURL, seo.SortByScore})
		m.compareReports(t, owner, seo.ReportFilter{Project: ours, Result: result}, seo.ReportFilter{Project: theirs, Result: result}, r)
	}
}

func (m *machine) compareReports(t *rapid.T, owner twin, ours, theirs seo.ReportFilter, r listing.Request) {
	want, wantErr := m.oracle.Reports(m.ctx, owner.oracle, ours, r)
	got, err := m.engine.Reports(m.ctx, owner.engine, theirs, r)
	agree(t, wantErr, err)
	for i, r := range got.Items {
		got.Items[i] = m.asOracleReport(r)
	}
	equal(t, want, got)
}

func (m *machine) claimAudit(t *rapid.T) {
	m.clock++
	owner, now := fmt.Sprintf("run %d, claim %d", m.run, m.clock), rapid.IntRange(3, 60).Draw(t, "now")
	want, wantErr := m.oracle.ClaimAudit(m.ctx, owner, at(now), at(now+20))
	got, err := m.engine.ClaimAudit(m.ctx, owner, at(now), at(now+20))
	if !agree(t, wantErr, err) {
		return
	}
	m.jobs = append(m.jobs, twinJob{got, want})
	equal(t, want.Report, m.asOracleReport(got.Report))
	equal(t, []any{want.Totals, want.Site}, []any{got.Totals, got.Site})
}

// job is one that was claimed, perhaps long ago; at times it is none.
func (m *machine) job(t *rapid.T) twinJob {
	i := rapid.IntRange(0, len(m.jobs)).Draw(t, "job")
	if i == len(m.jobs) {
		return twinJob{}
	}
	return m.jobs[len(m.jobs)-1-i] // rapid prefers small numbers, and the newest is the most interesting
}

// agreeLost is agree for what needs a lease.
func agreeLost(t *rapid.T, want, got error) bool {
	t.Helper()
	if errors.Is(want, seo.ErrLeaseLost) != errors.Is(got, seo.ErrLeaseLost) {
		t.Fatalf("the engine answers %v, want %v", got, want)
	}
	return want == nil && agree(t, want, got)
}

func (m *machine) renewAudit(t *rapid.T) {
	job, until := m.job(t), at(rapid.IntRange(0, 80).Draw(t, "until"))
	want, wantErr := m.oracle.RenewAudit(m.ctx, job.oracle.Lease, until)
	got, err := m.engine.RenewAudit(m.ctx, job.engine.Lease, until)
	if agreeLost(t, wantErr, err) {
		equal(t, want, got)
	}
}

// someStep is a small step over few addresses.
func someStep(t *rapid.T) seo.Step {
	address := rapid.Custom(func(t *rapid.T) string { return "https://example.com/" + draw(t, "name", "a", "b", "c", "d") })
	severities := map[string]seo.Severity{"title.missing": seo.Error, "h1.missing": seo.Warning, "h1.multiple": seo.Notice}
	findings := func(t *rapid.T, page string) (all []seo.Finding) {
		for _, check := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"title.missing", "h1.missing", "h1.multiple"}), 0, 3, rapid.ID).Draw(t, "checks") {
			all = append(all, seo.Finding{Check: check, Page: page, Severity: severities[check], Count: rapid.IntRange(1, 3).Draw(t, "count")})
		}
		return all
	}
	items := rapid.Custom(func(t *rapid.T) seo.Item {
		return seo.Item{URL: address.Draw(t, "url"), Kind: draw(t, "kind", seo.KindPage, seo.KindPage, seo.KindImage, seo.KindAsset),
			Depth: rapid.IntRange(0, 3).Draw(t, "depth"), Unlinked: rapid.Bool().Draw(t, "unlinked"), From: address.Draw(t, "from")}
	})
	s := seo.Step{Found: rapid.SliceOfN(items, 0, 5).Draw(t, "found"), Fetched: rapid.IntRange(0, 2).Draw(t, "fetched"), Cut: draw(t, "cut", "", "", "depth")}
	for _, item := range rapid.SliceOfN(items, 0, 2).Draw(t, "done") {
		s.Done = append(s.Done, seo.ItemKey{URL: item.URL, Kind: item.Kind})
	}
	for _, url := range rapid.SliceOfN(address, 0, 3).Draw(t, "pages") {
		p := facts(url, draw(t, "status", 200, 404))
		s.Pages = append(s.Pages, seo.PageFacts{Page: p, Findings: findings(t, url)})
		s.Resources = append(s.Resources, seo.Resource{URL: url, Status: p.Status})
	}
	for _, url := range rapid.SliceOfN(address, 0, 2).Draw(t, "ratings") {
		s.Ratings = append(s.Ratings, seo.Rating{URL: url, Score: seo.PageScore{Passed: 1, Applicable: 2, Counted: rapid.Bool().Draw(t, "counted"), Value: 50}, Findings: findings(t, url)})
	}
	return s
}

func (m *machine) saveAudit(t *rapid.T) {
	job, step := m.job(t), someStep(t)
	want, wantErr := m.oracle.SaveAudit(m.ctx, job.oracle.Lease, step)
	got, err := m.engine.SaveAudit(m.ctx, job.engine.Lease, step)
	if !agreeLost(t, wantErr, err) {
		return
	}
	equal(t, want, got)
	for _, pages := range []bool{true, false} {
		most := rapid.IntRange(1, 5).Draw(t, "most")
		wantItems, wantErr := m.oracle.WaitingItems(m.ctx, job.oracle.Lease, pages, most)
		items, err := m.engine.WaitingItems(m.ctx, job.engine.Lease, pages, most)
		agree(t, wantErr, err)
		equal(t, wantItems, items)
	}
}

func (m *machine) finishAudit(t *rapid.T) {
	job, now := m.job(t), at(rapid.IntRange(3, 9).Draw(t, "now"))
	state := draw(t, "state", seo.Done, seo.Done, seo.Failed, seo.Stopped)
	outcome := seo.Outcome{Score: draw(t, "score", nil, score(0), score(55), score(100)), Pages: 3}
	agreeLost(t, m.oracle.FinishAudit(m.ctx, job.oracle.Lease, state, outcome, now), m.engine.FinishAudit(m.ctx, job.engine.Lease, state, outcome, now))
}

// eraseLeftovers must not be seen by anybody. How many rows an engine has is its own affair.
func (m *machine) eraseLeftovers(t *rapid.T) {
	limit := rapid.IntRange(1, 20).Draw(t, "limit")
	_, wantErr := m.oracle.EraseLeftovers(m.ctx, limit)
	_, err := m.engine.EraseLeftovers(m.ctx, limit)
	agree(t, wantErr, err)
}

// readResults compares what a run of a report found, and two of its runs.
func (m *machine) readResults(t *rapid.T) {
	owner, id := m.record(t, m.reports, "report")
	number, other := rapid.IntRange(0, 3).Draw(t, "run"), rapid.IntRange(1, 3).Draw(t, "other run")
	ours, theirs := seo.RunRef{Report: id.oracle, Number: number}, seo.RunRef{Report: id.engine, Number: number}
	r := somePage(t)
	wantRuns, wantErr := m.oracle.ReportRuns(m.ctx, owner.oracle, id.oracle, r)
	runs, err := m.engine.ReportRuns(m.ctx, owner.engine, id.engine, r)
	agree(t, wantErr, err)
	equal(t, wantRuns, runs)
	r.SortBy, r.Desc = draw(t, "sort by", seo.SortPagesByURL, seo.SortPagesByScore), rapid.Bool().Draw(t, "descending")
	filter := seo.PageFilter{Class: draw(t, "class", "", seo.PageOK, seo.PageBroken)}
	wantPages, wantErr := m.oracle.ReportPages(m.ctx, owner.oracle, ours, filter, r)
	pages, err := m.engine.ReportPages(m.ctx, owner.engine, theirs, filter, r)
	agree(t, wantErr, err)
	equal(t, wantPages, pages)
	findings := seo.FindingFilter{Check: draw(t, "check", "", "h1.missing"), Severity: draw(t, "severity", "", seo.Error, seo.Warning), Page: draw(t, "page", "", "https://example.com/a")}
	wantFindings, wantErr := m.oracle.ReportFindings(m.ctx, owner.oracle, ours, findings, r)
	got, err := m.engine.ReportFindings(m.ctx, owner.engine, theirs, findings, r)
	agree(t, wantErr, err)
	equal(t, wantFindings, got)
	wantChanges, wantErr := m.oracle.CompareRuns(m.ctx, owner.oracle, id.oracle, number, other)
	changes, err := m.engine.CompareRuns(m.ctx, owner.engine, id.engine, number, other)
	agree(t, wantErr, err)
	equal(t, wantChanges, changes)
}
