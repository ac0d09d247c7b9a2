package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrHeld says that another server keeps the events of this database's websites.
var ErrHeld = errors.New("another server on this database keeps the events already: start this one with --events none")

// HoldEvents makes this server the one that keeps the events of a database's websites, until it releases them or its
// connection ends.
func HoldEvents(ctx context.Context, url string) (release func() error, err error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the PostgreSQL database at %s: %s", place(config.ConnConfig), reason(err))
	}
	release = func() error {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return conn.Close(closing)
	}
	var mine bool
	err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('events of ' || current_schema(), 0))`).Scan(&mine)
	if err == nil && !mine {
		err = ErrHeld
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}
