package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sightline/internal/receipt"
)

const readReceipt = `
	SELECT account_id, operation, key, request, status, header, answer, created_at
	FROM receipts
	WHERE account_id = ? AND operation = ? AND key = ?`

func scanReceipt(row scanner) (r receipt.Receipt, err error) {
	var request, header []byte
	if err := row.Scan(&r.AccountID, &r.Operation, &r.Key, &request, &r.Status, &header, &r.Answer, instant{&r.CreatedAt}); err != nil {
		return r, err
	}
	copy(r.Request[:], request)
	return r, json.Unmarshal(header, &r.Header)
}

// Receipt implements receipt.Receipts.
func (db *DB) Receipt(ctx context.Context, account int64, operation, key string) (receipt.Receipt, error) {
	r, err := scanReceipt(db.queryRow(ctx, readReceipt, account, operation, key))
	return r, missing(err, "receipt")
}

// EraseReceipts implements receipt.Receipts.
func (db *DB) EraseReceipts(ctx context.Context, before time.Time, limit int) (erased int, err error) {
	const query = `
		DELETE FROM receipts
		WHERE (account_id, operation, key) IN (
			SELECT account_id, operation, key FROM receipts WHERE created_at < ? ORDER BY created_at LIMIT ?)`
	err = db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.Exec(query, before.Unix(), limit)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		erased = int(n)
		return err
	})
	return erased, err
}

// changeOnce is change for a write that may have a receipt: it is stored in the same transaction, and a write that has one
// already is not done again.
func (db *DB) changeOnce(ctx context.Context, r *receipt.Receipt, do func(*sql.Tx) error) error {
	if r == nil {
		return db.change(ctx, do)
	}
	return db.change(ctx, func(tx *sql.Tx) error {
		first, err := scanReceipt(tx.QueryRow(readReceipt, r.AccountID, r.Operation, r.Key))
		if err == nil {
			return &receipt.Used{First: first}
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := do(tx); err != nil {
			return err
		}
		return keep(tx, r)
	})
}

// keep stores the receipt of a write in its transaction.
func keep(tx *sql.Tx, r *receipt.Receipt) error {
	const insert = `
		INSERT INTO receipts (account_id, operation, key, request, status, header, answer, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	if r.Seal != nil {
		if err := r.Seal(r); err != nil {
			return err
		}
	}
	header, err := json.Marshal(r.Header)
	if err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	answer := append([]byte{}, r.Answer...) // never NULL
	_, err = tx.Exec(insert, r.AccountID, r.Operation, r.Key, r.Request[:], r.Status, string(header), answer, unix(r.CreatedAt))
	return ofAccount(err, r.AccountID)
}
