// Package receipt remembers the answer to a write, so that a caller who did not get it can safely send the write again.
package receipt

import (
	"context"
	"crypto/sha256"
	"time"
)

// Kept is how long a receipt answers for its write.
const Kept = 24 * time.Hour

// A Receipt is the answer to one write that came with an idempotency key. The store keeps it in the transaction of the
// write: either both took place or none.
type Receipt struct {
	AccountID int64
	Operation string // method and path
	Key       string // what the caller named the write
	Request   [sha256.Size]byte
	CreatedAt time.Time

	Status int
	Header map[string]string
	Answer []byte

	// Seal fills in the answer. The store calls it inside the transaction, when the record has its id.
	Seal func(*Receipt) error
}

// Receipts is where receipts rest. The writes of the domains store them.
type Receipts interface {
	// Receipt finds one by account, operation and key.
	Receipt(ctx context.Context, account int64, operation, key string) (Receipt, error)
	// EraseReceipts erases up to limit of those made before a moment, the oldest first, and says how many.
	EraseReceipts(ctx context.Context, before time.Time, limit int) (int, error)
}

// Used is what a store answers to a write whose idempotency key was used before.
type Used struct{ First Receipt }

// Error says what happened.
func (*Used) Error() string { return "the idempotency key was used before" }
