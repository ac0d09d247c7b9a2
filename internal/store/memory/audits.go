package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"sightline/internal/fault"
	"sightline/internal/seo"
)

// A run is a run with all that it has learned.
type run struct {
	id     int64
	report int64 // 0: it was erased
	seo.Run
	totals    seo.Totals
	site      *seo.Site
	items     []item // in the order in which they were found
	pages     []page
	resources []seo.Resource
	findings  []seo.Finding
}

// An item is an address that a crawl found, a page one of which the facts are known.
type (
	item struct {
		seo.Item
		done bool
	}
	page struct {
		url   string
		score seo.PageScore
		facts []byte
	}
)

// addRun begins the newest run of a report, and lets the oldest go.
func (db *DB) addRun(r seo.Report) {
	for i := range db.runs {
		if one := &db.runs[i]; one.report == r.ID && one.Number <= r.Run-seo.MaxRuns {
			one.report = 0
		}
	}
	db.runs = append(db.runs, run{id: next(&db.last.run), report: r.ID, Run: seo.Run{Number: r.Run, State: r.State, QueuedAt: r.QueuedAt}})
}

// runOf is a run of a report; nil if there is none.
func (db *DB) runOf(report int64, number int) *run {
	for i := range db.runs {
		if r := &db.runs[i]; r.report == report && r.Number == number {
			return r
		}
	}
	return nil
}

// ClaimAudit implements seo.Audits.
func (db *DB) ClaimAudit(ctx context.Context, owner string, now, until time.Time) (job seo.Job, err error) {
	err = db.change(ctx, func() error {
		busy := map[int64]int{}
		var waiting []*report
		for i := range db.reports {
			r := &db.reports[i]
			dead := !r.until.After(second(now))
			switch {
			case !r.there() || r.State.Ended():
			case r.State == seo.Queued || dead:
				waiting = append(waiting, r)
			default:
				busy[r.AccountID]++
			}
		}
		if len(waiting) == 0 {
			return fmt.Errorf("claim an audit: %w", fault.NotFound)
		}
		r := slices.MinFunc(waiting, func(a, b *report) int {
			return cmp.Or(cmp.Compare(busy[a.AccountID], busy[b.AccountID]), a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.ID, b.ID))
		})
		if r.State == seo.Queued {
			r.State = seo.Running
			r.Version++
		}
		r.owner, r.until = owner, second(until)
		run := db.runOf(r.ID, r.Run)
		run.State = seo.Running
		if run.StartedAt.IsZero() {
			run.StartedAt = second(now)
		}
		job = seo.Job{Lease: seo.Lease{Report: r.ID, Run: run.id, Owner: owner}, Report: keptReport(r.Report), Totals: run.totals, Site: kept(run.site)}
		return nil
	})
	return job, err
}

// leased is a report and the run of it that somebody works on.
func (db *DB) leased(l seo.Lease) (*report, *run, error) {
	for i := range db.reports {
		r := &db.reports[i]
		if r.ID != l.Report || !r.there() || r.State != seo.Running || r.owner != l.Owner {
			continue
		}
		if run := db.runOf(r.ID, r.Run); run.id == l.Run {
			return r, run, nil
		}
	}
	return nil, nil, seo.ErrLeaseLost
}

// RenewAudit implements seo.Audits.
func (db *DB) RenewAudit(ctx context.Context, l seo.Lease, until time.Time) (stop bool, err error) {
	err = db.change(ctx, func() error {
		r, _, err := db.leased(l)
		if err == nil {
			r.until, stop = second(until), r.Stopping
		}
		return err
	})
	return stop, err
}

// SaveAudit implements seo.Audits.
func (db *DB) SaveAudit(ctx context.Context, l seo.Lease, s seo.Step) (totals seo.Totals, err error) {
	err = db.change(ctx, func() error {
		if err := s.Check(); err != nil {
			return err
		}
		r, run, err := db.leased(l)
		if err != nil {
			return err
		}
		run.crawl(&s)
		if err := run.learn(&s); err != nil {
			return err
		}
		r.Progress = seo.Progress{Done: run.totals.PagesDone, Found: run.totals.Pages, Current: cmp.Or(s.Current, r.Progress.Current)}
		totals = run.totals
		return nil
	})
	return totals, err
}

// crawl takes in what was found and what is done.
func (r *run) crawl(s *seo.Step) {
	r.items = slices.Clone(r.items) // a change that fails is undone
	find := func(key seo.ItemKey) int {
		return slices.IndexFunc(r.items, func(i item) bool { return i.URL == key.URL && i.Kind == key.Kind })
	}
	for _, found := range s.Found {
		at := find(seo.ItemKey{URL: found.URL, Kind: found.Kind})
		switch {
		case at < 0:
			r.items = append(r.items, item{Item: found})
		case !r.items[at].done && found.Rank() < r.items[at].Rank():
			r.items[at].Item = found
		}
	}
	for _, key := range s.Done {
		if at := find(key); at >= 0 {
			r.items[at].done = true
		}
	}
	r.totals = seo.Totals{Fetched: r.totals.Fetched + s.Fetched, Cut: cmp.Or(s.Cut, r.totals.Cut)}
	for _, i := range r.items {
		known, done := &r.totals.Checks, &r.totals.ChecksDone
		if i.Kind == seo.KindPage {
			known, done = &r.totals.Pages, &r.totals.PagesDone
		}
		*known++
		if i.done {
			*done++
		}
	}
}

