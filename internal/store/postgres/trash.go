package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/trash"
)

// A trashed is a kind of records that can be in the trash: where they are and what they show there.
type trashed struct {
	object trash.Object
	table  string
	name   string // column
	where  string // what lies there by itself
}

var trashedKinds = []trashed{
	{trash.Website, "websites", "url", ` WHERE deleted_at IS NOT NULL`},
	{trash.Project, "projects", "name", ` WHERE deleted_at IS NOT NULL`},
	{trash.Report, "reports", "url", ` WHERE deleted_at IS NOT NULL AND NOT with_project`},
}

// columns is what scanItem reads.
func (kind trashed) columns() string {
	return `'` + string(kind.object) + `' COLLATE "C" AS object, id, ` + kind.name + ` AS name, deleted_at`
}

func scanItem(row pgx.CollectableRow) (item trash.Item, err error) {
	err = row.Scan(&item.Object, &item.ID, &item.Name, &item.DeletedAt)
	item.DeletedAt = item.DeletedAt.UTC()
	return item, err
}

// Trash implements trash.Trash.
func (db *DB) Trash(ctx context.Context, account int64, objects []trash.Object, r listing.Request) (listing.Page[trash.Item], error) {
	var parts []string
	for _, kind := range trashedKinds {
		if slices.Contains(objects, kind.object) {
			parts = append(parts, `SELECT `+kind.columns()+` FROM `+kind.table+kind.where+` AND account_id = @account`)
		}
	}
	if len(parts) == 0 {
		return listing.Page[trash.Item]{}, nil
	}
	from := `FROM (` + strings.Join(parts, ` UNION ALL `) + `) AS trash`
	page := `SELECT * ` + from + ` ORDER BY deleted_at DESC, object, id DESC LIMIT @limit OFFSET @offset`
	args := pgx.NamedArgs{"account": account, "limit": r.PerPage, "offset": r.Offset()}
	return list(ctx, db, "trash", page, `SELECT count(*) `+from, args, scanItem)
}

// Purge implements trash.Trash.
func (db *DB) Purge(ctx context.Context, account int64, object trash.Object, id int64, check func(version int64) error) (item trash.Item, err error) {
	what, args := fmt.Sprintf("%s %d in the trash", object, id), pgx.NamedArgs{"account": account, "id": id}
	place := slices.IndexFunc(trashedKinds, func(kind trashed) bool { return kind.object == object })
	if place < 0 {
		return item, fmt.Errorf("%s: %w", what, fault.NotFound)
	}
	kind := trashedKinds[place]
	where := ` FROM ` + kind.table + kind.where + ` AND account_id = @account AND id = @id`
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		var version int64
		if err := tx.QueryRow(ctx, `SELECT version`+where+` FOR UPDATE`, args).Scan(&version); err != nil {
			return err
		}
		if err := check(version); err != nil {
			return asItIs{err}
		}
		item, err = single(ctx, tx, `DELETE`+where+` RETURNING `+kind.columns(), args, scanItem)
		return err
	})
	return item, db.explain(ctx, what, err)
}

// purgeLock is the advisory lock that lets one server at a time erase what is old, so that no two choose the same.
const purgeLock = 0x51676874_70757267

// PurgeOlder implements trash.Trash.
func (db *DB) PurgeOlder(ctx context.Context, before time.Time, limit int) (erased int, err error) {
	// A record that is restored meanwhile stays: its deletion waits, and looks at deleted_at again.
	const statement = `
		WITH old AS (
			SELECT object, id
			FROM (
				(SELECT 'website' AS object, id, deleted_at FROM websites WHERE deleted_at < @before ORDER BY deleted_at LIMIT @limit)
				UNION ALL
				(SELECT 'project', id, deleted_at FROM projects WHERE deleted_at < @before ORDER BY deleted_at LIMIT @limit)
				UNION ALL
				(SELECT 'report', id, deleted_at FROM reports WHERE deleted_at < @before AND NOT with_project ORDER BY deleted_at LIMIT @limit)
			) AS oldest
			ORDER BY deleted_at
			LIMIT @limit
		), old_websites AS (
			DELETE FROM websites w USING old
			WHERE old.object = 'website' AND w.id = old.id AND w.deleted_at < @before
			RETURNING w.id
		), old_projects AS (
			DELETE FROM projects p USING old
			WHERE old.object = 'project' AND p.id = old.id AND p.deleted_at < @before
			RETURNING p.id
		), old_reports AS (
			DELETE FROM reports r USING old
			WHERE old.object = 'report' AND r.id = old.id AND r.deleted_at < @before AND NOT r.with_project
			RETURNING r.id
		)
		SELECT (SELECT count(*) FROM old_websites) + (SELECT count(*) FROM old_projects) + (SELECT count(*) FROM old_reports)`
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(purgeLock)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, statement, pgx.NamedArgs{"before": before, "limit": limit}).Scan(&erased)
	})
	return erased, db.explain(ctx, "purge", err)
}

// remove moves a record into the trash, or erases it, and returns what it was.
func (s shelf[T]) remove(ctx context.Context, db *DB, where string, how trash.Deletion, args pgx.NamedArgs) (removed T, err error) {
	if how.Check == nil {
		return s.removeIn(ctx, db.pool, where, how, args)
	}
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		removed, err = s.removeIn(ctx, tx, where, how, args)
		return err
	})
	return removed, err
}

// removeIn is remove in a transaction, which a deletion with a check needs.
func (s shelf[T]) removeIn(ctx context.Context, q querier, where string, how trash.Deletion, args pgx.NamedArgs) (removed T, err error) {
	statement := `DELETE FROM ` + s.table + where + ` RETURNING ` + s.columns
	if !how.At.IsZero() {
		args["at"] = how.At
		statement = `UPDATE ` + s.table + ` SET deleted_at = @at` + where + ` RETURNING ` + s.columns
	}
	if how.Check != nil {
		var version int64
		if err := q.QueryRow(ctx, `SELECT version FROM `+s.table+where+` FOR UPDATE`, args).Scan(&version); err != nil {
			return removed, err
		}
		if err := how.Check(version); err != nil {
			return removed, asItIs{err}
		}
	}
	return single(ctx, q, statement, args, s.scan)
}

// restore brings a record back from the trash.
func (s shelf[T]) restore(ctx context.Context, q querier, account, id int64) (T, error) {
	statement := `UPDATE ` + s.table + ` SET deleted_at = NULL WHERE account_id = @account AND id = @id AND deleted_at IS NOT NULL RETURNING ` + s.columns
	return single(ctx, q, statement, pgx.NamedArgs{"account": account, "id": id}, s.scan)
}
