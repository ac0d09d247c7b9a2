package analytics

import (
	"context"
	"time"
)

// Tracked is where the collector finds websites, whoever owns them. One in the trash is NotFound.
type Tracked interface {
	// TrackedWebsite reads the website with a tracking id.
	TrackedWebsite(ctx context.Context, trackingID string) (Website, error)
	// TrackedDomain reads the website with a domain; of several the one with the lowest id.
	TrackedDomain(ctx context.Context, domain string) (Website, error)
}

// Salts is where the secrets of the visitor hashes rest, one for each UTC day. They are in no backup.
type Salts interface {
	// Salt is that of the UTC day of a time. A day that has none gets fresh, whoever comes first; without fresh it is NotFound.
	Salt(ctx context.Context, day time.Time, fresh []byte) ([]byte, error)
	// EraseSalts removes for good those of the UTC days before that of a time.
	EraseSalts(ctx context.Context, before time.Time) error
}

// Erasures lists the websites that are erased for good and whose events must follow.
type Erasures interface {
	// Erasures lists some that were erased so long ago, the lowest ids first.
	Erasures(ctx context.Context, ago time.Duration, limit int) ([]int64, error)
	// ForgetErasure takes one from the list: nothing is left of it.
	ForgetErasure(ctx context.Context, website int64) error
}
