package postgres

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/listing"
	"sightline/internal/seo"
)

const projectColumns = `id, account_id, name, reports, score, last_report_at, version, created_at, updated_at`

func scanProject(row pgx.CollectableRow) (p seo.Project, err error) {
	var reported *time.Time
	err = row.Scan(&p.ID, &p.AccountID, &p.Name, &p.Reports, &p.Score, &reported, &p.Version, &p.CreatedAt, &p.UpdatedAt)
	p.LastReportAt = orZero(reported)
	p.CreatedAt, p.UpdatedAt = p.CreatedAt.UTC(), p.UpdatedAt.UTC()
	return p, err
}

// Projects implements seo.Projects.
func (db *DB) Projects(ctx context.Context, account int64, r listing.Request) (listing.Page[seo.Project], error) {
	from := `FROM projects WHERE account_id = @account AND deleted_at IS NULL`
	if r.Search != "" {
		from += ` AND position(@search in search_name) > 0`
	}
	page := `SELECT ` + projectColumns + ` ` + from + ` ORDER BY ` + projectOrder(r) + ` LIMIT @limit OFFSET @offset`
	count := `SELECT count(*) ` + from
	args := pgx.NamedArgs{"account": account, "search": listing.Fold(r.Search), "limit": r.PerPage, "offset": r.Offset()}
	return list(ctx, db, "projects", page, count, args, scanProject)
}

func projectOrder(r listing.Request) string {
	switch {
	case r.SortBy == seo.SortByProject && r.Desc:
		return `name DESC, id DESC`
	case r.SortBy == seo.SortByProject:
		return `name, id`
	case r.Desc:
		return `created_at DESC, id DESC`
	default:
		return `created_at, id`
	}
}

// Project implements seo.Projects.
func (db *DB) Project(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	return db.project(ctx, account, ref, `SELECT `+projectColumns+` FROM projects`, ``)
}

// CreateProject implements seo.Projects.
func (db *DB) CreateProject(ctx context.Context, p *seo.Project) error {
	const query = `
		INSERT INTO projects (account_id, name, search_name, reports, score, last_report_at, version, created_at, updated_at)
		VALUES (@account, @name, @search_name, @reports, @score, @last_report_at, @version, @created_at, @updated_at)
		RETURNING id`
	var id int64
	err := db.pool.QueryRow(ctx, query, pgx.NamedArgs{
		"account": p.AccountID, "name": p.Name, "search_name": p.SearchName(),
		"reports": p.Reports, "score": p.Score, "last_report_at": orNull(p.LastReportAt),
		"version": p.Version, "created_at": p.CreatedAt, "updated_at": p.UpdatedAt,
	}).Scan(&id)
	if err != nil {
		return db.explain(ctx, "create project", err)
	}
	p.ID = id
	return nil
}

// DeleteProject implements seo.Projects.
func (db *DB) DeleteProject(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	return db.project(ctx, account, ref, `DELETE FROM projects`, ` RETURNING `+projectColumns)
}

// project runs a statement on the project that ref names: what stands before its WHERE clause and what stands after it.
func (db *DB) project(ctx context.Context, account int64, ref seo.Ref, before, after string) (seo.Project, error) {
	where := ` WHERE account_id = @account AND name = @name AND deleted_at IS NULL`
	if ref.ID != 0 {
		where = ` WHERE account_id = @account AND id = @id AND deleted_at IS NULL`
	}
	what := "project " + cmp.Or(ref.Name, strconv.FormatInt(ref.ID, 10))
	rows, err := db.pool.Query(ctx, before+where+after, pgx.NamedArgs{"account": account, "id": ref.ID, "name": ref.Name})
	if err != nil {
		return seo.Project{}, db.explain(ctx, what, err)
	}
	p, err := pgx.CollectExactlyOneRow(rows, scanProject)
	return p, db.explain(ctx, what, err)
}
