package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"sightline/internal/analytics"
	"sightline/internal/listing"
)

const websiteColumns = `id, account_id, url, domain, privacy, password_hash, email, exclude_bots,
	exclude_params, exclude_ips, tracking_id, version, created_at, updated_at`

func scanWebsite(row pgx.CollectableRow) (w analytics.Website, err error) {
	err = row.Scan(&w.ID, &w.AccountID, &w.URL, &w.Domain, &w.Privacy, &w.PasswordHash, &w.Email, &w.ExcludeBots,
		&w.ExcludeParams, &w.ExcludeIPs, &w.TrackingID, &w.Version, &w.CreatedAt, &w.UpdatedAt)
	w.CreatedAt, w.UpdatedAt = w.CreatedAt.UTC(), w.UpdatedAt.UTC()
	return w, err
}

func websiteArgs(w *analytics.Website) pgx.NamedArgs {
	return pgx.NamedArgs{
		"id": w.ID, "account": w.AccountID, "url": w.URL, "domain": w.Domain,
		"search_url": w.SearchURL(), "search_domain": w.SearchDomain(),
		"privacy": w.Privacy, "password_hash": w.PasswordHash, "email": w.Email, "exclude_bots": w.ExcludeBots,
		"exclude_params": w.ExcludeParams, "exclude_ips": w.ExcludeIPs, "tracking_id": w.TrackingID,
		"version": w.Version, "created_at": w.CreatedAt, "updated_at": w.UpdatedAt,
	}
}

// Websites implements analytics.Websites.
func (db *DB) Websites(ctx context.Context, account int64, r listing.Request) (listing.Page[analytics.Website], error) {
	from := `FROM websites WHERE account_id = @account AND deleted_at IS NULL` + websiteSearch(r)
	page := `SELECT ` + websiteColumns + ` ` + from + ` ORDER BY ` + websiteOrder(r) + ` LIMIT @limit OFFSET @offset`
	count := `SELECT count(*) ` + from
	args := pgx.NamedArgs{"account": account, "search": listing.Fold(r.Search), "limit": r.PerPage, "offset": r.Offset()}
	return list(ctx, db, "websites", page, count, args, scanWebsite)
}

func websiteSearch(r listing.Request) string {
	switch {
	case r.Search == "":
		return ``
	case r.SearchBy == analytics.SearchByDomain:
		return ` AND position(@search in search_domain) > 0`
	default:
		return ` AND position(@search in search_url) > 0`
	}
}

func websiteOrder(r listing.Request) string {
	switch {
	case r.SortBy == analytics.SortByCreated && r.Desc:
		return `created_at DESC, id DESC`
	case r.SortBy == analytics.SortByCreated:
		return `created_at, id`
	case r.Desc:
		return `domain DESC, url DESC, id DESC`
	default:
		return `domain, url, id`
	}
}

// Website implements analytics.Websites.
func (db *DB) Website(ctx context.Context, account, id int64) (analytics.Website, error) {
	const query = `
		SELECT ` + websiteColumns + `
		FROM websites
		WHERE account_id = @account AND id = @id AND deleted_at IS NULL`
	what := fmt.Sprintf("website %d", id)
	rows, err := db.pool.Query(ctx, query, pgx.NamedArgs{"account": account, "id": id})
	if err != nil {
		return analytics.Website{}, db.explain(ctx, what, err)
	}
	w, err := pgx.CollectExactlyOneRow(rows, scanWebsite)
	return w, db.explain(ctx, what, err)
}

// CreateWebsite implements analytics.Websites.
func (db *DB) CreateWebsite(ctx context.Context, w *analytics.Website) error {
	const query = `
		INSERT INTO websites (account_id, url, domain, search_url, search_domain, privacy, password_hash, email, exclude_bots,
			exclude_params, exclude_ips, tracking_id, version, created_at, updated_at)
		VALUES (@account, @url, @domain, @search_url, @search_domain, @privacy, @password_hash, @email, @exclude_bots,
			@exclude_params, @exclude_ips, @tracking_id, @version, @created_at, @updated_at)
		RETURNING id`
	var id int64
	if err := db.pool.QueryRow(ctx, query, websiteArgs(w)).Scan(&id); err != nil {
		return db.explain(ctx, "create website", err)
	}
	w.ID = id
	return nil
}

// UpdateWebsite implements analytics.Websites.
func (db *DB) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (analytics.Website, error) {
	var stored analytics.Website
	var refused error
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		before, err := lockWebsite(ctx, tx, account, id)
		if err != nil {
			return err
		}
		stored = before
		if refused = edit(&stored); refused != nil {
			return refused
		}
		stored.ID, stored.AccountID = before.ID, before.AccountID
		if stored == before {
			return nil
		}
		return storeWebsite(ctx, tx, &stored)
	})
	switch {
	case refused != nil:
		return analytics.Website{}, refused
	case err != nil:
		return analytics.Website{}, db.explain(ctx, fmt.Sprintf("website %d", id), err)
	default:
		return stored, nil
	}
}

// lockWebsite reads a website that nobody else can change until the transaction ends.
func lockWebsite(ctx context.Context, tx pgx.Tx, account, id int64) (analytics.Website, error) {
	const query = `
		SELECT ` + websiteColumns + `
		FROM websites
		WHERE account_id = @account AND id = @id AND deleted_at IS NULL
		FOR UPDATE`
	rows, err := tx.Query(ctx, query, pgx.NamedArgs{"account": account, "id": id})
	if err != nil {
		return analytics.Website{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanWebsite)
}

func storeWebsite(ctx context.Context, tx pgx.Tx, w *analytics.Website) error {
	const statement = `
		UPDATE websites
		SET url = @url, domain = @domain, search_url = @search_url, search_domain = @search_domain,
			privacy = @privacy, password_hash = @password_hash, email = @email, exclude_bots = @exclude_bots,
			exclude_params = @exclude_params, exclude_ips = @exclude_ips, tracking_id = @tracking_id,
			version = @version, created_at = @created_at, updated_at = @updated_at
		WHERE account_id = @account AND id = @id AND deleted_at IS NULL`
	_, err := tx.Exec(ctx, statement, websiteArgs(w))
	return err
}

// DeleteWebsite implements analytics.Websites.
func (db *DB) DeleteWebsite(ctx context.Context, account, id int64) error {
	const statement = `DELETE FROM websites WHERE account_id = @account AND id = @id AND deleted_at IS NULL`
	return db.one(ctx, fmt.Sprintf("website %d", id), statement, pgx.NamedArgs{"account": account, "id": id})
}

// OldestWebsite implements analytics.Websites.
func (db *DB) OldestWebsite(ctx context.Context, account int64, domain string) (int64, error) {
	const query = `
		SELECT id
		FROM websites
		WHERE account_id = @account AND domain = @domain AND deleted_at IS NULL
		ORDER BY id
		LIMIT 1`
	var id int64
	err := db.pool.QueryRow(ctx, query, pgx.NamedArgs{"account": account, "domain": domain}).Scan(&id)
	return id, db.explain(ctx, "website of "+domain, err)
}
