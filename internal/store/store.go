// Package store opens the place where data rests.
package store

import (
	"context"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/receipt"
	"sightline/internal/schedule"
	"sightline/internal/seo"
	"sightline/internal/store/archive"
	"sightline/internal/trash"
)

// A Catalog keeps accounts, keys, websites, projects and reports. A write that returned nil is committed and synced to disk.
// Failures that a caller can do something about are of the kinds in package fault.
type Catalog interface {
	account.Accounts
	account.Keys
	analytics.Websites
	analytics.BulkWebsites
	analytics.Tracked
	analytics.Salts
	analytics.Erasures
	seo.Projects
	seo.Reports
	seo.Results
	seo.Audits
	receipt.Receipts
	trash.Trash
	schedule.Turns
	schedule.Leftovers
	// Ping fails while the catalog cannot serve.
	Ping(ctx context.Context) error
	// Close waits for running writes and gives everything back.
	Close() error
}

// An Installation is a catalog that users can choose. It can be read and filled as a whole.
type Installation interface {
	Catalog
	archive.Source
	archive.Target
}
