package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Exists says whether the database that a postgres:// URL names holds a catalog. It changes nothing there.
func Exists(ctx context.Context, url string) (exists bool, err error) {
	config, err := parse(url)
	if err != nil {
		return false, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err == nil {
		defer conn.Close(ctx)
		err = conn.QueryRow(ctx, `SELECT to_regclass('sightline_schema') IS NOT NULL`).Scan(&exists)
	}
	if err != nil {
		return false, fmt.Errorf("cannot reach the PostgreSQL database at %s: %s", place(config.ConnConfig), reason(err))
	}
	return exists, nil
}
