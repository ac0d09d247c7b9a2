package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/store"
	"sightline/internal/web"
)

// The benchmarks call a server over loopback with eight callers for each core on 1,000 websites. Each stands beside a bare net/http
// handler on a SQLite of its own that does the least for the same answer: what the machine can do at that moment.

const benchRows = 1000

func BenchmarkWebsites(b *testing.B) {
	base, key := benchServer(b)
	bench(b, "read", 200, func(int64) (string, string, string) { return "GET", base + "/api/v1/websites/1", "" }, key)
	bench(b, "list", 200, func(int64) (string, string, string) { return "GET", base + "/api/v1/websites", "" }, key)
	bench(b, "search", 200, func(int64) (string, string, string) { return "GET", base + "/api/v1/websites?search=e99", "" }, key)
	bench(b, "create", 201, func(i int64) (string, string, string) {
		return "POST", base + "/api/v1/websites", fmt.Sprintf("url=https://new%d.example", i)
	}, key)
	bench(b, "update", 200, func(i int64) (string, string, string) {
		return "PUT", fmt.Sprintf("%s/api/v1/websites/%d", base, i%benchRows+1), fmt.Sprintf("exclude_params=p%d", i)
	}, key)
}

func BenchmarkBareHandler(b *testing.B) {
	base := bareServer(b)
	bench(b, "read", 200, func(int64) (string, string, string) { return "GET", base + "/one", "" }, "")
	bench(b, "list", 200, func(int64) (string, string, string) { return "GET", base + "/ten", "" }, "")
	bench(b, "create", 201, func(i int64) (string, string, string) {
		return "POST", base + "/new", fmt.Sprintf("url=https://new%d.example", i)
	}, "")
}

// bench sends requests from many callers at once.
func bench(b *testing.B, name string, want int, request func(i int64) (method, address, body string), key string) {
	b.Run(name, func(b *testing.B) {
		transport := &http.Transport{MaxIdleConnsPerHost: 64}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		var count atomic.Int64
		b.SetParallelism(8) // per core
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				method, address, body := request(count.Add(1))
				r, err := http.NewRequest(method, address, strings.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+key)
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				response, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode != want {
					b.Errorf("%s %s: %d", method, address, response.StatusCode)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
	})
}

// benchServer is a server on SQLite with websites in it.
func benchServer(b *testing.B) (base, key string) {
	b.Helper()
	catalog, err := store.Open(b.Context(), "", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	owner := account.New("bench@example.com", time.Now())
	secret := account.NewSecret()
	k := account.Key{Name: "bench", Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: time.Now()}
	if _, err := catalog.CreateOwner(b.Context(), &owner, &k); err != nil {
		b.Fatal(err)
	}
	for i := range benchRows {
		w := analytics.NewWebsite(owner.ID, time.Now())
		if err := w.SetURL(fmt.Sprintf("https://site%d.example", i)); err != nil {
			b.Fatal(err)
		}
		if err := catalog.CreateWebsite(b.Context(), &w); err != nil {
			b.Fatal(err)
		}
	}
	seo, stats := &web.Place{URL: mustURL("http://localhost:0")}, &web.Place{URL: mustURL("http://localhost:0")}
	doors, err := web.Listen(seo, stats)
	if err != nil {
		b.Fatal(err)
	}
	server := &web.Server{SEO: seo, Analytics: stats, Projects: catalog, Websites: catalog, Gate: account.NewGate(catalog, time.Now),
		Ready: catalog.Ping, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, doors) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		catalog.Close()
	})
	return stats.URL.String(), secret
}

// bareServer answers without keys, checks, totals or conventions, and commits each write by itself.
func bareServer(b *testing.B) string {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE websites (id INTEGER PRIMARY KEY, url TEXT)`); err != nil {
		b.Fatal(err)
	}
	for i := range benchRows {
		if _, err := db.Exec(`INSERT INTO websites (url) VALUES (?)`, fmt.Sprintf("https://site%d.example", i)); err != nil {
			b.Fatal(err)
		}
	}
	list := func(query string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			rows, err := db.QueryContext(r.Context(), query)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			defer rows.Close()
			for rows.Next() {
				var id int64
				var url string
				if err := rows.Scan(&id, &url); err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				fmt.Fprintf(w, `{"id":%d,"url":%q}`, id, url)
			}
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /one", list(`SELECT id, url FROM websites WHERE id = 1`))
	mux.Handle("GET /ten", list(`SELECT id, url FROM websites ORDER BY id LIMIT 10`))
	mux.HandleFunc("POST /new", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.ExecContext(r.Context(), `INSERT INTO websites (url) VALUES (?)`, r.FormValue("url")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	server := httptest.NewServer(mux)
	b.Cleanup(server.Close)
	return server.URL
}
