package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"sightline/internal/store/archive"
)

// copySize is how many rows are sent at once.
const copySize = 1000

// Restore implements archive.Target.
func (db *DB) Restore(ctx context.Context, rows iter.Seq2[archive.Row, error]) error {
	var names []string
	for _, table := range archive.Tables {
		names = append(names, table.Name)
	}
	all := strings.Join(names, `, `)
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, patient+`; LOCK TABLE `+all+` IN SHARE ROW EXCLUSIVE MODE`); err != nil { // other writers wait
			return err
		}
		before, err := countRows(ctx, tx)
		if err != nil {
			return err
		}
		if before.Sum() > 0 {
			return asItIs{archive.ErrNotEmpty}
		}
		read, err := withoutTotals(ctx, tx, rows)
		if err != nil {
			return err
		}
		stored, err := countRows(ctx, tx)
		if err != nil {
			return err
		}
		if err := read.Check(stored); err != nil {
			return asItIs{err}
		}
		_, err = tx.Exec(ctx, `ANALYZE `+all)
		return err
	})
	return db.explain(ctx, "fill the catalog", err)
}

// withoutTotals stores rows while no trigger keeps the totals, and then counts those: one transaction that changes the same
// total for each of a million rows would take hours.
func withoutTotals(ctx context.Context, tx pgx.Tx, rows iter.Seq2[archive.Row, error]) (archive.Counts, error) {
	const off = `ALTER TABLE websites DISABLE TRIGGER USER; ALTER TABLE projects DISABLE TRIGGER USER; ALTER TABLE reports DISABLE TRIGGER USER`
	const on = `ALTER TABLE websites ENABLE TRIGGER USER; ALTER TABLE projects ENABLE TRIGGER USER; ALTER TABLE reports ENABLE TRIGGER USER`
	const total = `
		INSERT INTO totals (account_id, object, shard, n)
		SELECT account_id, 'website', 0, count(*) FROM websites WHERE deleted_at IS NULL GROUP BY account_id
		UNION ALL
		SELECT account_id, 'project', 0, count(*) FROM projects WHERE deleted_at IS NULL GROUP BY account_id
		UNION ALL
		SELECT account_id, 'report', 0, count(*) FROM reports WHERE deleted_at IS NULL GROUP BY account_id`
	if _, err := tx.Exec(ctx, off); err != nil {
		return nil, err
	}
	read, err := copyRows(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, on+`; `+total)
	return read, err
}

// copyRows stores rows, many at a time, and counts them.
func copyRows(ctx context.Context, tx pgx.Tx, rows iter.Seq2[archive.Row, error]) (archive.Counts, error) {
	counts := archive.Counts{}
	var table *archive.Table
	var batch [][]any
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		n, err := tx.CopyFrom(ctx, pgx.Identifier{table.Name}, table.Names(), pgx.CopyFromRows(batch))
		counts[table.Name] += int(n)
		batch = batch[:0]
		return err
	}
	for row, err := range rows {
		if err != nil {
			return nil, asItIs{err}
		}
		if row.Table != table || len(batch) == copySize {
			if err := flush(); err != nil {
				return nil, err
			}
			table = row.Table
		}
		if table == archive.Counters {
			if err := setCounter(ctx, tx, row); err != nil {
				return nil, err
			}
			continue
		}
		batch = append(batch, row.All())
	}
	return counts, flush()
}

// setCounter lets ids go on after the last one that was handed out. Unlike setval, this is undone with the transaction.
func setCounter(ctx context.Context, tx pgx.Tx, row archive.Row) error {
	name, last := row.Values[0].(string), row.Values[1].(int64)
	_, err := tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN id RESTART WITH %d`, pgx.Identifier{name}.Sanitize(), last+1))
	return err
}
