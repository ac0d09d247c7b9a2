package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

// Whoever locks several of them locks projects first, then reports, then runs.

const reportColumns = `id, account_id, project_id, (SELECT name FROM projects WHERE projects.id = project_id), url, scope, max_pages, max_depth,
	sitemap, ignore_robots, privacy, password_hash, state, run, stopping, done, found, current, outcome, version, queued_at, generated_at, created_at, updated_at`

func scanReport(row pgx.CollectableRow) (r seo.Report, err error) {
	var outcome string
	var generated *time.Time
	err = row.Scan(&r.ID, &r.AccountID, &r.ProjectID, &r.Project, &r.URL, &r.Scope, &r.MaxPages, &r.MaxDepth,
		&r.Sitemap, &r.IgnoreRobots, &r.Privacy, &r.PasswordHash, &r.State, &r.Run, &r.Stopping, &r.Progress.Done, &r.Progress.Found, &r.Progress.Current,
		&outcome, &r.Version, &r.QueuedAt, &generated, &r.CreatedAt, &r.UpdatedAt)
	if err != nil {
		return r, err
	}
	r.QueuedAt, r.GeneratedAt, r.CreatedAt, r.UpdatedAt = r.QueuedAt.UTC(), orZero(generated), r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	r.Outcome, err = seo.FromText[seo.Outcome](outcome)
	return r, err
}

var reports = shelf[seo.Report]{
	table: "reports", object: string(trash.Report), columns: reportColumns, trigrams: "search_url", scan: scanReport,
}

// Reports implements seo.Reports.
func (db *DB) Reports(ctx context.Context, account int64, f seo.ReportFilter, r listing.Request) (listing.Page[seo.Report], error) {
	some := reports
	switch {
	case f.Project.ID != 0:
		some = some.narrow(` AND project_id = @project`, pgx.NamedArgs{"project": f.Project.ID})
	case f.Project.Name != "":
		const named = ` AND project_id = (SELECT id FROM projects WHERE account_id = @account AND name = @project AND deleted_at IS NULL)`
		some = some.narrow(named, pgx.NamedArgs{"project": f.Project.Name})
	}
	if f.Result != "" {
		lowest, highest := f.Scores()
		some = some.narrow(` AND score BETWEEN @lowest AND @highest`, pgx.NamedArgs{"lowest": lowest, "highest": highest})
	}
	return some.list(ctx, db, account, r, "search_url", reportOrder(r))
}

// reportOrder has what is not there yet before all else.
func reportOrder(r listing.Request) string {
	column := map[string]string{seo.SortByGenerated: "generated_at", seo.SortByURL: "url", seo.SortByScore: "score"}[r.SortBy]
	switch {
	case column == "" && r.Desc:
		return `id DESC`
	case column == "":
		return `id`
	case r.Desc:
		return column + ` DESC NULLS LAST, id DESC`
	default:
		return column + ` NULLS FIRST, id`
	}
}

const findReport = `SELECT ` + reportColumns + ` FROM reports WHERE account_id = @account AND id = @id AND deleted_at IS NULL`

// Report implements seo.Reports.
func (db *DB) Report(ctx context.Context, account, id int64) (seo.Report, error) {
	r, err := single(ctx, db.pool, findReport, pgx.NamedArgs{"account": account, "id": id}, scanReport)
	return r, db.explain(ctx, fmt.Sprintf("report %d", id), err)
}

// CreateReport implements seo.Reports.
func (db *DB) CreateReport(ctx context.Context, r *seo.Report, once *receipt.Receipt) error {
	return db.onceWhole(ctx, "create report", once, func(tx pgx.Tx) (err error) {
		if err := needRoom(ctx, tx, r.AccountID); err != nil {
			return err
		}
		if r.ProjectID, err = projectFor(ctx, tx, r); err != nil {
			return err
		}
		if err := insertReport(ctx, tx, r); err != nil {
			return err
		}
		return insertRun(ctx, tx, r)
	})
}

// needRoom fails when too many reports of an account wait.
func needRoom(ctx context.Context, tx pgx.Tx, account int64) error {
	const query = `SELECT count(*) FROM reports WHERE account_id = @account AND state IN ('queued', 'running') AND deleted_at IS NULL`
	var waiting int
	if err := tx.QueryRow(ctx, query, pgx.NamedArgs{"account": account}).Scan(&waiting); err != nil {
		return err
	}
	if waiting >= seo.MaxWaiting {
		return asItIs{seo.ErrTooMany}
	}
	return nil
}

