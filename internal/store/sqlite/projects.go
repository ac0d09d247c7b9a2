package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

const projectColumns = `id, account_id, name, reports, score, last_report_at, version, created_at, updated_at`

func scanProject(row scanner) (p seo.Project, err error) {
	err = row.Scan(&p.ID, &p.AccountID, &p.Name, &p.Reports, &p.Score, instant{&p.LastReportAt}, &p.Version,
		instant{&p.CreatedAt}, instant{&p.UpdatedAt})
	return p, err
}

// Projects implements seo.Projects.
func (db *DB) Projects(ctx context.Context, account int64, r listing.Request) (listing.Page[seo.Project], error) {
	query := pageQuery{columns: projectColumns, from: ` FROM projects WHERE account_id = ? AND deleted_at IS NULL`, args: []any{account}}
	if r.Search == "" {
		query.total = trash.Project
	} else {
		if err := db.search(ctx, &query, searched{trash.Project, "projects", "projects_text", "search_name"}, r.Search); err != nil {
			return listing.Page[seo.Project]{}, err
		}
	}
	query.order = map[string]string{
		seo.SortByProject: directed(r, "name", "id"),
		seo.SortByCreated: directed(r, "created_at", "id"),
	}[r.SortBy]
	return page(ctx, db, query, r, scanProject)
}

// Project implements seo.Projects.
func (db *DB) Project(ctx context.Context, account int64, ref seo.Ref) (seo.Project, error) {
	query, key := readProject(ref)
	p, err := scanProject(db.queryRow(ctx, query, account, key))
	return p, missing(err, "project %v", key)
}

// CreateProject implements seo.Projects.
func (db *DB) CreateProject(ctx context.Context, p *seo.Project, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func(tx *sql.Tx) error { return insertProject(tx, p) })
}

func insertProject(tx *sql.Tx, p *seo.Project) error {
	const query = `
		INSERT INTO projects (account_id, name, search_name, reports, score, last_report_at, version, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
	err := tx.QueryRow(query, p.AccountID, p.Name, p.SearchName(), p.Reports, p.Score, unix(p.LastReportAt), p.Version,
		unix(p.CreatedAt), unix(p.UpdatedAt)).Scan(&p.ID)
	return ofAccount(nameTaken(err), p.AccountID)
}

// nameTaken gives a name that another project has its kind.
func nameTaken(err error) error {
	if violates(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
		return fmt.Errorf("project: %w", seo.ErrNameTaken)
	}
	return err
}

// DeleteProject implements seo.Projects.
func (db *DB) DeleteProject(ctx context.Context, account int64, ref seo.Ref, how trash.Deletion) (p seo.Project, err error) {
	query, key := readProject(ref)
	err = db.change(ctx, func(tx *sql.Tx) error {
		if p, err = scanProject(tx.QueryRow(query, account, key)); err != nil {
			return missing(err, "project %v", key)
		}
		if err := remove(tx, "projects", p.ID, p.Version, how); err != nil || how.At.IsZero() {
			return err
		}
		_, err := tx.Exec(`UPDATE reports SET deleted_at = ?, with_project = 1 WHERE project_id = ? AND deleted_at IS NULL`, unix(how.At), p.ID)
		return err
	})
	return p, err
}

// RestoreProject implements seo.Projects.
func (db *DB) RestoreProject(ctx context.Context, account, id int64, p *seo.Project, r *receipt.Receipt) error {
	const query = `UPDATE projects SET deleted_at = NULL WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL RETURNING ` + projectColumns
	return db.changeOnce(ctx, r, func(tx *sql.Tx) (err error) {
		if *p, err = scanProject(tx.QueryRow(query, account, id)); err != nil {
			return missing(nameTaken(err), "project %d in the trash", id)
		}
		_, err = tx.Exec(`UPDATE reports SET deleted_at = NULL, with_project = 0 WHERE project_id = ? AND with_project`, id)
		return err
	})
}

// readProject is the query that finds what a ref names, outside the trash, with its second argument.
func readProject(ref seo.Ref) (query string, key any) {
	column := "name"
	if key = ref.Name; ref.ID != 0 {
		column, key = "id", ref.ID
	}
	return `SELECT ` + projectColumns + ` FROM projects WHERE account_id = ? AND ` + column + ` = ? AND deleted_at IS NULL`, key
}
