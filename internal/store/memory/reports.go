package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

// A report is a report as it is kept, also in the trash.
type report struct {
	seo.Report
	deletedAt   time.Time
	withProject bool // deleted together with its project
	owner       string
	until       time.Time
}

// there says that a report is not in the trash.
func (r *report) there() bool { return r.deletedAt.IsZero() }

// Reports implements seo.Reports.
func (db *DB) Reports(ctx context.Context, account int64, f seo.ReportFilter, r listing.Request) (listing.Page[seo.Report], error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return listing.Page[seo.Report]{}, err
	}
	defer unlock()
	lowest, highest := f.Scores()
	var rows []seo.Report
	for _, one := range db.reports {
		named := f.Project == seo.Ref{} || f.Project.ID == one.ProjectID || f.Project.ID == 0 && f.Project.Name == one.Project
		rated := f.Result == "" || one.Score != nil && *one.Score >= lowest && *one.Score <= highest
		if one.AccountID == account && one.there() && named && rated && contains(one.SearchURL(), r) {
			rows = append(rows, keptReport(one.Report))
		}
	}
	return onePage(rows, r, func(a, b seo.Report) int {
		order := 0
		switch r.SortBy {
		case seo.SortByGenerated:
			order = a.GeneratedAt.Compare(b.GeneratedAt)
		case seo.SortByURL:
			order = cmp.Compare(a.URL, b.URL)
		case seo.SortByScore:
			order = cmp.Compare(orNone(a.Score), orNone(b.Score))
		}
		return cmp.Or(order, cmp.Compare(a.ID, b.ID))
	}), nil
}

// orNone is a score, or less than any if there is none.
func orNone(score *int) int {
	if score == nil {
		return -1
	}
	return *score
}

// Report implements seo.Reports.
func (db *DB) Report(ctx context.Context, account, id int64) (seo.Report, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return seo.Report{}, err
	}
	defer unlock()
	r, err := db.findReport(account, id)
	if err != nil {
		return seo.Report{}, err
	}
	return keptReport(r.Report), nil
}

// CreateReport implements seo.Reports.
func (db *DB) CreateReport(ctx context.Context, r *seo.Report, once *receipt.Receipt) error {
	return db.changeOnce(ctx, once, func() error {
		if err := db.needAccount(r.AccountID); err != nil {
			return err
		}
		if err := db.needRoom(r.AccountID); err != nil {
			return err
		}
		i, err := db.findProject(r.AccountID, seo.Ref{Name: r.Project})
		if err != nil {
			p := seo.NewProject(r.AccountID, r.CreatedAt)
			p.ID, p.Name = next(&db.last.project), r.Project
			i = len(db.projects)
			db.projects = append(db.projects, p)
		} else {
			db.projects[i].Version++
			db.projects[i].UpdatedAt = second(r.CreatedAt)
		}
		db.projects[i].Reports++
		r.ID, r.ProjectID = next(&db.last.report), db.projects[i].ID
		db.reports = append(db.reports, report{Report: keptReport(*r)})
		db.addRun(*r)
		return nil
	})
}

// needRoom fails when too many reports of an account wait.
func (db *DB) needRoom(account int64) error {
	waiting := 0
	for _, r := range db.reports {
		if r.AccountID == account && r.there() && !r.State.Ended() {
			waiting++
		}
	}
	if waiting >= seo.MaxWaiting {
		return seo.ErrTooMany
	}
	return nil
}

// UpdateReport implements seo.Reports.
func (db *DB) UpdateReport(ctx context.Context, account, id int64, edit func(*seo.Report) error) (seo.Report, error) {
	var stored seo.Report
	err := db.change(ctx, func() (err error) {
		stored, err = db.editReport(account, id, edit)
		return err
	})
	return stored, err
}

// StopReport implements seo.Reports.
func (db *DB) StopReport(ctx context.Context, account, id int64, now time.Time, r *seo.Report, once *receipt.Receipt) error {
	return db.changeOnce(ctx, once, func() (err error) {
		*r, err = db.editReport(account, id, func(r *seo.Report) error { return r.StopAt(now) })
		return err
	})
}

