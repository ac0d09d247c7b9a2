package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/account"
	"sightline/internal/store"
	"sightline/internal/web"
)

// smallSize is how many websites the small account has.
const smallSize = 20

// A target is a running server with websites in it.
type target struct {
	base     string // of the analytics area
	key      string // of the account with many websites
	smallKey string // of an account with 20 beside it
	size     int
}

// startSightline starts the program on an engine, with websites in it.
func startSightline(ctx context.Context, s settings, engine string, size int) (*stage, error) {
	database, erase, err := place(ctx, s, engine, size)
	if err != nil {
		return nil, err
	}
	catalog, err := store.Open(ctx, database.url, database.dir)
	if err != nil {
		return nil, errors.Join(err, erase())
	}
	stop, t, err := start(ctx, &web.Server{Catalog: catalog})
	if err != nil {
		return nil, errors.Join(err, catalog.Close(), erase())
	}
	all := func() error { return errors.Join(stop(), catalog.Close(), erase()) }
	t.size = size
	began := time.Now()
	if err := seed(ctx, t); err != nil {
		return nil, errors.Join(fmt.Errorf("seed: %w", err), all())
	}
	if err := database.settle(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("settle: %w", err), all())
	}
	fmt.Fprintf(os.Stderr, "%s: %d websites through the bulk operation in %v\n", engine, size, time.Since(began).Round(time.Millisecond))
	return &stage{engine: engine, operations: operations(t), stop: all}, nil
}

// operations lists what is measured, reads before writes.
func operations(t target) []operation {
	websites := t.base + "/api/v1/websites"
	get := func(query string) func(int64) call {
		return func(int64) call { return call{method: "GET", address: websites + query} }
	}
	deep := min(500_000, t.size/2)
	var created atomic.Int64
	return []operation{
		{name: "read", want: 200, key: t.key, next: func(i int64) call {
			return call{method: "GET", address: fmt.Sprintf("%s/%d", websites, scatter(i, t.size))}
		}},
		{name: "list", want: 200, key: t.key, next: get("")},
		{name: "search selective", want: 200, key: t.key, alone: true, next: func(i int64) call {
			return call{method: "GET", address: fmt.Sprintf("%s?search=site%d.ex", websites, scatter(i, t.size))}
		}},
		{name: "search half", want: 200, key: t.key, alone: true, next: get("?search=even")},
		{name: "search 2 letters", want: 200, key: t.key, alone: true, next: get("?search=te")},
		{name: "search, 20 rows", want: 200, key: t.smallKey, alone: true, next: get("?search=site")},
		{name: "deep page", want: 200, key: t.key, alone: true, next: get(fmt.Sprintf("?page=%d", deep/10))},
		{name: "create", want: 201, key: t.key, next: func(i int64) call {
			created.Add(1)
			return call{method: "POST", address: websites, body: fmt.Sprintf("url=https://new%d.example", i)}
		}},
		{name: "update", want: 200, key: t.key, next: func(i int64) call {
			return call{method: "PUT", address: fmt.Sprintf("%s/%d", websites, scatter(i, t.size)), body: fmt.Sprintf("exclude_params=p%d", i)}
		}},
		{name: "delete", want: 200, key: t.key, next: func(i int64) call {
			if i > created.Load() {
				return call{}
			}
			return call{method: "DELETE", address: fmt.Sprintf("%s/websites/%d/destroy", t.base, int64(t.size+smallSize)+i)}
		}},
	}
}

// start serves in this process what a server is given.
func start(ctx context.Context, server *web.Server) (func() error, target, error) {
	seo, stats := &web.Place{URL: &url.URL{Scheme: "http", Host: "localhost:0"}}, &web.Place{URL: &url.URL{Scheme: "http", Host: "localhost:0"}}
	doors, err := web.Listen(seo, stats)
	if err != nil {
		return nil, target{}, err
	}
	server.SEO, server.Analytics, server.Gate, server.TrashKept = seo, stats, account.NewGate(server.Catalog, time.Now), 7*24*time.Hour
	server.Now, server.Log = time.Now, slog.New(slog.DiscardHandler)
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving, doors) }()
	stop := func() error {
		cancel()
		return <-ended
	}
	t := target{base: stats.URL.String()}
	if t.key, err = newAccount(ctx, server.Catalog, "large@example.com"); err == nil {
		t.smallKey, err = newAccount(ctx, server.Catalog, "small@example.com")
	}
	if err != nil {
		return nil, target{}, errors.Join(err, stop())
	}
	return stop, t, nil
}

func newAccount(ctx context.Context, catalog web.Catalog, email string) (string, error) {
	owner, secret := account.New(email, time.Now()), account.NewSecret()
	if err := catalog.CreateAccount(ctx, &owner); err != nil {
		return "", err
	}
	key := account.Key{AccountID: owner.ID, Name: "bench", Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: owner.CreatedAt}
	return secret, catalog.CreateKey(ctx, &key, nil)
}

// seed creates the websites a thousand at a time; every other one has "even" in its address.
func seed(ctx context.Context, t target) error {
	client := &http.Client{Timeout: 2 * time.Minute}
	bulk := func(key string, from, to int) error {
		var entries []string
		for i := from; i < to; i++ {
			kind := "odd"
			if i%2 == 0 {
				kind = "even"
			}
			entries = append(entries, fmt.Sprintf(`{"url":"https://site%d.example/%s"}`, i, kind))
		}
		return send(ctx, client, key, http.StatusOK, call{"PUT", t.base + "/api/v1/bulk/websites", "application/json", "[" + strings.Join(entries, ",") + "]"})
	}
	for from := 0; from < t.size; from += 1000 {
		if err := bulk(t.key, from, min(from+1000, t.size)); err != nil {
			return err
		}
	}
	return bulk(t.smallKey, 0, smallSize)
}

// A home is where a catalog is kept while it is measured.
type home struct{ url, dir string }

// settle does what PostgreSQL does by itself within a minute or so after many changes.
func (h home) settle(ctx context.Context) error {
	if h.url == "" {
		return nil
	}
	return execute(ctx, h.url, `VACUUM ANALYZE websites`)
}

func execute(ctx context.Context, database, statement string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// place makes room for a catalog.
func place(ctx context.Context, s settings, engine string, size int) (home, func() error, error) {
	if engine == "sqlite" {
		dir, err := os.MkdirTemp("", "sightline-bench")
		return home{dir: dir}, func() error { return os.RemoveAll(dir) }, err
	}
	schema := fmt.Sprintf("bench_%d_%d", size, time.Now().UnixNano())
	at, err := url.Parse(s.postgres)
	if err != nil {
		return home{}, nil, errors.New("-postgres must be a postgres:// URL")
	}
	query := at.Query()
	query.Set("search_path", schema+",public")
	at.RawQuery = query.Encode()
	erase := func() error { return execute(ctx, s.postgres, `DROP SCHEMA `+schema+` CASCADE`) }
	return home{url: at.String()}, erase, execute(ctx, s.postgres, `CREATE SCHEMA `+schema)
}
