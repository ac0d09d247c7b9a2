package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"time"

	"sightline/internal/store/archive"
)

// Restore implements archive.Target.
func (db *DB) Restore(ctx context.Context, rows iter.Seq2[archive.Row, error]) error {
	tx, err := db.write.BeginTx(ctx, nil) // other writers wait
	if err != nil {
		return failure(err)
	}
	defer tx.Rollback()
	before, err := countRows(ctx, tx)
	if err != nil {
		return err
	}
	if before.Sum() > 0 {
		return archive.ErrNotEmpty
	}
	read, err := insertRows(ctx, tx, rows)
	if err != nil {
		return err
	}
	stored, err := countRows(ctx, tx)
	if err != nil {
		return err
	}
	if err := read.Check(stored); err != nil {
		return err
	}
	return failure(tx.Commit())
}

// insertRows stores rows one by one and counts them.
func insertRows(ctx context.Context, tx *sql.Tx, rows iter.Seq2[archive.Row, error]) (archive.Counts, error) {
	counts := archive.Counts{}
	statements := map[*archive.Table]*sql.Stmt{}
	defer func() {
		for _, statement := range statements {
			statement.Close()
		}
	}()
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if row.Table == archive.Counters {
			if err := setCounter(ctx, tx, row); err != nil {
				return nil, err
			}
			continue
		}
		statement, prepared := statements[row.Table]
		if !prepared {
			names := row.Table.Names()
			statement, err = tx.PrepareContext(ctx, `INSERT INTO `+row.Table.Name+` (`+strings.Join(names, `, `)+`) VALUES (?`+strings.Repeat(`, ?`, len(names)-1)+`)`)
			if err != nil {
				return nil, failure(err)
			}
			statements[row.Table] = statement
		}
		if _, err := statement.ExecContext(ctx, toStored(row)...); err != nil {
			return nil, fmt.Errorf("%s %v: %w", row.Table.Name, row.Values[0], failure(err))
		}
		counts[row.Table.Name]++
	}
	return counts, nil
}

// toStored is the values of a row as this engine keeps them.
func toStored(row archive.Row) []any {
	values := row.All()
	for i, column := range row.Table.Columns {
		moment, isTime := values[i].(time.Time)
		switch {
		case isTime && column.Kind == archive.Instant:
			values[i] = moment.UnixNano()
		case isTime:
			values[i] = moment.Unix()
		case column.Kind == archive.JSON && values[i] == nil:
			values[i] = "null"
		}
	}
	return values
}

// setCounter lets ids go on after the last one that was handed out.
func setCounter(ctx context.Context, tx *sql.Tx, row archive.Row) error {
	name, last := row.Values[0], row.Values[1]
	if _, err := tx.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)`, name); err != nil {
		return failure(err)
	}
	_, err := tx.ExecContext(ctx, `UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1`, name, last)
	return failure(err)
}
