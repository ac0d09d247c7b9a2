package postgres

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/store/archive"
)

// Dump implements archive.Source. The transaction sees the database as it was when it began; writers go on.
func (db *DB) Dump(ctx context.Context) iter.Seq2[archive.Row, error] {
	return archive.Rows(func(emit func(archive.Row) error) error {
		snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		err := pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, patient); err != nil {
				return err
			}
			for _, table := range archive.Tables {
				if err := dumpTable(ctx, tx, table, emit); err != nil {
					return err
				}
			}
			return dumpCounters(ctx, tx, emit)
		})
		return db.explain(ctx, "read the catalog", err)
	})
}

// patient lets statements of a transaction take their time: they read or write whole tables.
const patient = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`

// dumpTable hands out the rows of a table.
func dumpTable(ctx context.Context, tx pgx.Tx, table *archive.Table, emit func(archive.Row) error) error {
	rows, err := tx.Query(ctx, `SELECT `+dumpColumns(table)+` FROM `+table.Name+` ORDER BY `+table.Key)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		for i, column := range table.Columns {
			switch value := values[i].(type) {
			case time.Time:
				values[i] = value.UTC()
			case string:
				if column.Kind == archive.JSON {
					values[i], err = archive.Canonical(value)
				}
			}
			if err != nil {
				return err
			}
		}
		if err := emit(archive.Row{Table: table, Values: values}); err != nil {
			return asItIs{err}
		}
	}
	return rows.Err()
}

// dumpColumns selects the columns of a table, each of the type that its kind says.
func dumpColumns(table *archive.Table) string {
	var columns []string
	for _, column := range table.Columns {
		switch name := column.Name; column.Kind {
		case archive.Integer:
			columns = append(columns, name+`::bigint`)
		case archive.JSON:
			columns = append(columns, name+`::text`)
		case archive.Bytes:
			columns = append(columns, `coalesce(`+name+`, '')`)
		default:
			columns = append(columns, name)
		}
	}
	return strings.Join(columns, `, `)
}

// dumpCounters hands out the last id of each table. A sequence knows no snapshots: it may be ahead, never behind.
func dumpCounters(ctx context.Context, tx pgx.Tx, emit func(archive.Row) error) error {
	for _, table := range archive.Tables {
		if !table.Counted {
			continue
		}
		var sequence string // ready to stand in a query
		var last int64
		if err := tx.QueryRow(ctx, `SELECT pg_get_serial_sequence($1, 'id')`, table.Name).Scan(&sequence); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT last_value - (NOT is_called)::int FROM `+sequence).Scan(&last); err != nil {
			return err
		}
		if err := emit(archive.Counter(table, last)); err != nil {
			return asItIs{err}
		}
	}
	return nil
}

// Counts implements archive.Source.
func (db *DB) Counts(ctx context.Context) (archive.Counts, error) {
	var counts archive.Counts
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, patient); err != nil {
			return err
		}
		counts, err = countRows(ctx, tx)
		return err
	})
	return counts, db.explain(ctx, "count the catalog", err)
}

// countRows counts the rows of each table.
func countRows(ctx context.Context, q querier) (archive.Counts, error) {
	counts := archive.Counts{}
	for _, table := range archive.Tables {
		var n int
		if err := q.QueryRow(ctx, `SELECT count(*) FROM `+table.Name).Scan(&n); err != nil {
			return nil, err
		}
		counts[table.Name] = n
	}
	return counts, nil
}
