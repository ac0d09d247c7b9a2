package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"sightline/internal/analytics"
)

// TrackedWebsite implements analytics.Tracked.
func (db *DB) TrackedWebsite(ctx context.Context, trackingID string) (analytics.Website, error) {
	const query = `SELECT ` + websiteColumns + ` FROM websites WHERE tracking_id = ? AND deleted_at IS NULL`
	w, err := scanWebsite(db.queryRow(ctx, query, trackingID))
	return w, missing(err, "website with that tracking id")
}

// TrackedDomain implements analytics.Tracked.
func (db *DB) TrackedDomain(ctx context.Context, domain string) (analytics.Website, error) {
	const query = `
		SELECT ` + websiteColumns + `
		FROM websites INDEXED BY websites_tracked
		WHERE domain = ? AND deleted_at IS NULL
		ORDER BY id LIMIT 1`
	w, err := scanWebsite(db.queryRow(ctx, query, domain))
	return w, missing(err, "website with domain %s", domain)
}

const readSalt = `SELECT salt FROM salts WHERE day = ?`

// Salt implements analytics.Salts.
func (db *DB) Salt(ctx context.Context, day time.Time, fresh []byte) (salt []byte, err error) {
	number := dayNumber(day)
	err = db.queryRow(ctx, readSalt, number).Scan(&salt)
	if !errors.Is(err, sql.ErrNoRows) || fresh == nil {
		return salt, missing(err, "salt")
	}
	err = db.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING`, number, fresh); err != nil {
			return err
		}
		return tx.QueryRow(readSalt, number).Scan(&salt)
	})
	return salt, err
}

// EraseSalts implements analytics.Salts. The pages are overwritten, and so is the log in which they lay.
func (db *DB) EraseSalts(ctx context.Context, before time.Time) error {
	erased := false
	err := db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.Exec(`DELETE FROM salts WHERE day < ?`, dayNumber(before))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		erased = n > 0
		return err
	})
	if err != nil || !erased {
		return err
	}
	_, err = db.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return failure(err)
}

// dayNumber counts UTC days since 1970.
func dayNumber(day time.Time) int64 { return day.Unix() / (24 * 60 * 60) }

// Erasures implements analytics.Erasures.
func (db *DB) Erasures(ctx context.Context, ago time.Duration, limit int) ([]int64, error) {
	const query = `SELECT website_id FROM erasures WHERE at <= unixepoch() - ? ORDER BY website_id LIMIT ? + 0`
	rows, err := db.query(ctx, query, int64(ago.Seconds()), limit)
	if err != nil {
		return nil, failure(err)
	}
	return all(rows, func(row scanner) (id int64, err error) {
		err = row.Scan(&id)
		return id, err
	})
}

// ForgetErasure implements analytics.Erasures.
func (db *DB) ForgetErasure(ctx context.Context, website int64) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM erasures WHERE website_id = ?`, website)
		return err
	})
}
