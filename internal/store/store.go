// Package store opens the place where data rests.
package store

import (
	"context"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/seo"
)

// A Catalog keeps accounts, keys, websites and projects. A write that returned nil is committed and synced to disk.
// Failures that a caller can do something about are of the kinds in package fault.
type Catalog interface {
	account.Accounts
	account.Keys
	analytics.Websites
	seo.Projects
	// Ping fails while the catalog cannot serve.
	Ping(ctx context.Context) error
	// Close waits for running writes and gives everything back.
	Close() error
}
