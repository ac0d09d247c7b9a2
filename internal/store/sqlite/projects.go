package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/listing"
	"sightline/internal/seo"
)

const projectColumns = `id, account_id, name, reports, score, last_report_at, version, created_at, updated_at`

func scanProject(row scanner) (p seo.Project, err error) {
	err = row.Scan(&p.ID, &p.AccountID, &p.Name, &p.Reports, &p.Score, instant{&p.LastReportAt}, &p.Version,
		instant{&p.CreatedAt}, instant{&p.UpdatedAt})
	return p, err
}

// Projects implements seo.Projects.
func (db *DB) Projects(ctx context.Context, account int64, r listing.Request) (listing.Page[seo.Project], error) {
	where := ` FROM projects WHERE account_id = ? AND deleted_at IS NULL`
	args := []any{account}
	if r.Search != "" {
		where += ` AND instr(search_name, ?) > 0`
		args = append(args, listing.Fold(r.Search))
	}
	order := map[string]string{
		seo.SortByProject: "name %[1]s, id %[1]s",
		seo.SortByCreated: "created_at %[1]s, id %[1]s",
	}[r.SortBy]
	return page(ctx, db, projectColumns, where, order, args, r, scanProject)
}

// Project implements seo.Projects.
func (db *DB) Project(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	column, key := refColumn(ref)
	query := `SELECT ` + projectColumns + ` FROM projects WHERE account_id = ? AND ` + column + ` = ? AND deleted_at IS NULL`
	p, err := scanProject(db.read.QueryRowContext(ctx, query, account, key))
	return p, missing(err, "project %v", key)
}

// CreateProject implements seo.Projects.
func (db *DB) CreateProject(ctx context.Context, p *seo.Project) error {
	const query = `
		INSERT INTO projects (account_id, name, search_name, reports, score, last_report_at, version, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
	return db.change(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRow(query, p.AccountID, p.Name, p.SearchName(), p.Reports, p.Score, unix(p.LastReportAt), p.Version,
			unix(p.CreatedAt), unix(p.UpdatedAt)).Scan(&p.ID)
		if violates(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
			return fmt.Errorf("create project: %w", seo.ErrNameTaken)
		}
		return ofAccount(err, p.AccountID)
	})
}

// DeleteProject implements seo.Projects.
func (db *DB) DeleteProject(ctx context.Context, account int64, ref seo.Ref) (p seo.Project, err error) {
	column, key := refColumn(ref)
	query := `DELETE FROM projects WHERE account_id = ? AND ` + column + ` = ? AND deleted_at IS NULL RETURNING ` + projectColumns
	err = db.change(ctx, func(tx *sql.Tx) error {
		p, err = scanProject(tx.QueryRow(query, account, key))
		return missing(err, "project %v", key)
	})
	return p, err
}

// refColumn is the column that a ref names a project by, with its value.
func refColumn(ref seo.Ref) (string, any) {
	if ref.ID != 0 {
		return "id", ref.ID
	}
	return "name", ref.Name
}
