package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock that lets one server at a time change the tables.
const migrationLock = 0x51676874_6c696e65

// migrate runs the migrations that the database has not seen, all in one transaction, so that
// neither a second server nor a crash finds half of them done.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // in order of their numbers, which count from 1
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if encoding := tx.Conn().PgConn().ParameterStatus("server_encoding"); encoding != "UTF8" {
			return fmt.Errorf("its encoding is %s, but Sightline needs UTF8", encoding)
		}
		version, err := lockVersion(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(files) {
			return fmt.Errorf("the database was written by a newer Sightline (schema %d, this one knows %d): start that version or a newer one", version, len(files))
		}
		for _, name := range files[version:] {
			text, err := migrations.ReadFile(name)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		_, err = tx.Exec(ctx, `UPDATE sightline_schema SET version = $1 WHERE version <> $1`, len(files))
		return err
	})
}

// lockVersion keeps other servers from migrating until the transaction ends, and reads the version of the tables.
func lockVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	// The wait for another server's migration, and a migration itself, may take longer than any other statement.
	if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
		return 0, err
	}
	const create = `
		CREATE TABLE IF NOT EXISTS sightline_schema (version int NOT NULL);
		INSERT INTO sightline_schema SELECT 0 WHERE NOT EXISTS (SELECT FROM sightline_schema)`
	if _, err := tx.Exec(ctx, create); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT max(version) FROM sightline_schema`).Scan(&version)
	return version, err
}
