package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/fault"
	"sightline/internal/listing"
)

// A querier is the pool or a transaction.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// list reads one page and counts the rows that match in all, in one round trip.
// Both queries are made of constants; what callers say is in args only.
func list[T any](ctx context.Context, db *DB, what, page, count string, args pgx.NamedArgs, scan pgx.RowToFunc[T]) (listing.Page[T], error) {
	var found listing.Page[T]
	var batch pgx.Batch
	batch.Queue(count, args).QueryRow(func(row pgx.Row) error {
		return row.Scan(&found.Total)
	})
	batch.Queue(page, args).Query(func(rows pgx.Rows) (err error) {
		found.Items, err = pgx.CollectRows(rows, scan)
		return err
	})
	if err := db.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return listing.Page[T]{}, db.explain(ctx, what, err)
	}
	return found, nil
}

// all reads every row of a query.
func all[T any](ctx context.Context, db *DB, what, query string, scan pgx.RowToFunc[T]) ([]T, error) {
	rows, err := db.pool.Query(ctx, query)
	if err != nil {
		return nil, db.explain(ctx, what, err)
	}
	found, err := pgx.CollectRows(rows, scan)
	return found, db.explain(ctx, what, err)
}

// single runs a query that answers with one row, or with none, which is pgx.ErrNoRows.
func single[T any](ctx context.Context, q querier, query string, args pgx.NamedArgs, scan pgx.RowToFunc[T]) (T, error) {
	rows, err := q.Query(ctx, query, args)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, scan)
}

// one runs a statement that changes one row or, when there is no such record, none.
func (db *DB) one(ctx context.Context, what, statement string, args pgx.NamedArgs) error {
	done, err := db.pool.Exec(ctx, statement, args)
	if err != nil {
		return db.explain(ctx, what, err)
	}
	if done.RowsAffected() == 0 {
		return fmt.Errorf("%s: %w", what, fault.NotFound)
	}
	return nil
}

// orNull is how a time that may be zero is stored.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orZero reads what orNull stored.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
