package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"sightline/internal/analytics"
)

// ApplyWebsites implements analytics.BulkWebsites.
func (db *DB) ApplyWebsites(ctx context.Context, account int64, domains []string, edit func(found map[string]analytics.Website) ([]*analytics.Website, error)) error {
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		const lock = `SELECT pg_advisory_xact_lock(hashtextextended('websites of account ' || @account::bigint, 0))`
		if _, err := tx.Exec(ctx, lock, pgx.NamedArgs{"account": account}); err != nil {
			return err
		}
		found, err := lockOldestWebsites(ctx, tx, account, domains)
		if err != nil {
			return err
		}
		byDomain, byID := map[string]analytics.Website{}, map[int64]analytics.Website{}
		for _, w := range found {
			byDomain[w.Domain], byID[w.ID] = w, w
		}
		edited, err := edit(byDomain)
		if err != nil {
			return asItIs{err}
		}
		return storeWebsites(ctx, tx, account, byID, edited)
	})
	return db.explain(ctx, "apply websites", err)
}

// lockOldestWebsites reads the oldest website of each domain. Nobody else can change one until the transaction ends.
func lockOldestWebsites(ctx context.Context, tx pgx.Tx, account int64, domains []string) ([]analytics.Website, error) {
	const query = `
		SELECT ` + websiteColumns + `
		FROM websites
		WHERE account_id = @account AND deleted_at IS NULL AND id = ANY (ARRAY(
			SELECT (SELECT min(id) FROM websites WHERE account_id = @account AND domain = wanted AND deleted_at IS NULL)
			FROM unnest(@domains::text[]) AS wanted
		))
		ORDER BY id
		FOR UPDATE`
	rows, err := tx.Query(ctx, query, pgx.NamedArgs{"account": account, "domains": domains})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanWebsite)
}

// storeWebsites stores what differs from what was found, and then what is new: the totals, which new ones change, are
// locked after the websites by everyone.
func storeWebsites(ctx context.Context, tx pgx.Tx, account int64, found map[int64]analytics.Website, edited []*analytics.Website) error {
	var changed, created pgx.Batch
	for _, w := range edited {
		w.AccountID = account
		before, known := found[w.ID]
		switch {
		case w.ID == 0:
			created.Queue(insertWebsite, websiteArgs(w)).QueryRow(func(row pgx.Row) error { return row.Scan(&w.ID) })
		case !known:
			return fmt.Errorf("website %d was not among those found", w.ID)
		case *w != before:
			changed.Queue(updateWebsite, websiteArgs(w))
		}
	}
	if err := tx.SendBatch(ctx, &changed).Close(); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &created).Close()
}
