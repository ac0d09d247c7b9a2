package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/trash"
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

var websites = shelf[analytics.Website]{
	table: "websites", object: string(trash.Website), columns: websiteColumns, trigrams: "search_url", scan: scanWebsite,
}

// Websites implements analytics.Websites.
func (db *DB) Websites(ctx context.Context, account int64, r listing.Request) (listing.Page[analytics.Website], error) {
	column := "search_url"
	if r.SearchBy == analytics.SearchByDomain {
		column = "search_domain"
	}
	return websites.list(ctx, db, account, r, column, websiteOrder(r))
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

const findWebsite = `
	SELECT ` + websiteColumns + `
	FROM websites
	WHERE account_id = @account AND id = @id AND deleted_at IS NULL`

// Website implements analytics.Websites.
func (db *DB) Website(ctx context.Context, account, id int64) (analytics.Website, error) {
	w, err := single(ctx, db.pool, findWebsite, pgx.NamedArgs{"account": account, "id": id}, scanWebsite)
	return w, db.explain(ctx, fmt.Sprintf("website %d", id), err)
}

const insertWebsite = `
	INSERT INTO websites (account_id, url, domain, search_url, search_domain, privacy, password_hash, email, exclude_bots,
		exclude_params, exclude_ips, tracking_id, version, created_at, updated_at)
	VALUES (@account, @url, @domain, @search_url, @search_domain, @privacy, @password_hash, @email, @exclude_bots,
		@exclude_params, @exclude_ips, @tracking_id, @version, @created_at, @updated_at)
	RETURNING id`

// CreateWebsite implements analytics.Websites.
func (db *DB) CreateWebsite(ctx context.Context, w *analytics.Website, r *receipt.Receipt) error {
	return db.once(ctx, "create website", r, func(q querier) error {
		return q.QueryRow(ctx, insertWebsite, websiteArgs(w)).Scan(&w.ID)
	})
}

const updateWebsite = `
	UPDATE websites
	SET url = @url, domain = @domain, search_url = @search_url, search_domain = @search_domain,
		privacy = @privacy, password_hash = @password_hash, email = @email, exclude_bots = @exclude_bots,
		exclude_params = @exclude_params, exclude_ips = @exclude_ips, tracking_id = @tracking_id,
		version = @version, created_at = @created_at, updated_at = @updated_at
	WHERE account_id = @account AND id = @id AND deleted_at IS NULL`

// UpdateWebsite implements analytics.Websites.
func (db *DB) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (analytics.Website, error) {
	var stored analytics.Website
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		before, err := single(ctx, tx, findWebsite+` FOR UPDATE`, pgx.NamedArgs{"account": account, "id": id}, scanWebsite)
		if err != nil {
			return err
		}
		stored = before
		if err := edit(&stored); err != nil {
			return asItIs{err}
		}
		stored.ID, stored.AccountID = before.ID, before.AccountID
		if stored == before {
			return nil
		}
		_, err = tx.Exec(ctx, updateWebsite, websiteArgs(&stored))
		return err
	})
	if err != nil {
		return analytics.Website{}, db.explain(ctx, fmt.Sprintf("website %d", id), err)
	}
	return stored, nil
}

// DeleteWebsite implements analytics.Websites.
func (db *DB) DeleteWebsite(ctx context.Context, account, id int64, how trash.Deletion) error {
	const where = ` WHERE account_id = @account AND id = @id AND deleted_at IS NULL`
	_, err := websites.remove(ctx, db, where, how, pgx.NamedArgs{"account": account, "id": id})
	return db.explain(ctx, fmt.Sprintf("website %d", id), err)
}

// RestoreWebsite implements analytics.Websites.
func (db *DB) RestoreWebsite(ctx context.Context, account, id int64, w *analytics.Website, r *receipt.Receipt) error {
	return db.once(ctx, fmt.Sprintf("website %d in the trash", id), r, func(q querier) error {
		restored, err := websites.restore(ctx, q, account, id)
		if err == nil {
			*w = restored
		}
		return err
	})
}

// OldestWebsite implements analytics.Websites.
func (db *DB) OldestWebsite(ctx context.Context, account int64, domain string) (int64, error) {
	// Grouped, it is read from the index of the domains. Alone, the lowest id may be looked for along all ids.
	const query = `
		SELECT min(id)
		FROM websites
		WHERE account_id = @account AND domain = @domain AND deleted_at IS NULL
		GROUP BY domain`
	var id int64
	err := db.pool.QueryRow(ctx, query, pgx.NamedArgs{"account": account, "domain": domain}).Scan(&id)
	return id, db.explain(ctx, "website of "+domain, err)
}
