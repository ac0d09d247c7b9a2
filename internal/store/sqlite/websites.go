package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/access"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/trash"
)

// websiteColumns reads a website as one packed text: what the driver does for each column of a row (locks, names, types)
// would be the larger part of the cost of a list.
const websiteColumns = `concat_ws(char(31), id, account_id, url, domain, privacy, password_hash, email, exclude_bots, exclude_params, exclude_ips,
	tracking_id, version, created_at, updated_at)`

// scanner is a row of any kind.
type scanner interface{ Scan(...any) error }

func scanWebsite(row scanner) (analytics.Website, error) {
	var p packed
	if err := row.Scan(&p.rest); err != nil {
		return analytics.Website{}, err
	}
	w := analytics.Website{ID: p.number(), AccountID: p.number(), URL: p.text(), Domain: p.text(), Privacy: access.Privacy(p.number()),
		PasswordHash: p.text(), Email: p.number() == 1, ExcludeBots: p.number() == 1, ExcludeParams: p.text(), ExcludeIPs: p.text(),
		TrackingID: p.text(), Version: p.number(), CreatedAt: p.instant(), UpdatedAt: p.instant()}
	return w, p.end()
}

// Websites implements analytics.Websites.
func (db *DB) Websites(ctx context.Context, account int64, r listing.Request) (listing.Page[analytics.Website], error) {
	query := pageQuery{columns: websiteColumns, from: ` FROM websites WHERE account_id = ? AND deleted_at IS NULL`, args: []any{account}}
	if r.Search == "" {
		query.total = trash.Website
	} else {
		column := map[string]string{analytics.SearchByURL: "search_url", analytics.SearchByDomain: "search_domain"}[r.SearchBy]
		if err := db.search(ctx, &query, searched{trash.Website, "websites", "websites_text", column}, r.Search); err != nil {
			return listing.Page[analytics.Website]{}, err
		}
	}
	query.order = map[string]string{
		analytics.SortByURL:     directed(r, "domain", "url", "id"),
		analytics.SortByCreated: directed(r, "created_at", "id"),
	}[r.SortBy]
	return page(ctx, db, query, r, scanWebsite)
}

// Website implements analytics.Websites.
func (db *DB) Website(ctx context.Context, account, id int64) (analytics.Website, error) {
	w, err := scanWebsite(db.queryRow(ctx, readWebsite, account, id))
	return w, missing(err, "website %d", id)
}

// CreateWebsite implements analytics.Websites.
func (db *DB) CreateWebsite(ctx context.Context, w *analytics.Website, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func(tx *sql.Tx) error { return insertWebsites(tx, w) })
}

// insertWebsites stores new websites and sets their ids. It does so a hundred at a time: what SQLite keeps to undo a statement
// that fails costs as much as the rest of it.
func insertWebsites(tx *sql.Tx, websites ...*analytics.Website) error {
	const query = `
		INSERT INTO websites (account_id, url, domain, search_url, search_domain, privacy, password_hash, email, exclude_bots,
			exclude_params, exclude_ips, tracking_id, version, created_at, updated_at)
		VALUES `
	const row = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	for some := range slices.Chunk(websites, 100) {
		var values []any
		created := make(map[string]*analytics.Website, len(some)) // by tracking id
		for _, w := range some {
			values = append(values, w.AccountID, w.URL, w.Domain, w.SearchURL(), w.SearchDomain(), w.Privacy, w.PasswordHash, w.Email, w.ExcludeBots,
				w.ExcludeParams, w.ExcludeIPs, w.TrackingID, w.Version, unix(w.CreatedAt), unix(w.UpdatedAt))
			created[w.TrackingID] = w
		}
		rows, err := tx.Query(query+row+strings.Repeat(", "+row, len(some)-1)+` RETURNING id, tracking_id`, values...)
		if err != nil {
			return ofAccount(err, some[0].AccountID)
		}
		_, err = all(rows, func(row scanner) (id int64, err error) {
			var tracking string
			if err = row.Scan(&id, &tracking); err == nil {
				created[tracking].ID = id
			}
			return id, err
		})
		if err != nil {
			return ofAccount(err, some[0].AccountID)
		}
	}
	return nil
}

// ofAccount gives a reference to an account that does not exist its kind.
func ofAccount(err error, account int64) error {
	if violates(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY) {
		return fmt.Errorf("account %d: %w", account, fault.NotFound)
	}
	return err
}

// readWebsite finds a website outside the trash.
const readWebsite = `SELECT ` + websiteColumns + ` FROM websites WHERE account_id = ? AND id = ? AND deleted_at IS NULL`

