package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sightline/internal/fault"
	"sightline/internal/seo"
	"sightline/internal/store"
)

var auditContracts = []contract{
	{"a run is claimed, and shows in its report", auditClaimed},
	{"many workers at once take each run once", auditClaimRace},
	{"the account with the fewest runs comes first", auditFairness},
	{"a run whose owner is dead is taken over", auditTakeOver},
	{"a lease is renewed, and given back", auditRenew},
	{"a run is stopped", auditStop},
	{"who has lost a lease writes nothing", auditLost},
	{"a run ends with its outcome", auditFinish},
	{"a report runs again, and keeps its newest runs", auditAgain},
	{"a deleted report is not audited until it comes back", auditDeleted},
	{"what runs leave is erased bit by bit", auditLeftovers},
}

// claim takes on the next run at some second for ten seconds.
func claim(t *testing.T, c store.Catalog, seconds int) seo.Job {
	t.Helper()
	return must(c.ClaimAudit(t.Context(), fmt.Sprintf("owner at %d", seconds), at(seconds), at(seconds+10)))(t)
}

// wantNoClaim demands that there is nothing to do.
func wantNoClaim(t *testing.T, c store.Catalog, seconds int) {
	t.Helper()
	_, err := c.ClaimAudit(t.Context(), "nobody", at(seconds), at(seconds+10))
	wantNotFound(t, "a claim without a run", err)
}

// finishNext claims the next run and ends it.
func finishNext(t *testing.T, c store.Catalog, o seo.Outcome, seconds int) seo.Job {
	t.Helper()
	job, state := claim(t, c, seconds), seo.Done
	if o.Failure != "" {
		state = seo.Failed
	}
	ok(t, c.FinishAudit(t.Context(), job.Lease, state, o, at(seconds)))
	return job
}

func auditClaimed(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	wantNoClaim(t, c, 0)
	r := newReport(t, c, owner, "https://example.com", 0)
	job := claim(t, c, 5)
	r.State, r.Version = seo.Running, 2
	same(t, "the report of the job", r, job.Report)
	same(t, "the report", r, readReport(t, c, r))
	same(t, "the lease", seo.Lease{Report: r.ID, Run: job.Run, Owner: "owner at 5"}, job.Lease)
	same(t, "where it stands", seo.Totals{}, job.Totals)
	if job.Site != nil || job.Run == 0 {
		t.Errorf("the job is %+v", job)
	}
	want := seo.Run{Number: 1, State: seo.Running, QueuedAt: at(0), StartedAt: at(5)}
	same(t, "the run", want, must(c.ReportRun(t.Context(), owner, seo.RunRef{Report: r.ID}))(t))
	wantNoClaim(t, c, 6)
}

func auditClaimRace(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	const n = 30
	for i := range n {
		newReport(t, c, []int64{ann, bob}[i%2], "https://example.com", i)
	}
	var mu sync.Mutex
	taken := map[int64]int{}
	allSucceed(t, 8, func(worker int) error {
		for i := 0; ; i++ {
			job, err := c.ClaimAudit(t.Context(), fmt.Sprintf("worker %d, claim %d", worker, i), at(100), at(200))
			if errors.Is(err, fault.NotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			mu.Lock()
			taken[job.Lease.Report]++
			mu.Unlock()
		}
	})
	// A worker may find all that waits in the hands of others that have not committed yet, but not for good.
	for len(taken) < n {
		taken[claim(t, c, 101).Lease.Report]++
	}
	for id, times := range taken {
		if times != 1 {
			t.Errorf("report %d was claimed %d times", id, times)
		}
	}
	wantNoClaim(t, c, 102)
}

func auditFairness(t *testing.T, c store.Catalog) {
	var accounts []int64
	for _, name := range []string{"ann", "bob", "cid"} {
		accounts = append(accounts, newAccount(t, c, name).ID)
	}
	for i := range 6 { // a flood of the first account comes before all others
		newReport(t, c, accounts[0], "https://ann.example", i)
	}
	newReport(t, c, accounts[1], "https://bob.example", 10)
	newReport(t, c, accounts[1], "https://bob.example", 11)
	newReport(t, c, accounts[2], "https://cid.example", 12)
	var order []int64
	var jobs []seo.Job
	for range 5 {
		job := claim(t, c, 20)
		jobs = append(jobs, job)
		order = append(order, job.Report.AccountID)
	}
	ann, bob, cid := accounts[0], accounts[1], accounts[2]
	same(t, "whose turn it is", []int64{ann, bob, cid, ann, bob}, order)
	for _, job := range jobs[:4:4] { // both of the first account, one of each other
		ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{}, at(21)))
	}
	newReport(t, c, bob, "https://bob.example", 13)
	same(t, "whose turn it is while bob has one", ann, claim(t, c, 22).Report.AccountID)
	same(t, "who has waited longest of those with one", ann, claim(t, c, 23).Report.AccountID)
	same(t, "whose turn it is then", bob, claim(t, c, 24).Report.AccountID)
}

