//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations is what brings a file up to date.
var migrations fs.FS = embedded

// migrate runs the migrations that a file has not seen, all in one transaction.
func migrate(ctx context.Context, pool *sql.DB) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var tables int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() AND table_name = 'about'`).Scan(&tables); err != nil {
		return err
	}
	version := 0
	if tables > 0 {
		if err := tx.QueryRowContext(ctx, `SELECT version FROM about`).Scan(&version); err != nil {
			return err
		}
	}
	if err := upgrade(ctx, tx, version); err != nil {
		return err
	}
	return tx.Commit()
}

// An executor runs statements: a transaction or a connection.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// upgrade brings a schema from a version up to date.
func upgrade(ctx context.Context, tx executor, version int) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // in order of their numbers, which count from 1
	if err != nil || version == len(files) {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("they were written by a newer Sightline (schema %d, this one knows %d): start that version or a newer one", version, len(files))
	}
	for _, name := range files[version:] {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE about SET version = $1`, len(files))
	return err
}
