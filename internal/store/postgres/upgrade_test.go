package postgres_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store/postgres"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/trash"
)

// What a catalog of schema 1 is filled with: three accounts, the last of which has nothing.
const filled = `
	INSERT INTO accounts (email, name, timezone, created_at)
	SELECT 'user' || i || '@example.com', '', 'UTC', '2026-11-14T09:30:00Z' FROM generate_series(1, 3) i;
	INSERT INTO keys (account_id, name, hash, scopes, created_at)
	SELECT i, 'key', sha256(i::text::bytea), 'seo:read', '2026-11-14T09:30:00Z' FROM generate_series(1, 2) i;
	INSERT INTO websites (account_id, url, domain, search_url, search_domain, privacy, password_hash, email, exclude_bots,
		exclude_params, exclude_ips, tracking_id, version, created_at, updated_at)
	SELECT 1 + (i % 10 = 0)::int, 'https://' || i || '.example', i || '.example', 'https://' || i || '.example', i || '.example', 1, '', false, true,
		'', '', 'id' || i, 1, '2026-11-14T09:30:00Z', '2026-11-14T09:30:00Z' FROM generate_series(1, 2000) i;
	INSERT INTO projects (account_id, name, search_name, reports, version, created_at, updated_at)
	SELECT 1 + (i % 2), 'p' || i, 'p' || i, 0, 1, '2026-11-14T09:30:00Z', '2026-11-14T09:30:00Z' FROM generate_series(1, 30) i`

// schemaOne makes a filled catalog as the first release left it.
func schemaOne(t *testing.T) (url string) {
	t.Helper()
	url = pgtest.URL(t)
	text, err := os.ReadFile("migrations/0001_catalog.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	exec(t, conn, `BEGIN; CREATE TABLE sightline_schema (version int NOT NULL); INSERT INTO sightline_schema VALUES (1)`)
	exec(t, conn, string(text))
	exec(t, conn, filled)
	exec(t, conn, `COMMIT`)
	return url
}

// state is the version of a catalog and how much it holds.
func state(t *testing.T, url string) []string {
	t.Helper()
	return texts(t, connect(t, url), `
		SELECT max(version)::text FROM sightline_schema
		UNION ALL SELECT count(*) || ' accounts' FROM accounts
		UNION ALL SELECT count(*) || ' keys' FROM keys
		UNION ALL SELECT count(*) || ' websites' FROM websites
		UNION ALL SELECT count(*) || ' projects' FROM projects
		UNION ALL SELECT count(*) || ' other tables' FROM pg_tables WHERE schemaname = current_schema() AND tablename IN ('receipts', 'clock', 'totals')
		UNION ALL SELECT count(*) || ' triggers' FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN ('websites'::regclass, 'projects'::regclass)`)
}

// newest is the version of the schema after all migrations.
var newest = func() int {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		panic(err)
	}
	return len(files)
}()

var (
	beforeUpgrade = []string{"1", "3 accounts", "2 keys", "2000 websites", "30 projects", "0 other tables", "0 triggers"}
	afterUpgrade  = []string{strconv.Itoa(newest), "3 accounts", "2 keys", "2000 websites", "30 projects", "3 other tables", "9 triggers"}
)

// wantTotals fails the test unless the accounts have so many websites and projects.
func wantTotals(t *testing.T, db *postgres.DB, want map[int64][2]int) {
	t.Helper()
	r := listing.Request{Page: 1, PerPage: 1}
	for id, n := range want {
		websites, err := db.Websites(t.Context(), id, r)
		if err != nil {
			t.Fatal(err)
		}
		projects, err := db.Projects(t.Context(), id, r)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{websites.Total, projects.Total}; got != n {
			t.Errorf("account %d has %d websites and projects, want %d", id, got, n)
		}
	}
}

func TestUpgradeKeepsAndCounts(t *testing.T) {
	url := schemaOne(t)
	db := open(t, url)
	if got := state(t, url); !reflect.DeepEqual(got, afterUpgrade) {
		t.Errorf("after the upgrade there are %q, want %q", got, afterUpgrade)
	}
	wantTotals(t, db, map[int64][2]int{1: {1800, 15}, 2: {200, 15}, 3: {0, 0}})
	w := analytics.NewWebsite(3, time.Now())
	if err := w.SetURL("https://example.com"); err != nil {
		t.Fatal(err)
	}
	if err := db.CreateWebsite(t.Context(), &w, nil); err != nil || w.ID != 2001 {
		t.Errorf("a website created after the upgrade has id %d, %v", w.ID, err)
	}
	if err := db.DeleteWebsite(t.Context(), 1, 1, trash.Deletion{}); err != nil {
		t.Error(err)
	}
	if _, err := db.DeleteProject(t.Context(), 2, seo.Ref{Name: "p1"}, trash.Deletion{At: time.Now()}); err != nil {
		t.Error(err)
	}
	wantTotals(t, db, map[int64][2]int{1: {1799, 15}, 2: {200, 14}, 3: {1, 0}})
}

// A server that is killed inside the upgrade leaves the old schema, whole, and the next one upgrades it.
func TestUpgradeKilledInside(t *testing.T) {
	url := schemaOne(t)
	conn, watch := connect(t, url), connect(t, url)
	exec(t, conn, `BEGIN; LOCK TABLE projects IN ROW EXCLUSIVE MODE`) // in the way when some tables have been made
	failed := make(chan error, 1)
	go func() {
		db, err := postgres.Open(context.Background(), url)
		if err == nil {
			db.Close()
		}
		failed <- err
	}()
	const waiting = `SELECT pid::text FROM pg_locks WHERE relation = 'projects'::regclass AND NOT granted`
	var pids []string
	for len(failed) == 0 && len(pids) == 0 {
		pids = texts(t, watch, waiting)
	}
	exec(t, watch, `SELECT pg_terminate_backend(`+pids[0]+`, 5000)`)
	sentence(t, <-failed, "cannot prepare the PostgreSQL database at 127.0.0.1:", "terminating connection")
	exec(t, conn, `ROLLBACK`)
	if got := state(t, url); !reflect.DeepEqual(got, beforeUpgrade) {
		t.Errorf("a broken upgrade leaves %q, want %q", got, beforeUpgrade)
	}
	wantTotals(t, open(t, url), map[int64][2]int{1: {1800, 15}, 2: {200, 15}, 3: {0, 0}})
}

// The same, killed after any time: all of the upgrade took place or nothing of it.
func TestUpgradeKilledAtAnyTime(t *testing.T) {
	for i := range 10 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			url := schemaOne(t)
			watch := connect(t, url)
			name := fmt.Sprint("upgrade", i)
			done := make(chan error, 1)
			go func() {
				db, err := postgres.Open(context.Background(), url+"&application_name="+name)
				if err == nil {
					db.Close()
				}
				done <- err
			}()
			time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			exec(t, watch, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '`+name+`'`)
			err := <-done
			got := state(t, url)
			if !reflect.DeepEqual(got, beforeUpgrade) && !reflect.DeepEqual(got, afterUpgrade) {
				t.Errorf("an upgrade that was killed (%v) leaves %q", err, got)
			}
			wantTotals(t, open(t, url), map[int64][2]int{1: {1800, 15}, 2: {200, 15}, 3: {0, 0}})
		})
	}
}