func auditTakeOver(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com", 0)
	first := claim(t, c, 10)
	step := seo.Step{
		Found: []seo.Item{{URL: "https://example.com/", Kind: seo.KindPage}, {URL: "https://example.com/a", Kind: seo.KindPage, Depth: 1}},
		Done:  []seo.ItemKey{{URL: "https://example.com/", Kind: seo.KindPage}}, Fetched: 1, Cut: "depth", Current: "https://example.com/",
		Site: &seo.Site{Start: "https://example.com/"}, Pages: []seo.PageFacts{{Page: facts("https://example.com/", 200)}},
	}
	totals := must(c.SaveAudit(t.Context(), first.Lease, step))(t)
	wantNoClaim(t, c, 19)
	second := claim(t, c, 20) // its lease has just ended
	same(t, "the report", r.ID, second.Lease.Report)
	same(t, "the run", first.Run, second.Run)
	same(t, "where it stands", totals, second.Totals)
	same(t, "what is known of the site", step.Site, second.Site)
	same(t, "the progress", seo.Progress{Done: 1, Found: 2, Current: "https://example.com/"}, second.Report.Progress)
	same(t, "what is left", step.Found[1:], must(c.WaitingItems(t.Context(), second.Lease, true, 10))(t))
	same(t, "when it began", at(10), must(c.ReportRun(t.Context(), owner, seo.RunRef{Report: r.ID}))(t).StartedAt)
	_, err := c.RenewAudit(t.Context(), first.Lease, at(60))
	wantLost(t, "the dead owner", err)
	ok(t, c.FinishAudit(t.Context(), second.Lease, seo.Done, seo.Outcome{}, at(21)))
}

// wantLost demands that a lease is lost.
func wantLost(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, seo.ErrLeaseLost) {
		t.Errorf("%s: got %v, want seo.ErrLeaseLost", what, err)
	}
}

func auditRenew(t *testing.T, c store.Catalog) {
	newReport(t, c, newAccount(t, c, "ann").ID, "https://example.com", 0)
	job := claim(t, c, 10)
	if must(c.RenewAudit(t.Context(), job.Lease, at(60)))(t) {
		t.Error("it is told to stop")
	}
	wantNoClaim(t, c, 59)
	must(c.RenewAudit(t.Context(), job.Lease, at(30)))(t) // given back at 30
	again := claim(t, c, 30)
	same(t, "the run that was given back", job.Run, again.Run)
	_, err := c.RenewAudit(t.Context(), job.Lease, at(90))
	wantLost(t, "who gave it back", err)
}

