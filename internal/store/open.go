package store

import (
	"context"
	"fmt"

	"sightline/internal/store/postgres"
	"sightline/internal/store/sqlite"
)

// Open opens the catalog that database, a PostgreSQL URL, names, or the embedded one in the data directory dir when it is
// empty. This file is the only place that knows which engines there are.
func Open(ctx context.Context, database, dir string) (Installation, error) {
	if database == "" {
		return sqlite.Open(ctx, dir)
	}
	return postgres.Open(ctx, database)
}

// OpenExisting is Open for commands that make no sense before the first start of a server. It leaves no trace where there
// is no installation.
func OpenExisting(ctx context.Context, database, dir string) (Installation, error) {
	where, exists, err := "that database", false, error(nil)
	if database == "" {
		where, exists = dir, sqlite.Exists(dir)
	} else {
		exists, err = postgres.Exists(ctx, database)
	}
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fmt.Errorf("there is no Sightline data in %s: start sightline serve first, or name its --data directory or --database", where)
	}
	return Open(ctx, database, dir)
}

// Engine names what Open opens for a database.
func Engine(database string) string {
	if database == "" {
		return "sqlite"
	}
	return "postgres"
}

// HoldEvents makes this server the one that keeps embedded events for a database, until it releases them. The embedded catalog
// needs no such thing: its events lie beside it, and one process alone can open them.
func HoldEvents(ctx context.Context, database string) (release func() error, err error) {
	if database == "" {
		return func() error { return nil }, nil
	}
	return postgres.HoldEvents(ctx, database)
}
