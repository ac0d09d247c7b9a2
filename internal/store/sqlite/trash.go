package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/trash"
)

// bins says in which table, under which column with its name, an object is, and when it lies there by itself.
var bins = map[trash.Object]struct{ table, name, alone string }{
	trash.Website: {"websites", "url", ""},
	trash.Project: {"projects", "name", ""},
	trash.Report:  {"reports", "url", " AND NOT with_project"},
}

// Trash implements trash.Trash.
func (db *DB) Trash(ctx context.Context, account int64, objects []trash.Object, r listing.Request) (listing.Page[trash.Item], error) {
	var parts []string
	var args []any
	for _, object := range objects {
		bin, known := bins[object]
		if !known {
			return listing.Page[trash.Item]{}, fmt.Errorf("trash of %s: %w", object, fault.NotFound)
		}
		parts = append(parts, `SELECT ? AS object, id, `+bin.name+` AS name, deleted_at FROM `+bin.table+` WHERE account_id = ? AND deleted_at IS NOT NULL`+bin.alone)
		args = append(args, string(object), account)
	}
	if len(parts) == 0 {
		return listing.Page[trash.Item]{}, nil
	}
	from := ` FROM (` + strings.Join(parts, ` UNION ALL `) + `)`
	return page(ctx, db, pageQuery{columns: `object, id, name, deleted_at`, from: from, order: `deleted_at DESC, object ASC, id DESC`, args: args}, r,
		func(row scanner) (item trash.Item, err error) {
			err = row.Scan(&item.Object, &item.ID, &item.Name, instant{&item.DeletedAt})
			return item, err
		})
}

// remove moves a record into the trash, or erases it. where names just one record outside the trash.
func remove(tx *sql.Tx, table string, id, version int64, how trash.Deletion) error {
	if how.Check != nil {
		if err := how.Check(version); err != nil {
			return err
		}
	}
	if how.At.IsZero() {
		_, err := tx.Exec(`DELETE FROM `+table+` WHERE id = ?`, id)
		return err
	}
	_, err := tx.Exec(`UPDATE `+table+` SET deleted_at = ? WHERE id = ?`, unix(how.At), id)
	return err
}

// Purge implements trash.Trash.
func (db *DB) Purge(ctx context.Context, account int64, object trash.Object, id int64, check func(version int64) error) (trash.Item, error) {
	item := trash.Item{Object: object}
	bin, known := bins[object]
	if !known {
		return item, fmt.Errorf("%s %d: %w", object, id, fault.NotFound)
	}
	query := `SELECT id, ` + bin.name + `, deleted_at, version FROM ` + bin.table + ` WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL` + bin.alone
	err := db.change(ctx, func(tx *sql.Tx) error {
		var version int64
		if err := tx.QueryRow(query, account, id).Scan(&item.ID, &item.Name, instant{&item.DeletedAt}, &version); err != nil {
			return missing(err, "%s %d in the trash", object, id)
		}
		if err := check(version); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM `+bin.table+` WHERE id = ?`, id)
		return err
	})
	return item, err
}

// PurgeOlder implements trash.Trash.
func (db *DB) PurgeOlder(ctx context.Context, before time.Time, limit int) (erased int, err error) {
	const oldest = `
		SELECT object, id FROM (
			SELECT 'website' AS object, id, deleted_at FROM websites WHERE deleted_at < ?1
			UNION ALL SELECT 'project', id, deleted_at FROM projects WHERE deleted_at < ?1
			UNION ALL SELECT 'report', id, deleted_at FROM reports WHERE deleted_at < ?1 AND NOT with_project)
		ORDER BY deleted_at, object, id
		LIMIT ?2`
	err = db.change(ctx, func(tx *sql.Tx) error {
		rows, err := tx.Query(oldest, before.Unix(), limit)
		if err != nil {
			return err
		}
		items, err := all(rows, func(row scanner) (item trash.Item, err error) {
			err = row.Scan(&item.Object, &item.ID)
			return item, err
		})
		for _, item := range items {
			if err == nil {
				_, err = tx.Exec(`DELETE FROM `+bins[item.Object].table+` WHERE id = ?`, item.ID)
			}
		}
		erased = len(items)
		return err
	})
	return erased, err
}

// TakeTurn implements store.Catalog.
func (db *DB) TakeTurn(ctx context.Context, job string, now time.Time, every time.Duration) (taken bool, err error) {
	const query = `
		INSERT INTO clock (job, ran_at) VALUES (?1, ?2)
		ON CONFLICT (job) DO UPDATE SET ran_at = ?2 WHERE ran_at <= ?3`
	err = db.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.Exec(query, job, now.UnixNano(), now.Add(-every).UnixNano())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		taken = n > 0
		return err
	})
	return taken && err == nil, err
}