func auditStop(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r, waiting := newReport(t, c, owner, "https://example.com", 0), newReport(t, c, owner, "https://example.com", 1)
	stop := func(r seo.Report) seo.Report {
		return must(c.UpdateReport(t.Context(), owner, r.ID, func(r *seo.Report) error {
			return r.Edit(at(20), func(r *seo.Report) error { r.Stop(); return nil })
		}))(t)
	}
	job := claim(t, c, 10)
	got := stop(r)
	same(t, "a run under way", []any{seo.Running, true}, []any{got.State, got.Stopping})
	if !must(c.RenewAudit(t.Context(), job.Lease, at(30)))(t) {
		t.Error("its owner is not told")
	}
	ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Stopped, seo.Outcome{Score: score(5), StoppedBy: "canceled"}, at(21)))
	got = readReport(t, c, r)
	same(t, "the report after that", []any{seo.Stopped, false, score(5)}, []any{got.State, got.Stopping, got.Score})
	same(t, "one that waits", seo.Stopped, stop(waiting).State)
	run := seo.Run{Number: 1, State: seo.Stopped, QueuedAt: at(1), EndedAt: at(20)}
	same(t, "its run", run, must(c.ReportRun(t.Context(), owner, seo.RunRef{Report: waiting.ID}))(t))
	wantNoClaim(t, c, 100)
	same(t, "stopping what is over", got, stop(r))
}

func auditLost(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com", 0)
	job := claim(t, c, 10)
	must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Pages: []seo.PageFacts{{Page: facts("https://example.com/", 200)}}}))(t)
	before := stateOf(t, c)
	for _, l := range []seo.Lease{
		{}, {Report: job.Lease.Report, Run: job.Run}, {Report: job.Lease.Report, Run: job.Run, Owner: "another"},
		{Report: job.Lease.Report, Run: job.Run + 1, Owner: job.Owner}, {Report: job.Lease.Report + 1, Run: job.Run, Owner: job.Owner},
	} {
		ctx, step := t.Context(), seo.Step{Pages: []seo.PageFacts{{Page: facts("https://example.com/x", 200)}}}
		for what, err := range map[string]error{
			"RenewAudit":   second(c.RenewAudit(ctx, l, at(90))),
			"SaveAudit":    second(c.SaveAudit(ctx, l, step)),
			"WaitingItems": second(c.WaitingItems(ctx, l, true, 1)),
			"SavedCrawl":   second(c.SavedCrawl(ctx, l)),
			"EarlierPage":  second(c.EarlierPage(ctx, l, "https://example.com/")),
			"FinishAudit":  c.FinishAudit(ctx, l, seo.Done, seo.Outcome{}, at(90)),
		} {
			wantLost(t, what, err)
		}
	}
	same(t, "the catalog after that", before, stateOf(t, c))
	same(t, "the pages after that", 1, must(c.ReportPages(t.Context(), owner, seo.RunRef{Report: r.ID}, seo.PageFilter{}, pagesRequest()))(t).Total)
	ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{}, at(20)))
	wantLost(t, "ending it twice", c.FinishAudit(t.Context(), job.Lease, seo.Failed, seo.Outcome{}, at(21)))
}

// someOutcome has something in each field.
func someOutcome() seo.Outcome {
	return seo.Outcome{
		Score: score(73), Issues: seo.Issues{Errors: 1, Warnings: 2, Notices: 3}, Pages: 17, StoppedBy: "pages", Failure: awkward,
		Results: []seo.CheckResult{
			{Check: "title.missing", Severity: seo.Error, Findings: 2, Value: awkward, Points: 1.0 / 3},
			{Check: "h1.missing", Severity: seo.Warning, Passed: true},
		},
	}
}

func auditFinish(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com", 0)
	job := claim(t, c, 10)
	ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, someOutcome(), at(25).Add(600*time.Millisecond)))
	r.State, r.Outcome, r.Version, r.GeneratedAt, r.UpdatedAt = seo.Done, someOutcome(), 3, at(25), at(25)
	same(t, "the report", r, readReport(t, c, r))
	run := seo.Run{Number: 1, State: seo.Done, QueuedAt: at(0), StartedAt: at(10), EndedAt: at(25), Outcome: someOutcome()}
	same(t, "the run", run, must(c.ReportRun(t.Context(), owner, seo.RunRef{Report: r.ID, Number: 1}))(t))
	wantNoClaim(t, c, 100)
}

