package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// startBare starts a handler that does the least for the same answers: no keys, no checks, no totals, one commit for each
// write.
func startBare(ctx context.Context, size int) (*stage, error) {
	dir, err := os.MkdirTemp("", "sightline-bench")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err == nil {
		err = fillBare(ctx, db, size)
	}
	if err != nil {
		return nil, fmt.Errorf("fill the bare database: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	server := httptest.NewServer(bareHandler(db))
	return &stage{engine: bare, stop: func() error {
		server.Close()
		return errors.Join(db.Close(), os.RemoveAll(dir))
	}, operations: []operation{
		{name: "read", want: 200, next: func(i int64) call {
			return call{method: "GET", address: fmt.Sprintf("%s/one/%d", server.URL, scatter(i, size))}
		}},
		{name: "list", want: 200, next: func(int64) call { return call{method: "GET", address: server.URL + "/ten"} }},
		{name: "create", want: 201, next: func(i int64) call {
			return call{method: "POST", address: server.URL + "/new", body: fmt.Sprintf("url=https://new%d.example", i)}
		}},
	}}, nil
}

func fillBare(ctx context.Context, db *sql.DB, size int) error {
	const fill = `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO websites (account_id, url, privacy) SELECT 1, 'https://site' || i || '.example', 1 FROM n`
	for _, statement := range []string{`CREATE TABLE websites (id INTEGER PRIMARY KEY, account_id INTEGER, url TEXT, privacy INTEGER)`, `CREATE INDEX by_url ON websites (account_id, url)`} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, fill, size)
	return err
}

func bareHandler(db *sql.DB) http.Handler {
	rows := func(w http.ResponseWriter, r *http.Request, query string, args ...any) {
		found, err := db.QueryContext(r.Context(), query, args...)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer found.Close()
		for found.Next() {
			var id int64
			var url string
			if err := found.Scan(&id, &url); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, `{"id":%d,"url":%q}`, id, url)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /one/{id}", func(w http.ResponseWriter, r *http.Request) {
		rows(w, r, `SELECT id, url FROM websites WHERE id = ?`, r.PathValue("id"))
	})
	mux.HandleFunc("GET /ten", func(w http.ResponseWriter, r *http.Request) {
		rows(w, r, `SELECT id, url FROM websites WHERE account_id = 1 ORDER BY url LIMIT 10`)
	})
	mux.HandleFunc("POST /new", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.ExecContext(r.Context(), `INSERT INTO websites (account_id, url, privacy) VALUES (1, ?, 1)`, r.FormValue("url")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	return mux
}

// scatter spreads reads over all rows.
func scatter(i int64, size int) int64 {
	return i*7919%int64(size) + 1
}
