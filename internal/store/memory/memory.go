// Package memory is a catalog without a disk, slow and obviously right. The contract tests compare
// every engine with it.
package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
)

// A DB implements store.Catalog.
type DB struct {
	mu     sync.Mutex
	closed bool
	last   ids
	rows
}

// rows is all that is kept. Records lie in the order of their ids; those in the trash lie apart from the others.
type rows struct {
	accounts        []account.Account
	keys            []account.Key
	websites        []analytics.Website
	projects        []seo.Project
	reports         []report // also those in the trash
	runs            []run
	deletedWebsites []deletedWebsite
	deletedProjects []deletedProject
	receipts        []receipt.Receipt
	turns           map[string]time.Time // when each clock job ran last
	salts           map[int64][]byte     // by UTC day
	erasures        map[int64]time.Time  // of websites
}

// A deletedWebsite is a website in the trash, a deletedProject a project.
type (
	deletedWebsite struct {
		record analytics.Website
		at     time.Time
	}
	deletedProject struct {
		record seo.Project
		at     time.Time
	}
)

// ids are the highest ids given out so far, so that none is given out again.
type ids struct{ account, key, website, project, report, run int64 }

// Open makes an empty catalog.
func Open() *DB {
	return &DB{rows: rows{turns: map[string]time.Time{}, salts: map[int64][]byte{}, erasures: map[int64]time.Time{}}}
}

// Ping implements store.Catalog.
func (db *DB) Ping(ctx context.Context) error {
	unlock, err := db.lock(ctx)
	if err != nil {
		return err
	}
	unlock()
	return nil
}

// Close implements store.Catalog.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.closed = true
	return nil
}

// lock keeps all others out until unlock.
func (db *DB) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil, fmt.Errorf("the catalog is closed: %w", fault.Unavailable)
	}
	return db.mu.Unlock, nil
}

// change runs do while all others are kept out. When do fails, everything is as it was before.
func (db *DB) change(ctx context.Context, do func() error) error {
	unlock, err := db.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	before := db.rows.clone()
	if err := do(); err != nil {
		db.rows = before
		return err
	}
	return nil
}

// clone is a copy in which a change of the rows does not show.
func (r rows) clone() rows {
	return rows{
		accounts:        slices.Clone(r.accounts),
		keys:            slices.Clone(r.keys),
		websites:        slices.Clone(r.websites),
		projects:        slices.Clone(r.projects),
		reports:         slices.Clone(r.reports),
		runs:            slices.Clone(r.runs),
		deletedWebsites: slices.Clone(r.deletedWebsites),
		deletedProjects: slices.Clone(r.deletedProjects),
		receipts:        slices.Clone(r.receipts),
		turns:           maps.Clone(r.turns),
		salts:           maps.Clone(r.salts),
		erasures:        maps.Clone(r.erasures),
	}
}

// next counts one id up.
func next(last *int64) int64 {
	*last++
	return *last
}

// onePage sorts rows and cuts one page out of them. compare must not call two rows equal.
func onePage[T any](rows []T, r listing.Request, compare func(a, b T) int) listing.Page[T] {
	slices.SortFunc(rows, func(a, b T) int {
		if r.Desc {
			a, b = b, a
		}
		return compare(a, b)
	})
	from := min(r.Offset(), len(rows))
	to := min(from+r.PerPage, len(rows))
	return listing.Page[T]{Items: rows[from:to], Total: len(rows)}
}

// contains says whether folded text contains what a caller searches for.
func contains(folded string, r listing.Request) bool {
	return strings.Contains(folded, listing.Fold(r.Search))
}

// second is a moment as it is kept.
func second(at time.Time) time.Time {
	return at.UTC().Truncate(time.Second)
}
