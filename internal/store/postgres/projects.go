package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

const projectColumns = `id, account_id, name, reports, score, last_report_at, version, created_at, updated_at`

func scanProject(row pgx.CollectableRow) (p seo.Project, err error) {
	var reported *time.Time
	err = row.Scan(&p.ID, &p.AccountID, &p.Name, &p.Reports, &p.Score, &reported, &p.Version, &p.CreatedAt, &p.UpdatedAt)
	p.LastReportAt = orZero(reported)
	p.CreatedAt, p.UpdatedAt = p.CreatedAt.UTC(), p.UpdatedAt.UTC()
	return p, err
}

var projects = shelf[seo.Project]{
	table: "projects", object: string(trash.Project), columns: projectColumns, trigrams: "search_name", scan: scanProject,
}

// Projects implements seo.Projects.
func (db *DB) Projects(ctx context.Context, account int64, r listing.Request) (listing.Page[seo.Project], error) {
	return projects.list(ctx, db, account, r, "search_name", projectOrder(r))
}

func projectOrder(r listing.Request) string {
	switch {
	case r.SortBy == seo.SortByProject && r.Desc:
		return `name DESC` // an account has a name once
	case r.SortBy == seo.SortByProject:
		return `name`
	case r.Desc:
		return `created_at DESC, id DESC`
	default:
		return `created_at, id`
	}
}

// Project implements seo.Projects.
func (db *DB) Project(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	where, args := projectWhere(account, ref)
	p, err := single(ctx, db.pool, `SELECT `+projectColumns+` FROM projects`+where, args, scanProject)
	return p, db.explain(ctx, projectName(ref), err)
}

// CreateProject implements seo.Projects.
func (db *DB) CreateProject(ctx context.Context, p *seo.Project, r *receipt.Receipt) error {
	const query = `
		INSERT INTO projects (account_id, name, search_name, reports, score, last_report_at, version, created_at, updated_at)
		VALUES (@account, @name, @search_name, @reports, @score, @last_report_at, @version, @created_at, @updated_at)
		RETURNING id`
	return db.once(ctx, "create project", r, func(q querier) error {
		return q.QueryRow(ctx, query, pgx.NamedArgs{
			"account": p.AccountID, "name": p.Name, "search_name": p.SearchName(),
			"reports": p.Reports, "score": p.Score, "last_report_at": orNull(p.LastReportAt),
			"version": p.Version, "created_at": p.CreatedAt, "updated_at": p.UpdatedAt,
		}).Scan(&p.ID)
	})
}

// DeleteProject implements seo.Projects.
func (db *DB) DeleteProject(ctx context.Context, account int64, ref seo.Ref, how trash.Deletion) (p seo.Project, err error) {
	const move = `UPDATE reports SET deleted_at = @at, with_project = true WHERE project_id = @project AND deleted_at IS NULL`
	where, args := projectWhere(account, ref)
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if p, err = projects.removeIn(ctx, tx, where, how, args); err != nil || how.At.IsZero() {
			return err
		}
		_, err := tx.Exec(ctx, move, pgx.NamedArgs{"at": how.At, "project": p.ID})
		return err
	})
	return p, db.explain(ctx, projectName(ref), err)
}

// RestoreProject implements seo.Projects.
func (db *DB) RestoreProject(ctx context.Context, account, id int64, p *seo.Project, r *receipt.Receipt) error {
	const move = `UPDATE reports SET deleted_at = NULL, with_project = false WHERE project_id = @project AND with_project`
	return db.onceWhole(ctx, fmt.Sprintf("project %d in the trash", id), r, func(tx pgx.Tx) error {
		restored, err := projects.restore(ctx, tx, account, id)
		if err != nil {
			return err
		}
		*p = restored
		_, err = tx.Exec(ctx, move, pgx.NamedArgs{"project": id})
		return err
	})
}

// projectWhere finds the project that ref names.
func projectWhere(account int64, ref seo.Ref) (string, pgx.NamedArgs) {
	if ref.ID != 0 {
		return ` WHERE account_id = @account AND id = @id AND deleted_at IS NULL`, pgx.NamedArgs{"account": account, "id": ref.ID}
	}
	return ` WHERE account_id = @account AND name = @name AND deleted_at IS NULL`, pgx.NamedArgs{"account": account, "name": ref.Name}
}

// projectName is what errors call the project that ref names.
func projectName(ref seo.Ref) string {
	return "project " + cmp.Or(ref.Name, strconv.FormatInt(ref.ID, 10))
}
