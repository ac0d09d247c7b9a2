//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"sightline/internal/analytics"
)

// Query implements analytics.Events.
func (db *DB) Query(ctx context.Context, q analytics.Query) (analytics.Table, error) {
	if err := q.Check(); err != nil {
		return analytics.Table{}, err
	}
	table, err := db.table(ctx, q)
	if err == nil && q.Totals {
		table.Totals, err = db.totals(ctx, q, table)
	}
	if err != nil {
		return analytics.Table{}, fmt.Errorf("query website %d by %q: %w", q.Website, q.By, err)
	}
	return table, nil
}

// totals is the metrics over everything.
func (db *DB) totals(ctx context.Context, q analytics.Query, table analytics.Table) ([]float64, error) {
	if q.By == analytics.None {
		return table.Rows[0].Metrics, nil
	}
	q.By = analytics.None
	whole, err := db.table(ctx, q)
	if err != nil {
		return nil, err
	}
	return whole.Rows[0].Metrics, nil
}

// table answers a query but for its totals.
func (db *DB) table(ctx context.Context, q analytics.Query) (analytics.Table, error) {
	answer := newReader(q)
	err := db.ask(ctx, rendering{query: q, code: db.code}, &answer)
	if answer.clashes > 0 { // as good as never: then the texts themselves tell them apart
		answer = newReader(q)
		err = db.ask(ctx, rendering{query: q}, &answer)
	}
	if err != nil {
		return analytics.Table{}, err
	}
	if q.By == analytics.ByTime {
		return q.Series(answer.steps), nil
	}
	if len(answer.table.Rows) == 0 && q.Search == "" && q.Offset > 0 { // beyond the last row: none tells how many there are
		q.Offset, q.Limit = 0, 1
		first, err := db.table(ctx, q)
		answer.table.Total = first.Total
		return answer.table, err
	}
	return answer.table, nil
}

// ask has one statement answered.
func (db *DB) ask(ctx context.Context, statement rendering, answer *reader) error {
	text := statement.render()
	return db.use(ctx, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, text, statement.args...)
		if err != nil {
			return err
		}
		return errors.Join(answer.read(rows), rows.Close())
	})
}

// A reader makes a table from the rows of the engine.
type reader struct {
	query   analytics.Query
	found   func(value string) bool
	steps   map[int][]float64 // of a series
	table   analytics.Table
	clashes int // how many texts shared their code with another: then the table is wrong
}

func newReader(q analytics.Query) reader {
	r := reader{query: q, found: func(string) bool { return true }, steps: map[int][]float64{}, table: analytics.Table{Rows: []analytics.Row{}}}
	if q.By != analytics.None {
		r.found = q.Found()
	}
	return r
}

func (a *reader) read(rows *sql.Rows) error {
	var value string
	total := 0
	for rows.Next() {
		metrics := make([]float64, len(a.query.Metrics))
		targets := []any{&value}
		for i := range metrics {
			targets = append(targets, &metrics[i])
		}
		if err := rows.Scan(append(targets, &total, &a.clashes)...); err != nil {
			return err
		}
		if err := a.add(value, metrics, total); err != nil {
			return err
		}
	}
	return rows.Err()
}

// add takes one row. Where there is a search the engine sends all rows, and the page is cut here.
func (a *reader) add(value string, metrics []float64, total int) error {
	q := a.query
	switch {
	case q.By == analytics.ByTime:
		step, err := strconv.Atoi(value)
		a.steps[step] = metrics
		return err
	case q.By == analytics.None || q.Search == "":
		a.table.Total = total
	case !a.found(value):
		return nil
	default:
		a.table.Total++
		if a.table.Total <= q.Offset || len(a.table.Rows) == q.Rows() {
			return nil
		}
	}
	a.table.Rows = append(a.table.Rows, analytics.Row{Value: value, Metrics: metrics})
	return nil
}
