package postgres

import (
	"context"
	"maps"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"sightline/internal/listing"
)

const (
	deep  = 1_000  // a page with so many rows before it is deep
	large = 10_000 // an account of more rows is searched through trigrams, one of fewer by reading its rows
	few   = 500    // so many rows that match are sorted by their ids alone
	ahead = 10_000 // so many rows of a large account are looked through for a page of what matches
)

// A shelf is a table of records that are listed. Its queries are made of constants; what callers say is in args only.
type shelf[T any] struct {
	table    string
	object   string // what its totals are kept under
	columns  string
	trigrams string // the column whose trigrams are indexed; it contains whatever any other column contains that is searched
	scan     pgx.RowToFunc[T]
	where    string        // narrows the list further; empty: all of an account
	args     pgx.NamedArgs // of where
}

// narrow is the shelf with one more condition.
func (s shelf[T]) narrow(condition string, args pgx.NamedArgs) shelf[T] {
	s.where += condition
	s.args = maps.Clone(s.args)
	if s.args == nil {
		s.args = pgx.NamedArgs{}
	}
	maps.Copy(s.args, args)
	return s
}

// list reads one page of an account's records, searched in a column.
func (s shelf[T]) list(ctx context.Context, db *DB, account int64, r listing.Request, column, order string) (listing.Page[T], error) {
	const total = `SELECT coalesce(sum(n), 0)::bigint FROM totals WHERE account_id = @account AND object = @object`
	args := pgx.NamedArgs{"account": account, "object": s.object, "limit": r.PerPage, "offset": r.Offset(), "few": few, "ahead": ahead}
	maps.Copy(args, s.args)
	if r.Search == "" && s.where != "" {
		return list(ctx, db, s.table, s.page(r, ``, order), s.count(``), args, s.scan)
	}
	if r.Search == "" {
		return s.listAll(ctx, db, r, total, order, args)
	}
	var size int
	if err := db.pool.QueryRow(ctx, total, args).Scan(&size); err != nil {
		return listing.Page[T]{}, db.explain(ctx, s.table, err)
	}
	term := listing.Fold(r.Search)
	match := ` AND position(@term in ` + column + `) > 0`
	args["term"] = term
	if size <= large {
		return list(ctx, db, s.table, s.page(r, match, order), s.count(match), args, s.scan)
	}
	if utf8.RuneCountInString(term) >= 3 {
		core, err := s.core(ctx, db, term)
		if err != nil {
			return listing.Page[T]{}, db.explain(ctx, s.table, err)
		}
		args["core"] = containing(core)
		if indexed := ` AND ` + s.trigrams + ` LIKE @core`; core == term && column == s.trigrams {
			match = indexed
		} else {
			match += indexed
		}
	}
	page, err := s.search(ctx, db, size, r, match, order, args)
	return page, db.explain(ctx, s.table, err)
}

// listAll reads one page of all records with their total, in one query: of a short one, what surrounds it costs the most.
func (s shelf[T]) listAll(ctx context.Context, db *DB, r listing.Request, total, order string, args pgx.NamedArgs) (listing.Page[T], error) {
	var found listing.Page[T]
	scan, row := s.scan, withTotal{total: &found.Total}
	s.columns += `, (` + total + `)`
	s.scan = func(next pgx.CollectableRow) (T, error) {
		row.CollectableRow = next
		return scan(&row)
	}
	var err error
	if found.Items, err = s.rows(ctx, db, s.page(r, ``, order), args); err == nil && len(found.Items) == 0 {
		err = db.pool.QueryRow(ctx, total, args).Scan(&found.Total)
	}
	return found, db.explain(ctx, s.table, err)
}

// withTotal is a row whose last column is the total of its list.
type withTotal struct {
	pgx.CollectableRow
	total *int
	to    []any // is used again for the next row
}

// Scan reads the other columns into to.
func (r *withTotal) Scan(to ...any) error {
	r.to = append(append(r.to[:0], to...), r.total)
	return r.CollectableRow.Scan(r.to...)
}

