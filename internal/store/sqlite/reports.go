package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

const reportColumns = `id, account_id, project_id, (SELECT name FROM projects WHERE projects.id = project_id), url, scope, max_pages, max_depth,
	sitemap, ignore_robots, privacy, password_hash, state, run, stopping, done, found, current, outcome, version, queued_at, generated_at, created_at, updated_at`

func scanReport(row scanner) (r seo.Report, err error) {
	var outcome string
	err = row.Scan(&r.ID, &r.AccountID, &r.ProjectID, &r.Project, &r.URL, &r.Scope, &r.MaxPages, &r.MaxDepth,
		&r.Sitemap, &r.IgnoreRobots, &r.Privacy, &r.PasswordHash, &r.State, &r.Run, &r.Stopping, &r.Progress.Done, &r.Progress.Found, &r.Progress.Current,
		&outcome, &r.Version, instant{&r.QueuedAt}, instant{&r.GeneratedAt}, instant{&r.CreatedAt}, instant{&r.UpdatedAt})
	if err == nil {
		r.Outcome, err = seo.FromText[seo.Outcome](outcome)
	}
	return r, err
}

// Reports implements seo.Reports.
func (db *DB) Reports(ctx context.Context, account int64, f seo.ReportFilter, r listing.Request) (listing.Page[seo.Report], error) {
	query := pageQuery{columns: reportColumns, from: ` FROM reports WHERE account_id = ? AND deleted_at IS NULL`, args: []any{account}}
	switch {
	case f.Project != seo.Ref{}: // left alone, SQLite walks the whole account
		query.from = ` FROM reports INDEXED BY reports_by_project WHERE account_id = ? AND deleted_at IS NULL`
	case r.Search == "" && f.Result == "":
		query.total = trash.Report
	}
	if r.Search != "" {
		if err := db.search(ctx, &query, searched{trash.Report, "reports", "reports_text", "search_url"}, r.Search); err != nil {
			return listing.Page[seo.Report]{}, err
		}
	}
	switch {
	case f.Project.ID != 0:
		query.narrow(` AND project_id = ?`, f.Project.ID)
	case f.Project.Name != "":
		query.narrow(` AND project_id = (SELECT id FROM projects WHERE account_id = ? AND name = ? AND deleted_at IS NULL)`, account, f.Project.Name)
	}
	if f.Result != "" {
		lowest, highest := f.Scores()
		query.narrow(` AND score BETWEEN ? AND ?`, lowest, highest)
	}
	query.order = map[string]string{
		seo.SortByID:        directed(r, "id"),
		seo.SortByGenerated: directed(r, "generated_at", "id"), // NULL is less than all else
		seo.SortByURL:       directed(r, "url", "id"),
		seo.SortByScore:     directed(r, "score", "id"),
	}[r.SortBy]
	return page(ctx, db, query, r, scanReport)
}

// narrow adds a condition to a list's query.
func (q *pageQuery) narrow(condition string, args ...any) {
	q.from += condition
	q.args = append(q.args[:len(q.args):len(q.args)], args...)
}

// readReport finds a report outside the trash.
const readReport = `SELECT ` + reportColumns + ` FROM reports WHERE account_id = ? AND id = ? AND deleted_at IS NULL`

// Report implements seo.Reports.
func (db *DB) Report(ctx context.Context, account, id int64) (seo.Report, error) {
	r, err := scanReport(db.queryRow(ctx, readReport, account, id))
	return r, missing(err, "report %d", id)
}

// CreateReport implements seo.Reports.
func (db *DB) CreateReport(ctx context.Context, r *seo.Report, once *receipt.Receipt) error {
	return db.changeOnce(ctx, once, func(tx *sql.Tx) (err error) {
		if err := needRoom(tx, r.AccountID); err != nil {
			return err
		}
		if r.ProjectID, err = projectFor(tx, r); err != nil {
			return err
		}
		if err := insertReport(tx, r); err != nil {
			return err
		}
		return insertRun(tx, r)
	})
}

// needRoom fails when too many reports of an account wait.
func needRoom(tx *sql.Tx, account int64) error {
	const query = `
		SELECT count(*) FROM reports INDEXED BY reports_active
		WHERE account_id = ? AND state IN ('queued', 'running') AND deleted_at IS NULL`
	var waiting int
	if err := tx.QueryRow(query, account).Scan(&waiting); err != nil {
		return err
	}
	if waiting >= seo.MaxWaiting {
		return seo.ErrTooMany
	}
	return nil
}

// projectFor is the project that a new report belongs to. It counts the report, and makes the project if there is none.
func projectFor(tx *sql.Tx, r *seo.Report) (id int64, err error) {
	const query = `
		UPDATE projects SET reports = reports + 1, version = version + 1, updated_at = ?
		WHERE account_id = ? AND name = ? AND deleted_at IS NULL
		RETURNING id`
	err = tx.QueryRow(query, unix(r.CreatedAt), r.AccountID, r.Project).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	p := seo.NewProject(r.AccountID, r.CreatedAt)
	p.Name, p.Reports = r.Project, 1
	err = insertProject(tx, &p)
	return p.ID, err
}