// projectFor is the project that a new report belongs to. It counts the report, and makes the project if there is none.
func projectFor(ctx context.Context, tx pgx.Tx, r *seo.Report) (id int64, err error) {
	const query = `
		INSERT INTO projects (account_id, name, search_name, reports, version, created_at, updated_at)
		VALUES (@account, @name, @search_name, 1, 1, @now, @now)
		ON CONFLICT (account_id, name) WHERE deleted_at IS NULL
		DO UPDATE SET reports = projects.reports + 1, version = projects.version + 1, updated_at = excluded.updated_at
		RETURNING id`
	p := seo.Project{Name: r.Project}
	args := pgx.NamedArgs{"account": r.AccountID, "name": p.Name, "search_name": p.SearchName(), "now": r.CreatedAt}
	err = tx.QueryRow(ctx, query, args).Scan(&id)
	return id, err
}

func insertReport(ctx context.Context, tx pgx.Tx, r *seo.Report) error {
	const query = `
		INSERT INTO reports (account_id, project_id, url, search_url, scope, max_pages, max_depth, sitemap, ignore_robots, privacy, password_hash, state, run,
			stopping, done, found, current, score, outcome, version, queued_at, generated_at, created_at, updated_at, owner, with_project)
		VALUES (@account, @project, @url, @search_url, @scope, @max_pages, @max_depth, @sitemap, @ignore_robots, @privacy, @password_hash, @state, @run,
			@stopping, @done, @found, @current, @score, @outcome, @version, @queued_at, @generated_at, @created_at, @updated_at, '', false)
		RETURNING id`
	outcome, err := seo.ToText(r.Outcome)
	if err != nil {
		return err
	}
	return tx.QueryRow(ctx, query, pgx.NamedArgs{
		"account": r.AccountID, "project": r.ProjectID, "url": r.URL, "search_url": r.SearchURL(), "scope": r.Scope,
		"max_pages": r.MaxPages, "max_depth": r.MaxDepth, "sitemap": r.Sitemap, "ignore_robots": r.IgnoreRobots,
		"privacy": r.Privacy, "password_hash": r.PasswordHash, "state": r.State, "run": r.Run, "stopping": r.Stopping, "done": r.Progress.Done, "found": r.Progress.Found, "current": r.Progress.Current,
		"score": r.Score, "outcome": outcome, "version": r.Version,
		"queued_at": r.QueuedAt, "generated_at": orNull(r.GeneratedAt), "created_at": r.CreatedAt, "updated_at": r.UpdatedAt,
	}).Scan(&r.ID)
}

// insertRun begins the newest run of a report, and lets the oldest go.
func insertRun(ctx context.Context, tx pgx.Tx, r *seo.Report) error {
	const query = `
		INSERT INTO runs (report_id, number, state, queued_at, outcome, pages, pages_done, checks, checks_done, fetched, cut, items, site, leftover)
		VALUES (@report, @number, @state, @queued_at, '', 0, 0, 0, 0, 0, '', 0, '', false)`
	const old = `UPDATE runs SET report_id = NULL WHERE report_id = @report AND number <= @old`
	args := pgx.NamedArgs{"report": r.ID, "number": r.Run, "state": r.State, "queued_at": r.QueuedAt, "old": r.Run - seo.MaxRuns}
	if _, err := tx.Exec(ctx, old, args); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, query, args)
	return err
}

// UpdateReport implements seo.Reports.
func (db *DB) UpdateReport(ctx context.Context, account, id int64, edit func(*seo.Report) error) (stored seo.Report, err error) {
	err = db.onceWhole(ctx, fmt.Sprintf("report %d", id), nil, func(tx pgx.Tx) (err error) {
		stored, err = editReport(ctx, tx, account, id, edit)
		return err
	})
	return stored, err
}

// StopReport implements seo.Reports.
func (db *DB) StopReport(ctx context.Context, account, id int64, now time.Time, r *seo.Report, once *receipt.Receipt) error {
	return db.onceWhole(ctx, fmt.Sprintf("report %d", id), once, func(tx pgx.Tx) (err error) {
		*r, err = editReport(ctx, tx, account, id, func(r *seo.Report) error { return r.StopAt(now) })
		return err
	})
}