// UpdateWebsite implements analytics.Websites.
func (db *DB) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (w analytics.Website, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		before, err := scanWebsite(tx.QueryRow(readWebsite, account, id))
		if err != nil {
			return missing(err, "website %d", id)
		}
		w = before
		if err := edit(&w); err != nil {
			return err
		}
		return updateWebsite(tx, before, &w)
	})
	return w, err
}

// updateWebsite stores what differs from before. The id and the account never do.
func updateWebsite(tx *sql.Tx, before analytics.Website, w *analytics.Website) error {
	const query = `
		UPDATE websites
		SET url = ?, domain = ?, search_url = ?, search_domain = ?, privacy = ?, password_hash = ?, email = ?, exclude_bots = ?,
			exclude_params = ?, exclude_ips = ?, tracking_id = ?, version = ?, created_at = ?, updated_at = ?
		WHERE account_id = ? AND id = ?`
	if w.ID, w.AccountID = before.ID, before.AccountID; *w == before {
		return nil
	}
	_, err := tx.Exec(query, w.URL, w.Domain, w.SearchURL(), w.SearchDomain(), w.Privacy, w.PasswordHash, w.Email, w.ExcludeBots,
		w.ExcludeParams, w.ExcludeIPs, w.TrackingID, w.Version, unix(w.CreatedAt), unix(w.UpdatedAt), w.AccountID, w.ID)
	return err
}

// DeleteWebsite implements analytics.Websites.
func (db *DB) DeleteWebsite(ctx context.Context, account, id int64, how trash.Deletion) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		w, err := scanWebsite(tx.QueryRow(readWebsite, account, id))
		if err != nil {
			return missing(err, "website %d", id)
		}
		return remove(tx, "websites", id, w.Version, how)
	})
}

// RestoreWebsite implements analytics.Websites.
func (db *DB) RestoreWebsite(ctx context.Context, account, id int64, w *analytics.Website, r *receipt.Receipt) error {
	const query = `UPDATE websites SET deleted_at = NULL WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL RETURNING ` + websiteColumns
	return db.changeOnce(ctx, r, func(tx *sql.Tx) (err error) {
		*w, err = scanWebsite(tx.QueryRow(query, account, id))
		return missing(err, "website %d in the trash", id)
	})
}

// ApplyWebsites implements analytics.BulkWebsites.
func (db *DB) ApplyWebsites(ctx context.Context, account int64, domains []string, edit func(map[string]analytics.Website) ([]*analytics.Website, error)) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		found, err := oldestWebsites(tx, account, domains)
		if err != nil {
			return err
		}
		stored := make(map[int64]analytics.Website, len(found))
		for _, w := range found {
			stored[w.ID] = w
		}
		wanted, err := edit(found)
		if err != nil {
			return err
		}
		var missing []*analytics.Website
		for _, w := range wanted {
			before, known := stored[w.ID]
			switch {
			case known:
				err = updateWebsite(tx, before, w)
			case w.ID == 0:
				w.AccountID = account
				missing = append(missing, w)
			default:
				err = fmt.Errorf("bulk change: website %d was not found before", w.ID)
			}
			if err != nil {
				return err
			}
		}
		return insertWebsites(tx, missing...)
	})
}

// oldestWebsites finds the oldest website of each domain.
func oldestWebsites(tx *sql.Tx, account int64, domains []string) (map[string]analytics.Website, error) {
	const query = `
		SELECT ` + websiteColumns + ` FROM websites WHERE id IN (
			SELECT (SELECT min(id) FROM websites WHERE account_id = ?2 AND domain = wanted.value AND deleted_at IS NULL)
			FROM json_each(?1) wanted)`
	list, err := json.Marshal(domains)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(query, string(list), account)
	if err != nil {
		return nil, err
	}
	websites, err := all(rows, scanWebsite)
	found := make(map[string]analytics.Website, len(websites))
	for _, w := range websites {
		found[w.Domain] = w
	}
	return found, err
}

// OldestWebsite implements analytics.Websites.
func (db *DB) OldestWebsite(ctx context.Context, account int64, domain string) (int64, error) {
	const query = `SELECT min(id) FROM websites WHERE account_id = ? AND domain = ? AND deleted_at IS NULL`
	var id sql.NullInt64
	err := db.queryRow(ctx, query, account, domain).Scan(&id)
	if err == nil && !id.Valid {
		err = sql.ErrNoRows
	}
	return id.Int64, missing(err, "website with domain %s", domain)
}
