package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sightline/internal/store/postgres"
	"sightline/internal/store/sqlite"
)

// Open opens the catalog that database names, or the embedded one in the data directory dir when it is empty.
// It is the only place that knows which engines there are.
func Open(ctx context.Context, database, dir string) (Catalog, error) {
	switch scheme, _, _ := strings.Cut(database, "://"); scheme {
	case "":
		return sqlite.Open(ctx, dir)
	case "postgres", "postgresql":
		return postgres.Open(ctx, database)
	default:
		return nil, errors.New("--database must be a PostgreSQL address such as postgres://user:password@host/name")
	}
}

// OpenExisting is Open for commands that make no sense before the first start of a server.
func OpenExisting(ctx context.Context, database, dir string) (Catalog, error) {
	if database == "" && !sqlite.Exists(dir) {
		return nil, fmt.Errorf("there is no Sightline data in %s: start sightline serve first, or name its --data directory", strings.TrimSuffix(dir, "/"))
	}
	catalog, err := Open(ctx, database, dir)
	if err != nil {
		return nil, err
	}
	if accounts, err := catalog.Accounts(ctx); err != nil {
		return nil, errors.Join(err, catalog.Close())
	} else if len(accounts) == 0 {
		return nil, errors.Join(errors.New("this installation has no owner yet: start sightline serve first"), catalog.Close())
	}
	return catalog, nil
}
