package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sightline/internal/fault"
	"sightline/internal/receipt"
)

// Receipt implements receipt.Receipts.
func (db *DB) Receipt(ctx context.Context, account int64, operation, key string) (receipt.Receipt, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return receipt.Receipt{}, err
	}
	defer unlock()
	return db.findReceipt(account, operation, key)
}

// EraseReceipts implements receipt.Receipts.
func (db *DB) EraseReceipts(ctx context.Context, before time.Time, limit int) (erased int, err error) {
	err = db.change(ctx, func() error {
		slices.SortStableFunc(db.receipts, func(a, b receipt.Receipt) int { return a.CreatedAt.Compare(b.CreatedAt) })
		for erased < limit && erased < len(db.receipts) && db.receipts[erased].CreatedAt.Before(before) {
			erased++
		}
		db.receipts = slices.Delete(db.receipts, 0, erased)
		return nil
	})
	return erased, err
}

// changeOnce is a change that is made only if its receipt, where there is one, is the first with its key. Then the
// receipt is sealed and kept.
func (db *DB) changeOnce(ctx context.Context, r *receipt.Receipt, do func() error) error {
	if r == nil {
		return db.change(ctx, do)
	}
	return db.change(ctx, func() error {
		if first, err := db.findReceipt(r.AccountID, r.Operation, r.Key); err == nil {
			return &receipt.Used{First: first}
		}
		if err := do(); err != nil {
			return err
		}
		if r.Seal != nil {
			if err := r.Seal(r); err != nil {
				return err
			}
		}
		db.receipts = append(db.receipts, keptReceipt(*r))
		return nil
	})
}

// findReceipt is a copy of a receipt.
func (db *DB) findReceipt(account int64, operation, key string) (receipt.Receipt, error) {
	for _, r := range db.receipts {
		if r.AccountID == account && r.Operation == operation && r.Key == key {
			return keptReceipt(r), nil
		}
	}
	return receipt.Receipt{}, fmt.Errorf("receipt of %s with key %q: %w", operation, key, fault.NotFound)
}

// keptReceipt is a receipt as it is kept. It shares no memory with r.
func keptReceipt(r receipt.Receipt) receipt.Receipt {
	r.CreatedAt = second(r.CreatedAt)
	r.Header, r.Answer = maps.Clone(r.Header), bytes.Clone(r.Answer)
	r.Seal = nil
	return r
}
