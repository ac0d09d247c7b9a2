package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"

	"sightline/internal/listing"
	"sightline/internal/trash"
)

// A pageQuery is the query of a list. All of it is constant but args.
type pageQuery struct {
	columns string
	from    string // FROM and WHERE
	order   string
	args    []any        // of from; the account first, until search narrows it
	total   trash.Object // whose kept total is that of the list; empty: it must be counted
}

// page runs a list's query and finds its total: kept where it is, else counted, unless the first page shows all.
// The + 0 keeps SQLite from compiling the query again for each limit.
func page[T any](ctx context.Context, db *DB, q pageQuery, r listing.Request, scan func(scanner) (T, error)) (listing.Page[T], error) {
	result := listing.Page[T]{}
	if q.total != "" {
		q.columns += `, (` + keptTotal + `)`
		q.args = append([]any{q.args[0], string(q.total)}, q.args...)
		alone := scan
		scan = func(row scanner) (T, error) { return alone(withTotal{row, &result.Total}) }
	}
	query := `SELECT ` + q.columns + q.from + ` ORDER BY ` + q.order + ` LIMIT ? + 0 OFFSET ?`
	rows, err := db.query(ctx, query, append(q.args[:len(q.args):len(q.args)], r.PerPage, r.Offset())...)
	if err != nil {
		return result, failure(err)
	}
	if result.Items, err = all(rows, scan); err != nil {
		return result, err
	}
	switch {
	case r.Page == 1 && len(result.Items) < r.PerPage:
		result.Total = len(result.Items)
	case q.total != "" && len(result.Items) == 0:
		result.Total, err = db.total(ctx, q.args[0], q.total)
	case q.total == "":
		err = failure(db.queryRow(ctx, `SELECT count(*)`+q.from, q.args...).Scan(&result.Total))
	}
	return result, err
}

// keptTotal is how many records of a kind an account has outside the trash.
const keptTotal = `SELECT coalesce(sum(n), 0) FROM totals WHERE account_id = ? AND object = ?`

func (db *DB) total(ctx context.Context, account any, object trash.Object) (n int, err error) {
	err = db.queryRow(ctx, keptTotal, account, string(object)).Scan(&n)
	return n, failure(err)
}

// withTotal is a row whose last column is the total of its list.
type withTotal struct {
	scanner
	total *int
}

// Scan reads the other columns into to.
func (r withTotal) Scan(to ...any) error { return r.scanner.Scan(append(to, r.total)...) }

// A searched says how the records of a kind are searched.
type searched struct {
	object trash.Object
	table  string
	index  string // its trigram index
	column string // the folded text in which the search looks; part of what is indexed
}

// manyMatches is where the index stops to help: sorting so many rows takes longer than walking the list in its order.
const manyMatches = 20_000

// search narrows a list to the rows that contain a text. A small account scans its own rows, and so does a text that is
// too short for the index or stands in too many rows; else the index finds them, but for the newest rows, which are not
// in it yet.
func (db *DB) search(ctx context.Context, q *pageQuery, s searched, text string) error {
	text = listing.Fold(text)
	q.from += ` AND instr(` + s.column + `, ?) > 0`
	q.args = append(q.args, text)
	if utf8.RuneCountInString(text) < 3 {
		return nil
	}
	total, err := db.total(ctx, q.args[0], s.object)
	if err != nil || total < db.largeAccount {
		return err
	}
	phrase := `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	var matches int
	count := `SELECT count(*) FROM (SELECT 1 FROM ` + s.index + ` WHERE ` + s.index + ` MATCH ? LIMIT ?)`
	if err := db.queryRow(ctx, count, phrase, manyMatches).Scan(&matches); err != nil {
		return failure(err)
	}
	if matches < manyMatches {
		// The + keeps SQLite from walking the account instead of the index.
		q.from = ` FROM ` + s.table + ` WHERE id IN (SELECT rowid FROM ` + s.index + ` WHERE ` + s.index + ` MATCH ?
			UNION ALL SELECT id FROM ` + s.table + ` WHERE id > (SELECT last FROM indexed WHERE name = '` + s.table + `'))
			AND +account_id = ? AND deleted_at IS NULL AND instr(` + s.column + `, ?) > 0`
		q.args = []any{phrase, q.args[0], text}
	}
	return nil
}

// directed is an ORDER BY over columns, all in the direction of the request.
func directed(r listing.Request, columns ...string) string {
	direction := " ASC"
	if r.Desc {
		direction = " DESC"
	}
	return strings.Join(columns, direction+", ") + direction
}

// all reads every row.
func all[T any](rows *sql.Rows, scan func(scanner) (T, error)) ([]T, error) {
	defer rows.Close()
	items := make([]T, 0, 10) // as many as most lists show
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, failure(err)
		}
		items = append(items, item)
	}
	return items, failure(rows.Err())
}

// query runs a query that was prepared before or is now. There are as many as this package writes: their texts hold nothing
// that callers say.
func (db *DB) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := db.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

// queryRow is query for one row.
func (db *DB) queryRow(ctx context.Context, query string, args ...any) scanner {
	statement, err := db.statement(ctx, query)
	if err != nil {
		return failedRow{err}
	}
	return statement.QueryRowContext(ctx, args...)
}

func (db *DB) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known, found := db.statements.Load(query); found {
		return known.(*sql.Stmt), nil
	}
	statement, err := db.read.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	known, raced := db.statements.LoadOrStore(query, statement)
	if raced {
		statement.Close() // a twin was faster; closing an unused statement cannot fail in a way that matters
	}
	return known.(*sql.Stmt), nil
}

// A failedRow is a row that could not be asked for.
type failedRow struct{ err error }

// Scan returns what went wrong.
func (r failedRow) Scan(...any) error { return r.err }
