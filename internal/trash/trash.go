// Package trash is where deleted records wait before they are erased for good, so that one wrong call does not destroy
// years.
package trash

import (
	"context"
	"time"

	"sightline/internal/listing"
)

// An Object is a kind of record that can be in the trash.
type Object string

// The objects.
const (
	Website Object = "website"
	Project Object = "project"
	Report  Object = "report"
)

// An Item is a record in the trash.
type Item struct {
	Object    Object
	ID        int64
	Name      string // the url of a website or a report, the name of a project
	DeletedAt time.Time
}

// A Deletion says how a record is deleted.
type Deletion struct {
	At time.Time // when it goes into the trash; zero: it is erased at once
	// Check may refuse, by the record's version. It runs inside the transaction.
	Check func(version int64) error
}

// Trash is where deleted records rest. Callers see only what their account deleted; the rest is NotFound.
type Trash interface {
	// Trash lists one page of an account's deleted records of some kinds, newest deletion first.
	Trash(ctx context.Context, account int64, objects []Object, r listing.Request) (listing.Page[Item], error)
	// Purge erases a record in the trash for good, if check accepts its version, and returns what it was. The check runs
	// inside the transaction; its error is returned as it is.
	Purge(ctx context.Context, account int64, object Object, id int64, check func(version int64) error) (Item, error)
	// PurgeOlder erases up to limit records that were deleted before a moment, of all accounts, and says how many.
	PurgeOlder(ctx context.Context, before time.Time, limit int) (int, error)
}