func insertReport(tx *sql.Tx, r *seo.Report) error {
	const query = `
		INSERT INTO reports (account_id, project_id, url, search_url, scope, max_pages, max_depth, sitemap, ignore_robots, privacy, password_hash, state, run,
			stopping, done, found, current, score, outcome, version, queued_at, generated_at, created_at, updated_at, owner, with_project)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0) RETURNING id`
	outcome, err := seo.ToText(r.Outcome)
	if err != nil {
		return err
	}
	return tx.QueryRow(query, r.AccountID, r.ProjectID, r.URL, r.SearchURL(), r.Scope, r.MaxPages, r.MaxDepth, r.Sitemap, r.IgnoreRobots, r.Privacy, r.PasswordHash,
		r.State, r.Run, r.Stopping, r.Progress.Done, r.Progress.Found, r.Progress.Current, r.Score, outcome, r.Version,
		unix(r.QueuedAt), unix(r.GeneratedAt), unix(r.CreatedAt), unix(r.UpdatedAt)).Scan(&r.ID)
}

// insertRun begins the newest run of a report, and lets the oldest go.
func insertRun(tx *sql.Tx, r *seo.Report) error {
	const query = `
		INSERT INTO runs (report_id, number, state, queued_at, outcome, pages, pages_done, checks, checks_done, fetched, cut, items, site, leftover)
		VALUES (?, ?, ?, ?, '', 0, 0, 0, 0, 0, '', 0, '', 0)`
	if _, err := tx.Exec(`UPDATE runs SET report_id = NULL WHERE report_id = ? AND number <= ?`, r.ID, r.Run-seo.MaxRuns); err != nil {
		return err
	}
	_, err := tx.Exec(query, r.ID, r.Run, r.State, unix(r.QueuedAt))
	return err
}

// UpdateReport implements seo.Reports.
func (db *DB) UpdateReport(ctx context.Context, account, id int64, edit func(*seo.Report) error) (stored seo.Report, err error) {
	err = db.change(ctx, func(tx *sql.Tx) (err error) {
		stored, err = editReport(tx, account, id, edit)
		return err
	})
	return stored, err
}

// StopReport implements seo.Reports.
func (db *DB) StopReport(ctx context.Context, account, id int64, now time.Time, r *seo.Report, once *receipt.Receipt) error {
	return db.changeOnce(ctx, once, func(tx *sql.Tx) (err error) {
		*r, err = editReport(tx, account, id, func(r *seo.Report) error { return r.StopAt(now) })
		return err
	})
}

// editReport reads a report, lets edit change it and stores it.
func editReport(tx *sql.Tx, account, id int64, edit func(*seo.Report) error) (stored seo.Report, err error) {
	before, err := scanReport(tx.QueryRow(readReport, account, id))
	if err != nil {
		return stored, missing(err, "report %d", id)
	}
	edited := before
	if err := edit(&edited); err != nil {
		return stored, err
	}
	stored = before.Edited(edited)
	return stored, updateReport(tx, &before, &stored)
}

// updateReport stores what an owner changed.
func updateReport(tx *sql.Tx, before, r *seo.Report) error {
	const query = `
		UPDATE reports
		SET privacy = ?, password_hash = ?, state = ?, run = ?, stopping = ?, done = ?, found = ?, current = ?, queued_at = ?, version = ?, updated_at = ?
		WHERE id = ?`
	again := r.Run != before.Run
	if again {
		if err := needRoom(tx, r.AccountID); err != nil {
			return err
		}
	}
	_, err := tx.Exec(query, r.Privacy, r.PasswordHash, r.State, r.Run, r.Stopping, r.Progress.Done, r.Progress.Found, r.Progress.Current,
		unix(r.QueuedAt), r.Version, unix(r.UpdatedAt), r.ID)
	switch {
	case err != nil:
		return err
	case again:
		return insertRun(tx, r)
	case r.State != before.State:
		_, err = tx.Exec(`UPDATE runs SET state = ?, ended_at = ? WHERE report_id = ? AND number = ?`, r.State, unix(r.UpdatedAt), r.ID, r.Run)
	}
	return err
}

// DeleteReport implements seo.Reports.
func (db *DB) DeleteReport(ctx context.Context, account, id int64, how trash.Deletion) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		r, err := scanReport(tx.QueryRow(readReport, account, id))
		if err != nil {
			return missing(err, "report %d", id)
		}
		if err := remove(tx, "reports", id, r.Version, how); err != nil {
			return err
		}
		return countReports(tx, r.ProjectID, -1, how.At)
	})
}

// RestoreReport implements seo.Reports.
func (db *DB) RestoreReport(ctx context.Context, account, id int64, r *seo.Report, once *receipt.Receipt) error {
	const query = `
		UPDATE reports SET deleted_at = NULL
		WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL AND NOT with_project
		RETURNING ` + reportColumns
	return db.changeOnce(ctx, once, func(tx *sql.Tx) (err error) {
		if *r, err = scanReport(tx.QueryRow(query, account, id)); err != nil {
			return missing(err, "report %d in the trash", id)
		}
		var there bool
		if err := tx.QueryRow(`SELECT deleted_at IS NULL FROM projects WHERE id = ?`, r.ProjectID).Scan(&there); err != nil {
			return err
		}
		if !there {
			return seo.ErrProjectGone
		}
		return countReports(tx, r.ProjectID, 1, time.Time{})
	})
}

// countReports lets the counters of a project follow its reports: so many more, and the newest of those with a score.
func countReports(tx *sql.Tx, project int64, more int, now time.Time) error {
	const query = `
		UPDATE projects
		SET reports = reports + ?1, version = version + 1, updated_at = coalesce(?2, updated_at),
			(score, last_report_at) = (
				SELECT score, generated_at FROM reports
				WHERE project_id = ?3 AND score IS NOT NULL AND deleted_at IS NULL
				ORDER BY generated_at DESC, id DESC LIMIT 1)
		WHERE id = ?3`
	_, err := tx.Exec(query, more, unix(now), project)
	return err
}
