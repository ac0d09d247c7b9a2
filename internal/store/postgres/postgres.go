// Package postgres keeps the catalog in PostgreSQL.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What holds unless the URL says otherwise.
const (
	maxConns         = 16
	connectTimeout   = 5 * time.Second // for each address of the server
	statementTimeout = "10s"
)

// A DB is a catalog in a PostgreSQL database. Any number of servers may share one.
type DB struct {
	pool   *pgxpool.Pool
	closed atomic.Bool
}

// Open connects to the database that a postgres:// URL names and brings its tables up to date.
// Its errors are sentences for a person and never contain the password.
func Open(ctx context.Context, url string) (*DB, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the PostgreSQL database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot reach the PostgreSQL database at %s: %s", place(config.ConnConfig), reason(err))
	}
	if err := migrate(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot prepare the PostgreSQL database at %s: %s", place(config.ConnConfig), reason(err))
	}
	return &DB{pool: pool}, nil
}

// Ping implements store.Catalog.
func (db *DB) Ping(ctx context.Context) error {
	return db.explain(ctx, "ping", db.pool.Ping(ctx))
}

// Close implements store.Catalog.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.pool.Close()
	return nil
}

var errURL = errors.New("the database URL is not valid: write postgres://USER:PASSWORD@HOST:PORT/NAME, " +
	"with special characters of the password percent-encoded")

// parse reads a URL and fills in what it leaves open. Its errors never repeat a part of the URL that could be the password.
func parse(url string) (*pgxpool.Config, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, errURL
	}
	given, err := pgx.ParseConfig(url)
	var file *fs.PathError
	if errors.As(err, &file) {
		return nil, fmt.Errorf("cannot read a file that the database URL names: %w", file)
	}
	if err != nil || strings.Contains(given.Host+given.Database, "@") { // a / in the password shifts it there
		return nil, errURL
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	if given.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = maxConns
	}
	if given.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	params := config.ConnConfig.RuntimeParams
	params["application_name"] = cmp.Or(params["application_name"], "sightline")
	params["jit"] = cmp.Or(params["jit"], "off") // compiling a query takes longer than running ours
	// Every list and look-up has an index. What the server believes of the data can be old, as after many changes at once, and
	// would lead it to read everything.
	params["enable_seqscan"] = cmp.Or(params["enable_seqscan"], "off")
	if !strings.Contains(params["options"], "statement_timeout") {
		params["statement_timeout"] = cmp.Or(params["statement_timeout"], statementTimeout)
	}
	return config, nil
}

// place says where a database is: HOST:PORT/NAME.
func place(config *pgx.ConnConfig) string {
	address := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	hosts := []string{address(config.Host, config.Port)}
	for _, other := range config.Fallbacks {
		hosts = append(hosts, address(other.Host, other.Port))
	}
	return strings.Join(slices.Compact(hosts), ",") + "/" + cmp.Or(config.Database, config.User)
}
