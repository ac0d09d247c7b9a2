package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// measureBare measures a handler that does the least for the same answers: no keys, no checks, no totals, one commit for
// each write.
func measureBare(ctx context.Context, s settings, size int, report *report) error {
	dir, err := os.MkdirTemp("", "sightline-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fillBare(ctx, db, size); err != nil {
		return fmt.Errorf("fill the bare database: %w", err)
	}
	server := httptest.NewServer(bareHandler(db))
	defer server.Close()
	for _, m := range []struct {
		name string
		want int
		next func(i int64) call
	}{
		{"read", 200, func(i int64) call {
			return call{method: "GET", address: fmt.Sprintf("%s/one/%d", server.URL, scatter(i, size))}
		}},
		{"list", 200, func(int64) call { return call{method: "GET", address: server.URL + "/ten"} }},
		{"create", 201, func(i int64) call {
			return call{method: "POST", address: server.URL + "/new", body: fmt.Sprintf("url=https://new%d.example", i)}
		}},
	} {
		got, err := load(ctx, s, s.clients, "", m.want, m.next)
		if err != nil {
			return fmt.Errorf("bare handler, %s: %w", m.name, err)
		}
		report.add("bare", m.name, size, got)
	}
	return nil
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
