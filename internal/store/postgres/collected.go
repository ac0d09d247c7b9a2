package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/analytics"
)

// TrackedWebsite implements analytics.Tracked.
func (db *DB) TrackedWebsite(ctx context.Context, trackingID string) (analytics.Website, error) {
	const query = `
		SELECT ` + websiteColumns + `
		FROM websites
		WHERE tracking_id = @tracking AND deleted_at IS NULL`
	w, err := single(ctx, db.pool, query, pgx.NamedArgs{"tracking": storable(trackingID)}, scanWebsite)
	return w, db.explain(ctx, "website with that tracking id", err)
}

// TrackedDomain implements analytics.Tracked.
func (db *DB) TrackedDomain(ctx context.Context, domain string) (analytics.Website, error) {
	// The domain first, so that its index gives the order: along all ids there may be many others before.
	const query = `
		SELECT ` + websiteColumns + `
		FROM websites
		WHERE domain = @domain AND deleted_at IS NULL
		ORDER BY domain, id
		LIMIT 1`
	w, err := single(ctx, db.pool, query, pgx.NamedArgs{"domain": storable(domain)}, scanWebsite)
	return w, db.explain(ctx, "website of a domain", err)
}

// Salt implements analytics.Salts.
func (db *DB) Salt(ctx context.Context, day time.Time, fresh []byte) (salt []byte, err error) {
	args := pgx.NamedArgs{"day": dayNumber(day), "salt": fresh}
	if fresh != nil {
		if _, err := db.pool.Exec(ctx, `INSERT INTO salts (day, salt) VALUES (@day, @salt) ON CONFLICT DO NOTHING`, args); err != nil {
			return nil, db.explain(ctx, "make a salt", err)
		}
	}
	err = db.pool.QueryRow(ctx, `SELECT salt FROM salts WHERE day = @day`, args).Scan(&salt)
	return salt, db.explain(ctx, "salt", err)
}

// EraseSalts implements analytics.Salts.
func (db *DB) EraseSalts(ctx context.Context, before time.Time) error {
	_, err := db.pool.Exec(ctx, `DELETE FROM salts WHERE day < @day`, pgx.NamedArgs{"day": dayNumber(before)})
	return db.explain(ctx, "erase salts", err)
}

// dayNumber counts UTC days since 1970.
func dayNumber(day time.Time) int64 { return day.Unix() / (24 * 60 * 60) }

// storable is a text that a caller looks for; none that holds a zero byte or invalid UTF-8 is stored here, or can be asked for.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// Erasures implements analytics.Erasures.
func (db *DB) Erasures(ctx context.Context, ago time.Duration, limit int) ([]int64, error) {
	const query = `SELECT website_id FROM erasures WHERE at <= now() - make_interval(secs => @ago) ORDER BY website_id LIMIT @limit`
	rows, err := db.pool.Query(ctx, query, pgx.NamedArgs{"ago": ago.Seconds(), "limit": limit})
	if err != nil {
		return nil, db.explain(ctx, "list erasures", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, db.explain(ctx, "list erasures", err)
}

// ForgetErasure implements analytics.Erasures.
func (db *DB) ForgetErasure(ctx context.Context, website int64) error {
	_, err := db.pool.Exec(ctx, `DELETE FROM erasures WHERE website_id = @id`, pgx.NamedArgs{"id": website})
	return db.explain(ctx, "forget an erasure", err)
}
