//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sightline/internal/analytics"
)

// rewritten is the name of a file that is being made by Compact. One that is found was left by a crash.
const rewritten = "rewritten.duckdb"

// Erase implements analytics.Events. The bytes of what is erased are overwritten by and by, at the latest by Compact.
func (db *DB) Erase(ctx context.Context, website int64, before time.Time) error {
	if website == 0 && before.IsZero() {
		return analytics.ErrEraseAll
	}
	db.upkeep.Lock()
	defer db.upkeep.Unlock()
	db.writing.Lock()
	defer db.writing.Unlock()
	to, lastDay := int64(1)<<62, int64(1)<<62
	if !before.IsZero() {
		to, lastDay = ceilMilli(before), ceilMilli(before)-24*time.Hour.Milliseconds()
	}
	err := db.use(ctx, func(pool *sql.DB) error {
		return transact(ctx, pool, func(conn *sql.Conn) error {
			for _, erasure := range []struct {
				statement string
				until     int64
			}{
				{`DELETE FROM events WHERE ($1 = 0 OR website = $1) AND ms < $2`, to},
				{`DELETE FROM samples WHERE ($1 = 0 OR website = $1) AND ms < $2`, to},
				{`DELETE FROM exclusions WHERE ($1 = 0 OR website = $1) AND day <= $2`, lastDay}, // whole days only
			} {
				if _, err := conn.ExecContext(ctx, erasure.statement, website, erasure.until); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("erase events: %w", err)
	}
	return nil
}

// Compact rewrites the file: smaller, and sorted by website and time, which makes questions about small websites faster.
// Everything else goes on meanwhile; at the end all wait for as long as it takes to open the new file.
func (db *DB) Compact(ctx context.Context) error {
	db.upkeep.Lock()
	defer db.upkeep.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(db.closing, cancel)()
	path := filepath.Join(filepath.Dir(db.path), rewritten)
	err := db.use(ctx, func(pool *sql.DB) error { return db.rewrite(ctx, pool, path) })
	db.writing.Lock()
	defer db.writing.Unlock()
	missed := db.meanwhile
	db.meanwhile = nil
	if err == nil {
		err = db.catchUp(ctx, path, *missed)
	}
	if err == nil {
		err = db.replace(path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("compact the events: %w", err), os.RemoveAll(path), os.RemoveAll(path+".wal"))
	}
	return nil
}

// rewrite copies everything into a new file.
func (db *DB) rewrite(ctx context.Context, pool *sql.DB, path string) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `ATTACH '`+strings.ReplaceAll(path, "'", "''")+`' AS rewritten`); err != nil {
		return err
	}
	err = db.copyAll(ctx, conn)
	always := context.WithoutCancel(ctx)
	_, back := conn.ExecContext(always, `USE `+base)
	_, detached := conn.ExecContext(always, `DETACH rewritten`)
	return errors.Join(err, back, detached)
}

// base is the name by which the engine knows the file.
const base = "events"

// copyAll copies a snapshot of everything into the attached file, with the schema of this version. From the moment of the
// snapshot on, appended batches are kept.
func (db *DB) copyAll(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, `USE rewritten`); err != nil {
		return err
	}
	if err := upgrade(ctx, conn, 0); err != nil {
		return err
	}
	if err := db.snapshot(ctx, conn); err != nil {
		return err
	}
	var err error
	for _, statement := range []string{
		`INSERT INTO rewritten.events SELECT * FROM ` + base + `.main.events ORDER BY website, ms, rowid`,
		`INSERT INTO rewritten.exclusions SELECT * FROM ` + base + `.main.exclusions ORDER BY website, day, reason`,
		`INSERT INTO rewritten.samples SELECT * FROM ` + base + `.main.samples ORDER BY rowid`,
		`UPDATE rewritten.about SET position = (SELECT position FROM ` + base + `.main.about)`,
		`COMMIT`,
		`CHECKPOINT rewritten`,
	} {
		if _, err = conn.ExecContext(ctx, statement); err != nil {
			_, undo := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
			return errors.Join(fmt.Errorf("%s: %w", statement, err), undo)
		}
	}
	return nil
}

// snapshot begins a transaction that sees what is stored now, and begins to keep what is appended from now on.
func (db *DB) snapshot(ctx context.Context, conn *sql.Conn) error {
	db.writing.Lock()
	defer db.writing.Unlock()
	if _, err := conn.ExecContext(ctx, `BEGIN`); err != nil {
		return err
	}
	var position int64
	if err := conn.QueryRowContext(ctx, `SELECT position FROM `+base+`.main.about`).Scan(&position); err != nil {
		return err
	}
	db.meanwhile = &[]analytics.Batch{}
	return nil
}

// catchUp appends to the new file what came meanwhile, so that it lacks nothing when it takes the place of the old one.
func (db *DB) catchUp(ctx context.Context, path string, missed []analytics.Batch) error {
	pool, err := db.connect(ctx, path)
	if err != nil {
		return err
	}
	for _, batch := range missed {
		if err = db.write(ctx, pool, batch); err != nil {
			break
		}
	}
	return errors.Join(failure(err), pool.Close())
}

// replace puts the new file in the place of the old one, when nobody reads. It is not stopped halfway.
func (db *DB) replace(path string) error {
	db.reading.Lock()
	defer db.reading.Unlock()
	if err := db.shut(); err != nil {
		return err
	}
	err := errors.New("the log of a file is still there")
	if !exists(db.path+".wal") && !exists(path+".wal") {
		err = os.Rename(path, db.path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(db.path))
	}
	return errors.Join(err, db.open(context.Background()))
}

// syncFolder makes a renaming durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
