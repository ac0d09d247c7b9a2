package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations is what brings a file up to date.
var migrations fs.FS = embedded

// openTime is how long Open waits for another process that opens the same new file.
const openTime = 5 * time.Second

// migratePatiently is migrate while another process may hold the file: switching a new one to WAL does not wait by itself.
func (db *DB) migratePatiently(ctx context.Context) error {
	deadline := time.Now().Add(openTime)
	for {
		err := db.migrate(ctx)
		var cause *sqlite.Error
		if !errors.As(err, &cause) || cause.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// migrate runs the migrations that the file has not seen, all in one transaction: other processes wait, and
// after a crash either all of them took place or none.
func (db *DB) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // in order of their numbers, which count from 1
	if err != nil {
		return err
	}
	var version int
	if err := db.write.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return failure(err)
	}
	if version == len(files) {
		return nil
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return failure(err)
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return failure(err)
	}
	if version > len(files) {
		return fmt.Errorf("it was written by a newer Sightline (schema %d, this one knows %d): start that version or a newer one", version, len(files))
	}
	for _, name := range files[version:] {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", name, failure(err))
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(files))); err != nil {
		return failure(err)
	}
	return failure(tx.Commit())
}