// editReport lets edit change a report.
func (db *DB) editReport(account, id int64, edit func(*seo.Report) error) (seo.Report, error) {
	r, err := db.findReport(account, id)
	if err != nil {
		return seo.Report{}, err
	}
	before, edited := keptReport(r.Report), keptReport(r.Report)
	if err := edit(&edited); err != nil {
		return seo.Report{}, err
	}
	if edited.Run != before.Run {
		if err := db.needRoom(account); err != nil {
			return seo.Report{}, err
		}
		r.owner, r.until = "", time.Time{}
	}
	stored := keptReport(before.Edited(edited))
	r.Report = keptReport(stored)
	switch {
	case edited.Run != before.Run:
		db.addRun(stored)
	case edited.State != before.State:
		run := db.runOf(stored.ID, stored.Run)
		run.State, run.EndedAt = stored.State, stored.UpdatedAt
	}
	return stored, nil
}

// DeleteReport implements seo.Reports.
func (db *DB) DeleteReport(ctx context.Context, account, id int64, how trash.Deletion) error {
	return db.change(ctx, func() error {
		r, err := db.findReport(account, id)
		if err != nil {
			return err
		}
		if err := checked(how, r.Version); err != nil {
			return err
		}
		project := r.ProjectID
		if how.At.IsZero() {
			db.eraseReports(func(r *report) bool { return r.ID == id })
		} else {
			r.deletedAt = second(how.At)
		}
		db.countReports(project, -1, how.At)
		return nil
	})
}

// RestoreReport implements seo.Reports.
func (db *DB) RestoreReport(ctx context.Context, account, id int64, r *seo.Report, once *receipt.Receipt) error {
	return db.changeOnce(ctx, once, func() error {
		i := slices.IndexFunc(db.reports, func(r report) bool {
			return r.AccountID == account && r.ID == id && !r.there() && !r.withProject
		})
		if i < 0 {
			return fmt.Errorf("report %d in the trash: %w", id, fault.NotFound)
		}
		back := &db.reports[i]
		if _, err := db.findProject(account, seo.Ref{ID: back.ProjectID}); err != nil {
			return seo.ErrProjectGone
		}
		back.deletedAt = time.Time{}
		db.countReports(back.ProjectID, 1, time.Time{})
		*r = keptReport(back.Report)
		return nil
	})
}

// countReports lets the counters of a project follow its reports.
func (db *DB) countReports(project int64, more int, now time.Time) {
	i := slices.IndexFunc(db.projects, func(p seo.Project) bool { return p.ID == project })
	if i < 0 {
		return
	}
	p := &db.projects[i]
	p.Reports += more
	p.Score, p.LastReportAt = nil, time.Time{}
	for _, r := range db.reports { // by id: of two in the same second, the later one counts
		if r.ProjectID == project && r.there() && r.Score != nil && !r.GeneratedAt.Before(p.LastReportAt) {
			score := *r.Score
			p.Score, p.LastReportAt = &score, r.GeneratedAt
		}
	}
	p.Version++
	if !now.IsZero() {
		p.UpdatedAt = second(now)
	}
}

// findReport is a report outside the trash.
func (db *DB) findReport(account, id int64) (*report, error) {
	for i := range db.reports {
		if r := &db.reports[i]; r.AccountID == account && r.ID == id && r.there() {
			return r, nil
		}
	}
	return nil, fmt.Errorf("report %d: %w", id, fault.NotFound)
}

// eraseReports erases some reports for good. Their runs are left over.
func (db *DB) eraseReports(which func(*report) bool) {
	for i := range db.reports {
		if which(&db.reports[i]) {
			for j := range db.runs {
				if db.runs[j].report == db.reports[i].ID {
					db.runs[j].report = 0
				}
			}
		}
	}
	db.reports = slices.DeleteFunc(db.reports, func(r report) bool { return which(&r) })
}

// keptReport is a report as it is kept. It shares no memory with r.
func keptReport(r seo.Report) seo.Report {
	r.QueuedAt, r.GeneratedAt, r.CreatedAt, r.UpdatedAt = second(r.QueuedAt), second(r.GeneratedAt), second(r.CreatedAt), second(r.UpdatedAt)
	r.Outcome = keptOutcome(r.Outcome)
	return r
}

// keptOutcome is an outcome as it is kept.
func keptOutcome(o seo.Outcome) seo.Outcome { return kept(o) }

// kept is a value after it was written as text and read again.
func kept[T any](value T) T {
	text, err := seo.ToText(value)
	if err != nil {
		panic(err) // there is nothing in it that cannot be written
	}
	again, err := seo.FromText[T](text)
	if err != nil {
		panic(err) // it has just been written
	}
	return again
}
