package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// TakeTurn implements store.Catalog.
func (db *DB) TakeTurn(ctx context.Context, job string, now time.Time, every time.Duration) (bool, error) {
	const statement = `
		INSERT INTO clock (job, ran_at)
		VALUES (@job, @now)
		ON CONFLICT (job) DO UPDATE SET ran_at = excluded.ran_at WHERE clock.ran_at <= @due`
	taken, err := db.pool.Exec(ctx, statement, pgx.NamedArgs{"job": job, "now": now, "due": now.Add(-every)})
	return taken.RowsAffected() == 1, db.explain(ctx, "take the turn for "+job, err)
}
