//go:build !cgo

package store

import "context"

// OpenEvents is ErrNoEvents in a build without cgo.
func OpenEvents(context.Context, string, EventOptions) (Events, error) {
	return nil, ErrNoEvents
}
