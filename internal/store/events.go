package store

import (
	"context"
	"errors"

	"sightline/internal/analytics"
	"sightline/internal/store/duckdb"
)

// Events keeps what visitors did. A batch that was appended without an error is committed and synced to disk.
type Events interface {
	analytics.Events
	// Compact rewrites what is stored so that it is small and quick to read. Everything else goes on meanwhile.
	Compact(ctx context.Context) error
	// Close waits for what is running and gives everything back.
	Close() error
}

// EventOptions bound what an engine of events takes. The zero value has the defaults.
type EventOptions = duckdb.Options

// ErrNoEvents says what a build without an engine of events lacks.
var ErrNoEvents = errors.New("this build counts no visits: analytics needs Sightline to be built with cgo and a C++ compiler (CGO_ENABLED=1)")
