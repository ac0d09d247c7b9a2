package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"sightline/internal/store/archive"
)

// Dump implements archive.Source. A transaction that reads sees the file as it was when it began; writers go on.
func (db *DB) Dump(ctx context.Context) iter.Seq2[archive.Row, error] {
	return archive.Rows(func(emit func(archive.Row) error) error {
		tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return failure(err)
		}
		defer tx.Rollback()
		for _, table := range archive.Tables {
			if err := dumpTable(ctx, tx, table, emit); err != nil {
				return err
			}
		}
		return dumpCounters(ctx, tx, emit)
	})
}

// dumpTable hands out the rows of a table.
func dumpTable(ctx context.Context, tx *sql.Tx, table *archive.Table, emit func(archive.Row) error) error {
	columns := table.Names()[:len(table.Columns)]
	rows, err := tx.QueryContext(ctx, `SELECT `+strings.Join(columns, `, `)+` FROM `+table.Name+` ORDER BY `+table.Key)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return failure(err)
		}
		for i, column := range table.Columns {
			if values[i], err = fromStored(column, values[i]); err != nil {
				return fmt.Errorf("%s %v: %w", table.Name, values[0], err)
			}
		}
		if err := emit(archive.Row{Table: table, Values: values}); err != nil {
			return err
		}
	}
	return failure(rows.Err())
}

// fromStored makes of a value what a dump has in its place.
func fromStored(column archive.Column, value any) (any, error) {
	switch value := value.(type) {
	case nil:
		if column.Optional {
			return nil, nil
		}
	case int64:
		switch column.Kind {
		case archive.Integer:
			return value, nil
		case archive.Bool:
			return value != 0, nil
		case archive.Time:
			return time.Unix(value, 0).UTC(), nil
		case archive.Instant:
			return time.Unix(0, value).UTC(), nil
		}
	case string:
		switch column.Kind {
		case archive.Text:
			return value, nil
		case archive.JSON:
			return archive.Canonical(value)
		}
	case []byte:
		if column.Kind == archive.Bytes {
			return append([]byte{}, value...), nil // the driver says nil where there are none
		}
	}
	return nil, fmt.Errorf("the column %s holds a %T", column.Name, value)
}

// dumpCounters hands out the last id of each table.
func dumpCounters(ctx context.Context, tx *sql.Tx, emit func(archive.Row) error) error {
	for _, table := range archive.Tables {
		if !table.Counted {
			continue
		}
		var last int64
		err := tx.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, table.Name).Scan(&last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) { // no rows: it has handed out none
			return failure(err)
		}
		if err := emit(archive.Counter(table, last)); err != nil {
			return err
		}
	}
	return nil
}

// Counts implements archive.Source.
func (db *DB) Counts(ctx context.Context) (archive.Counts, error) {
	return countRows(ctx, db.read)
}

// countRows counts the rows of each table.
func countRows(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (archive.Counts, error) {
	counts := archive.Counts{}
	for _, table := range archive.Tables {
		var n int
		if err := q.QueryRowContext(ctx, `SELECT count(*) FROM `+table.Name).Scan(&n); err != nil {
			return nil, failure(err)
		}
		counts[table.Name] = n
	}
	return counts, nil
}
