package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
)

const websiteColumns = `id, account_id, url, domain, privacy, password_hash, email, exclude_bots, exclude_params, exclude_ips,
	tracking_id, version, created_at, updated_at`

// scanner is a row of any kind.
type scanner interface{ Scan(...any) error }

func scanWebsite(row scanner) (w analytics.Website, err error) {
	err = row.Scan(&w.ID, &w.AccountID, &w.URL, &w.Domain, &w.Privacy, &w.PasswordHash, &w.Email, &w.ExcludeBots, &w.ExcludeParams, &w.ExcludeIPs,
		&w.TrackingID, &w.Version, instant{&w.CreatedAt}, instant{&w.UpdatedAt})
	return w, err
}

// Websites implements analytics.Websites.
func (db *DB) Websites(ctx context.Context, account int64, r listing.Request) (listing.Page[analytics.Website], error) {
	where := ` FROM websites WHERE account_id = ? AND deleted_at IS NULL`
	args := []any{account}
	if r.Search != "" {
		column := map[string]string{analytics.SearchByURL: "search_url", analytics.SearchByDomain: "search_domain"}[r.SearchBy]
		where += ` AND instr(` + column + `, ?) > 0`
		args = append(args, listing.Fold(r.Search))
	}
	order := map[string]string{
		analytics.SortByURL:     "domain %[1]s, url %[1]s, id %[1]s",
		analytics.SortByCreated: "created_at %[1]s, id %[1]s",
	}[r.SortBy]
	return page(ctx, db, websiteColumns, where, order, args, r, scanWebsite)
}

// page runs a list's query and, unless the first page shows all, its count.
func page[T any](ctx context.Context, db *DB, columns, where, order string, args []any, r listing.Request, scan func(scanner) (T, error)) (listing.Page[T], error) {
	direction := "ASC"
	if r.Desc {
		direction = "DESC"
	}
	result := listing.Page[T]{}
	query := `SELECT ` + columns + where + ` ORDER BY ` + fmt.Sprintf(order, direction) + ` LIMIT ? OFFSET ?`
	rows, err := db.read.QueryContext(ctx, query, append(args[:len(args):len(args)], r.PerPage, r.Offset())...)
	if err != nil {
		return result, failure(err)
	}
	if result.Items, err = all(rows, scan); err != nil {
		return result, err
	}
	if result.Total = len(result.Items); r.Page == 1 && result.Total < r.PerPage {
		return result, nil
	}
	return result, failure(db.read.QueryRowContext(ctx, `SELECT count(*)`+where, args...).Scan(&result.Total))
}

// Website implements analytics.Websites.
func (db *DB) Website(ctx context.Context, account, id int64) (analytics.Website, error) {
	const query = `SELECT ` + websiteColumns + ` FROM websites WHERE account_id = ? AND id = ? AND deleted_at IS NULL`
	w, err := scanWebsite(db.read.QueryRowContext(ctx, query, account, id))
	return w, missing(err, "website %d", id)
}

// CreateWebsite implements analytics.Websites.
func (db *DB) CreateWebsite(ctx context.Context, w *analytics.Website) error {
	const query = `
		INSERT INTO websites (account_id, url, domain, search_url, search_domain, privacy, password_hash, email, exclude_bots,
			exclude_params, exclude_ips, tracking_id, version, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
	return db.change(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRow(query, w.AccountID, w.URL, w.Domain, w.SearchURL(), w.SearchDomain(), w.Privacy, w.PasswordHash, w.Email, w.ExcludeBots,
			w.ExcludeParams, w.ExcludeIPs, w.TrackingID, w.Version, unix(w.CreatedAt), unix(w.UpdatedAt)).Scan(&w.ID)
		return ofAccount(err, w.AccountID)
	})
}

// ofAccount gives a reference to an account that does not exist its kind.
func ofAccount(err error, account int64) error {
	if violates(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY) {
		return fmt.Errorf("account %d: %w", account, fault.NotFound)
	}
	return err
}

// UpdateWebsite implements analytics.Websites.
func (db *DB) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (analytics.Website, error) {
	const read = `SELECT ` + websiteColumns + ` FROM websites WHERE account_id = ? AND id = ? AND deleted_at IS NULL`
	const write = `
		UPDATE websites
		SET url = ?, domain = ?, search_url = ?, search_domain = ?, privacy = ?, password_hash = ?, email = ?, exclude_bots = ?,
			exclude_params = ?, exclude_ips = ?, tracking_id = ?, version = ?, created_at = ?, updated_at = ?
		WHERE account_id = ? AND id = ?`
	var w analytics.Website
	err := db.change(ctx, func(tx *sql.Tx) error {
		before, err := scanWebsite(tx.QueryRow(read, account, id))
		if err != nil {
			return missing(err, "website %d", id)
		}
		w = before
		if err := edit(&w); err != nil {
			return err
		}
		if w.ID, w.AccountID = before.ID, before.AccountID; w == before {
			return nil
		}
		_, err = tx.Exec(write, w.URL, w.Domain, w.SearchURL(), w.SearchDomain(), w.Privacy, w.PasswordHash, w.Email, w.ExcludeBots,
			w.ExcludeParams, w.ExcludeIPs, w.TrackingID, w.Version, unix(w.CreatedAt), unix(w.UpdatedAt), account, id)
		return err
	})
	return w, err
}

// DeleteWebsite implements analytics.Websites.
func (db *DB) DeleteWebsite(ctx context.Context, account, id int64) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRow(`DELETE FROM websites WHERE account_id = ? AND id = ? AND deleted_at IS NULL RETURNING id`, account, id).Scan(&id)
		return missing(err, "website %d", id)
	})
}

// OldestWebsite implements analytics.Websites.
func (db *DB) OldestWebsite(ctx context.Context, account int64, domain string) (int64, error) {
	const query = `SELECT min(id) FROM websites WHERE account_id = ? AND domain = ? AND deleted_at IS NULL`
	var id sql.NullInt64
	err := db.read.QueryRowContext(ctx, query, account, domain).Scan(&id)
	if err == nil && !id.Valid {
		err = sql.ErrNoRows
	}
	return id.Int64, missing(err, "website with domain %s", domain)
}
