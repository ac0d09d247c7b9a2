package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
)

// TrackedWebsite implements analytics.Tracked.
func (db *DB) TrackedWebsite(ctx context.Context, trackingID string) (analytics.Website, error) {
	return db.tracked(ctx, func(w analytics.Website) bool { return w.TrackingID == trackingID })
}

// TrackedDomain implements analytics.Tracked.
func (db *DB) TrackedDomain(ctx context.Context, domain string) (analytics.Website, error) {
	return db.tracked(ctx, func(w analytics.Website) bool { return w.Domain == domain })
}

// tracked is the first website of any account that is like that.
func (db *DB) tracked(ctx context.Context, like func(analytics.Website) bool) (analytics.Website, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return analytics.Website{}, err
	}
	defer unlock()
	for _, w := range db.websites {
		if like(w) {
			return w, nil
		}
	}
	return analytics.Website{}, fmt.Errorf("tracked website: %w", fault.NotFound)
}

// Salt implements analytics.Salts.
func (db *DB) Salt(ctx context.Context, day time.Time, fresh []byte) (salt []byte, err error) {
	err = db.change(ctx, func() error {
		number := dayNumber(day)
		if db.salts[number] == nil && fresh != nil {
			db.salts[number] = bytes.Clone(fresh)
		}
		if salt = db.salts[number]; salt == nil {
			return fmt.Errorf("salt: %w", fault.NotFound)
		}
		return nil
	})
	return bytes.Clone(salt), err
}

// EraseSalts implements analytics.Salts.
func (db *DB) EraseSalts(ctx context.Context, before time.Time) error {
	return db.change(ctx, func() error {
		for number := range db.salts {
			if number < dayNumber(before) {
				delete(db.salts, number)
			}
		}
		return nil
	})
}

// dayNumber counts UTC days since 1970.
func dayNumber(day time.Time) int64 { return day.Unix() / (24 * 60 * 60) }

// Erasures implements analytics.Erasures.
func (db *DB) Erasures(ctx context.Context, ago time.Duration, limit int) ([]int64, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ids := []int64{}
	for id, at := range db.erasures {
		if time.Since(at) >= ago {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(limit, len(ids))], nil
}

// ForgetErasure implements analytics.Erasures.
func (db *DB) ForgetErasure(ctx context.Context, website int64) error {
	return db.change(ctx, func() error {
		delete(db.erasures, website)
		return nil
	})
}