// editReport reads a report, lets edit change it and stores it.
func editReport(ctx context.Context, tx pgx.Tx, account, id int64, edit func(*seo.Report) error) (stored seo.Report, err error) {
	before, err := single(ctx, tx, findReport+` FOR UPDATE`, pgx.NamedArgs{"account": account, "id": id}, scanReport)
	if err != nil {
		return stored, err
	}
	edited := before
	if err := edit(&edited); err != nil {
		return stored, asItIs{err}
	}
	stored = before.Edited(edited)
	return stored, updateReport(ctx, tx, &before, &stored)
}

// updateReport stores what an owner changed.
func updateReport(ctx context.Context, tx pgx.Tx, before, r *seo.Report) error {
	const query = `
		UPDATE reports
		SET privacy = @privacy, password_hash = @password_hash, state = @state, run = @run, stopping = @stopping, done = @done, found = @found,
			current = @current, queued_at = @queued_at, version = @version, updated_at = @updated_at
		WHERE id = @id`
	const endRun = `UPDATE runs SET state = @state, ended_at = @updated_at WHERE report_id = @id AND number = @run`
	again := r.Run != before.Run
	if again {
		if err := needRoom(ctx, tx, r.AccountID); err != nil {
			return err
		}
	}
	args := pgx.NamedArgs{
		"id": r.ID, "privacy": r.Privacy, "password_hash": r.PasswordHash, "state": r.State, "run": r.Run, "stopping": r.Stopping,
		"done": r.Progress.Done, "found": r.Progress.Found, "current": r.Progress.Current,
		"queued_at": r.QueuedAt, "version": r.Version, "updated_at": r.UpdatedAt,
	}
	_, err := tx.Exec(ctx, query, args)
	switch {
	case err != nil:
		return err
	case again:
		return insertRun(ctx, tx, r)
	case r.State != before.State:
		_, err = tx.Exec(ctx, endRun, args)
	}
	return err
}

// lockProject locks the project of a report, and says whether it is outside the trash.
func lockProject(ctx context.Context, tx pgx.Tx, report int64) (id int64, there bool, err error) {
	const query = `
		SELECT id, deleted_at IS NULL FROM projects
		WHERE id = (SELECT project_id FROM reports WHERE id = @report)
		FOR NO KEY UPDATE`
	err = tx.QueryRow(ctx, query, pgx.NamedArgs{"report": report}).Scan(&id, &there)
	return id, there, err
}

// DeleteReport implements seo.Reports.
func (db *DB) DeleteReport(ctx context.Context, account, id int64, how trash.Deletion) error {
	const where = ` WHERE account_id = @account AND id = @id AND deleted_at IS NULL`
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		project, _, err := lockProject(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := reports.removeIn(ctx, tx, where, how, pgx.NamedArgs{"account": account, "id": id}); err != nil {
			return err
		}
		return countReports(ctx, tx, project, -1, how.At)
	})
	return db.explain(ctx, fmt.Sprintf("report %d", id), err)
}

// RestoreReport implements seo.Reports.
func (db *DB) RestoreReport(ctx context.Context, account, id int64, r *seo.Report, once *receipt.Receipt) error {
	const query = `
		UPDATE reports SET deleted_at = NULL
		WHERE account_id = @account AND id = @id AND deleted_at IS NOT NULL AND NOT with_project
		RETURNING ` + reportColumns
	return db.onceWhole(ctx, fmt.Sprintf("report %d in the trash", id), once, func(tx pgx.Tx) error {
		project, there, err := lockProject(ctx, tx, id)
		if err != nil {
			return err
		}
		restored, err := single(ctx, tx, query, pgx.NamedArgs{"account": account, "id": id}, scanReport)
		if err != nil {
			return err
		}
		if !there {
			return asItIs{seo.ErrProjectGone}
		}
		*r = restored
		return countReports(ctx, tx, project, 1, time.Time{})
	})
}

// countReports lets the counters of a project follow its reports: so many more, and the newest of those with a score.
func countReports(ctx context.Context, tx pgx.Tx, project int64, more int, now time.Time) error {
	const query = `
		UPDATE projects
		SET reports = reports + @more, version = version + 1, updated_at = coalesce(@now, updated_at),
			(score, last_report_at) = (
				SELECT score, generated_at FROM reports
				WHERE project_id = @project AND score IS NOT NULL AND deleted_at IS NULL
				ORDER BY generated_at DESC, id DESC LIMIT 1)
		WHERE id = @project`
	_, err := tx.Exec(ctx, query, pgx.NamedArgs{"project": project, "more": more, "now": orNull(now)})
	return err
}