// learn takes in the facts, findings and ratings of a step.
func (r *run) learn(s *seo.Step) error {
	r.pages, r.resources, r.findings = slices.Clone(r.pages), slices.Clone(r.resources), slices.Clone(r.findings)
	if s.Site != nil {
		r.site = kept(s.Site)
	}
	for _, p := range s.Pages {
		facts, err := p.Pack()
		if err != nil {
			return err
		}
		r.pages = slices.DeleteFunc(r.pages, func(one page) bool { return one.url == p.URL })
		r.pages = append(r.pages, page{url: p.URL, facts: facts})
		r.findings = slices.DeleteFunc(r.findings, func(f seo.Finding) bool { return f.Page == p.URL })
		r.find(p.Findings)
	}
	for _, one := range s.Resources {
		r.resources = slices.DeleteFunc(r.resources, func(known seo.Resource) bool { return known.URL == one.URL })
		r.resources = append(r.resources, kept(one))
	}
	for _, rating := range s.Ratings {
		for i := range r.pages {
			if r.pages[i].url == rating.URL {
				r.pages[i].score = rating.Score
			}
		}
		r.find(rating.Findings)
	}
	return nil
}

// find takes in findings. One replaces what the same check found on the same page before.
func (r *run) find(findings []seo.Finding) {
	for _, f := range findings {
		r.findings = slices.DeleteFunc(r.findings, func(known seo.Finding) bool { return known.Check == f.Check && known.Page == f.Page })
		r.findings = append(r.findings, kept(f))
	}
}

// WaitingItems implements seo.Audits.
func (db *DB) WaitingItems(ctx context.Context, l seo.Lease, pages bool, most int) ([]seo.Item, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, run, err := db.leased(l)
	if err != nil {
		return nil, err
	}
	var items []seo.Item
	for _, i := range run.items {
		if !i.done && (i.Kind == seo.KindPage) == pages {
			items = append(items, i.Item)
		}
	}
	slices.SortStableFunc(items, func(a, b seo.Item) int { return cmp.Compare(a.Rank(), b.Rank()) })
	return items[:min(len(items), most)], nil
}

// SavedCrawl implements seo.Audits.
func (db *DB) SavedCrawl(ctx context.Context, l seo.Lease) (seo.Crawl, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, run, err := db.leased(l)
	if err != nil {
		return nil, err
	}
	saved := saved{pages: slices.Clone(run.pages), resources: slices.Clone(run.resources)}
	if run.site != nil {
		saved.site = *kept(run.site)
	}
	return saved, nil
}

// saved is what a crawl has saved.
type saved struct {
	site      seo.Site
	pages     []page
	resources []seo.Resource
}

// Site implements seo.Crawl.
func (s saved) Site() seo.Site { return s.site }

// Pages implements seo.Crawl.
func (s saved) Pages(ctx context.Context) iter.Seq2[*seo.Page, error] {
	return func(yield func(*seo.Page, error) bool) {
		for _, one := range s.pages {
			p, err := seo.UnpackPage(one.facts)
			if err := cmp.Or(ctx.Err(), err); !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Resources implements seo.Crawl.
func (s saved) Resources(ctx context.Context) iter.Seq2[seo.Resource, error] {
	return func(yield func(seo.Resource, error) bool) {
		for _, r := range s.resources {
			if err := ctx.Err(); !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// EarlierPage implements seo.Audits.
func (db *DB) EarlierPage(ctx context.Context, l seo.Lease, url string) (*seo.Page, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, _, err := db.leased(l)
	if err != nil {
		return nil, err
	}
	for number := r.Run - 1; number > 0; number-- {
		run := db.runOf(r.ID, number)
		if run == nil || run.State != seo.Done {
			continue
		}
		for _, p := range run.pages {
			if p.url == url {
				return seo.UnpackPage(p.facts)
			}
		}
		break
	}
	return nil, fmt.Errorf("page %s of an earlier run: %w", url, fault.NotFound)
}

// FinishAudit implements seo.Audits.
func (db *DB) FinishAudit(ctx context.Context, l seo.Lease, state seo.State, o seo.Outcome, now time.Time) error {
	return db.change(ctx, func() error {
		r, run, err := db.leased(l)
		if err != nil {
			return err
		}
		run.State, run.EndedAt, run.Outcome, run.items = state, second(now), keptOutcome(o), nil
		r.State, r.GeneratedAt, r.Outcome, r.Stopping = state, second(now), keptOutcome(o), false
		r.owner, r.until, r.UpdatedAt = "", time.Time{}, second(now)
		r.Version++
		db.countReports(r.ProjectID, 0, now)
		return nil
	})
}

// EraseLeftovers implements schedule.Leftovers. A row is a run here, with all that it holds.
func (db *DB) EraseLeftovers(ctx context.Context, limit int) (erased int, err error) {
	err = db.change(ctx, func() error {
		db.runs = slices.DeleteFunc(db.runs, func(r run) bool {
			if r.report != 0 || erased == limit {
				return false
			}
			erased++
			return true
		})
		return nil
	})
	return erased, err
}