func auditAgain(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com", 0)
	again := func(seconds int) seo.Report {
		return must(c.UpdateReport(t.Context(), owner, r.ID, func(r *seo.Report) error {
			return r.Edit(at(seconds), func(r *seo.Report) error { r.Again(at(seconds)); return nil })
		}))(t)
	}
	same(t, "a report that waits, asked again", readReport(t, c, r), again(1))
	finishNext(t, c, seo.Outcome{Score: score(40)}, 10)
	got := again(20)
	same(t, "a report that runs again", []any{seo.Queued, 2, score(40), at(10), at(20)}, []any{got.State, got.Run, got.Score, got.GeneratedAt, got.QueuedAt})
	for n := 2; n <= seo.MaxRuns+3; n++ {
		job := claim(t, c, 20+n)
		must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Pages: []seo.PageFacts{{Page: facts("https://example.com/", 200+n)}}}))(t)
		earlier, err := c.EarlierPage(t.Context(), job.Lease, "https://example.com/")
		if n == 2 {
			wantNotFound(t, "a page of an earlier run without any", err)
		} else if ok(t, err); earlier.Status != 200+n-1 {
			t.Errorf("the page of the run before has status %d, want %d", earlier.Status, 200+n-1)
		}
		ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{Score: score(n)}, at(20+n)))
		again(20 + n)
	}
	runs := whole(t, "runs", must(c.ReportRuns(t.Context(), owner, r.ID, pageRequest()))(t))
	var numbers []int
	for _, run := range runs {
		numbers = append(numbers, run.Number)
	}
	var want []int
	for n := seo.MaxRuns + 4; n > 4; n-- {
		want = append(want, n)
	}
	same(t, "the runs that are kept", want, numbers)
	_, err := c.ReportRun(t.Context(), owner, seo.RunRef{Report: r.ID, Number: 4})
	wantNotFound(t, "a run that is too old", err)
	_, err = c.CompareRuns(t.Context(), owner, r.ID, 4, 5)
	wantNotFound(t, "comparing with a run that is too old", err)
}

func auditDeleted(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com", 0)
	ok(t, c.DeleteReport(t.Context(), owner, r.ID, toTrash(1)))
	wantNoClaim(t, c, 2)
	ok(t, c.RestoreReport(t.Context(), owner, r.ID, &r, nil))
	job := claim(t, c, 3)
	deleteProject(t, c, projectOf(t, c, r), 4)
	_, err := c.RenewAudit(t.Context(), job.Lease, at(90))
	wantLost(t, "the run of a deleted report", err)
	wantLost(t, "the end of a deleted report", c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{}, at(5)))
	wantNoClaim(t, c, 90)
	var p seo.Project
	ok(t, c.RestoreProject(t.Context(), owner, r.ProjectID, &p, nil))
	same(t, "the run that goes on", job.Run, claim(t, c, 91).Run)
	ok(t, c.DeleteReport(t.Context(), owner, r.ID, erase))
	wantNoClaim(t, c, 200)
}

func auditLeftovers(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	kept, gone := newReport(t, c, owner, "https://example.com/kept", 0), newReport(t, c, owner, "https://example.com/gone", 1)
	for range 2 {
		job := claim(t, c, 10)
		must(c.SaveAudit(t.Context(), job.Lease, crawledSite(25)))(t)
		ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{Score: score(1)}, at(11)))
	}
	want := findingsOf(t, c, owner, seo.RunRef{Report: kept.ID})
	ok(t, c.DeleteReport(t.Context(), owner, gone.ID, erase))
	steps := 0
	for more := true; more; steps++ {
		n := must(c.EraseLeftovers(t.Context(), 10))(t)
		if n > 10 {
			t.Errorf("%d rows went at once, want 10 at most", n)
		}
		more = n == 10
	}
	same(t, "how many are left after that", 0, must(c.EraseLeftovers(t.Context(), 10))(t))
	same(t, "the findings of the report that is kept", want, findingsOf(t, c, owner, seo.RunRef{Report: kept.ID}))
	same(t, "its pages", 25, must(c.ReportPages(t.Context(), owner, seo.RunRef{Report: kept.ID}, seo.PageFilter{}, pagesRequest()))(t).Total)
	if len(want) == 0 {
		t.Error("the report that is kept has no findings")
	}
}
