package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/receipt"
)

const receiptColumns = `account_id, operation, key, request, created_at, status, header, answer`

func scanReceipt(row pgx.CollectableRow) (r receipt.Receipt, err error) {
	var request []byte
	err = row.Scan(&r.AccountID, &r.Operation, &r.Key, &request, &r.CreatedAt, &r.Status, &r.Header, &r.Answer)
	copy(r.Request[:], request)
	r.CreatedAt = r.CreatedAt.UTC()
	return r, err
}

// Receipt implements receipt.Receipts.
func (db *DB) Receipt(ctx context.Context, account int64, operation, key string) (receipt.Receipt, error) {
	args := pgx.NamedArgs{"account": account, "operation": operation, "key": key}
	r, err := single(ctx, db.pool, findReceipt, args, scanReceipt)
	return r, db.explain(ctx, fmt.Sprintf("receipt of %s with key %q", operation, key), err)
}

const findReceipt = `
	SELECT ` + receiptColumns + `
	FROM receipts
	WHERE account_id = @account AND operation = @operation AND key = @key`

// EraseReceipts implements receipt.Receipts.
func (db *DB) EraseReceipts(ctx context.Context, before time.Time, limit int) (int, error) {
	const statement = `
		DELETE FROM receipts
		WHERE (account_id, operation, key) IN (
			SELECT account_id, operation, key FROM receipts WHERE created_at < @before ORDER BY created_at LIMIT @limit)`
	erased, err := db.pool.Exec(ctx, statement, pgx.NamedArgs{"before": before, "limit": limit})
	return int(erased.RowsAffected()), db.explain(ctx, "erase receipts", err)
}

// once makes a write and, if it has a receipt, keeps that with it, unless the receipt's key was used before.
func (db *DB) once(ctx context.Context, what string, r *receipt.Receipt, write func(querier) error) error {
	if r == nil {
		return db.explain(ctx, what, write(db.pool))
	}
	return db.onceWhole(ctx, what, r, func(tx pgx.Tx) error { return write(tx) })
}

// onceWhole is once for a write of several statements.
func (db *DB) onceWhole(ctx context.Context, what string, r *receipt.Receipt, write func(pgx.Tx) error) error {
	return db.explain(ctx, what, pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if r == nil {
			return write(tx)
		}
		if err := takeKey(ctx, tx, r); err != nil {
			return err
		}
		if err := write(tx); err != nil {
			return err
		}
		return seal(ctx, tx, r)
	}))
}

// seal stores the answer of a receipt whose key is taken.
func seal(ctx context.Context, tx pgx.Tx, r *receipt.Receipt) error {
	const statement = `
		UPDATE receipts
		SET status = @status, header = @header, answer = @answer
		WHERE account_id = @account AND operation = @operation AND key = @key`
	if r.Seal != nil {
		if err := r.Seal(r); err != nil {
			return asItIs{err}
		}
	}
	_, err := tx.Exec(ctx, statement, receiptArgs(r))
	return err
}

// takeKey stores a receipt that has no answer yet. It waits for a twin that is under way: if that fails, the key is free.
func takeKey(ctx context.Context, tx pgx.Tx, r *receipt.Receipt) error {
	const statement = `
		INSERT INTO receipts (` + receiptColumns + `)
		VALUES (@account, @operation, @key, @request, @created_at, 0, NULL, NULL)
		ON CONFLICT (account_id, operation, key) DO NOTHING`
	for {
		taken, err := tx.Exec(ctx, statement, receiptArgs(r))
		if err != nil || taken.RowsAffected() == 1 {
			return err
		}
		first, err := single(ctx, tx, findReceipt, receiptArgs(r), scanReceipt)
		if err == nil {
			return asItIs{&receipt.Used{First: first}}
		}
		if !errors.Is(err, pgx.ErrNoRows) { // no rows: it has just been erased
			return err
		}
	}
}

func receiptArgs(r *receipt.Receipt) pgx.NamedArgs {
	return pgx.NamedArgs{
		"account": r.AccountID, "operation": r.Operation, "key": r.Key, "request": r.Request[:], "created_at": r.CreatedAt,
		"status": r.Status, "header": r.Header, "answer": r.Answer,
	}
}
