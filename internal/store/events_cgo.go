//go:build cgo

package store

import (
	"context"

	"sightline/internal/store/duckdb"
)

// OpenEvents opens the embedded events in the data directory dir.
func OpenEvents(ctx context.Context, dir string, o EventOptions) (Events, error) {
	db, err := duckdb.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return db, nil
}