// search reads one page of what matches in a large account of some size.
func (s shelf[T]) search(ctx context.Context, db *DB, size int, r listing.Request, match, order string, args pgx.NamedArgs) (listing.Page[T], error) {
	var found listing.Page[T]
	first, err := sweep(ctx, db, s.first(match), args, pgx.RowTo[int64])
	if err != nil {
		return found, err
	}
	if args["first"] = first; len(first) <= few {
		found.Total = len(first)
		found.Items, err = s.rows(ctx, db, s.page(r, ` AND id = ANY (@first)`, order), args)
		return found, err
	}
	count, err := sweep(ctx, db, s.count(match), args, pgx.RowTo[int])
	if err != nil {
		return found, err
	}
	found.Total = count[0]
	found.Items, err = s.searchMany(ctx, db, size, found.Total, r, match, order, args)
	return found, err
}

// searchMany reads one page of the many rows that match. The page should lie among the first rows of the list, where they
// are looked for first; if it does not, as when all that matches begins with a late letter, all that matches is sorted.
func (s shelf[T]) searchMany(ctx context.Context, db *DB, size, matching int, r listing.Request, match, order string, args pgx.NamedArgs) ([]T, error) {
	wanted := min(r.PerPage, matching-r.Offset())
	if wanted <= 0 {
		return nil, nil
	}
	if expected := (r.Offset() + r.PerPage) * size / matching; expected < ahead/4 {
		if found, err := s.rows(ctx, db, s.earlyPage(match, order), args); err != nil || len(found) == wanted {
			return found, err
		}
	}
	return sweep(ctx, db, s.page(r, match, order), args, s.scan)
}

func (s shelf[T]) rows(ctx context.Context, db *DB, query string, args pgx.NamedArgs) ([]T, error) {
	rows, err := db.pool.Query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	const usual = 10 // rows of a page
	return pgx.AppendRows(make([]T, 0, usual), rows, s.scan)
}

// sweep runs a query for which all that matches in a large account is read. It is planned for its own term, since whether
// trigrams help depends on that, and never walks along an index in the hope to come across enough rows that match soon.
func sweep[T any](ctx context.Context, db *DB, query string, args pgx.NamedArgs, scan pgx.RowToFunc[T]) (found []T, err error) {
	const plan = `
		SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_indexscan', 'off', true),
			set_config('enable_seqscan', 'on', true)`
	var batch pgx.Batch // is one transaction
	batch.Queue(plan)
	batch.Queue(query, args).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scan)
		return err
	})
	err = db.pool.SendBatch(ctx, &batch).Close()
	return found, err
}

func (s shelf[T]) from(match string) string {
	return ` FROM ` + s.table + ` WHERE account_id = @account AND deleted_at IS NULL` + s.where + match
}

// first is a few of the rows that match, and one more if there are more. It is planned as if all of them were read.
func (s shelf[T]) first(match string) string {
	return `SELECT id FROM (SELECT id` + s.from(match) + ` OFFSET 0) AS found LIMIT @few + 1`
}

func (s shelf[T]) count(match string) string {
	return `SELECT count(*)` + s.from(match)
}

// page reads the rows of one page. Of what lies before a deep one it needs the ids only, which an index has.
func (s shelf[T]) page(r listing.Request, match, order string) string {
	part := s.from(match) + ` ORDER BY ` + order + ` LIMIT ` + strconv.Itoa(r.PerPage)
	if r.Offset() > 0 {
		part += ` OFFSET @offset`
	}
	if r.Offset() < deep {
		return `SELECT ` + s.columns + part
	}
	return `SELECT ` + s.columns + ` FROM ` + s.table + ` WHERE id = ANY (ARRAY(SELECT id` + part + `)) ORDER BY ` + order
}

// earlyPage is as much of a page as lies among the first rows of the list.
func (s shelf[T]) earlyPage(match, order string) string {
	first := `(SELECT *` + s.from(``) + ` ORDER BY ` + order + ` LIMIT @ahead) AS first`
	return `SELECT ` + s.columns + ` FROM ` + first + ` WHERE true` + match + ` ORDER BY ` + order + ` LIMIT @limit OFFSET @offset`
}
