package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/store"
	"sightline/internal/store/postgres"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/store/storetest"
)

func TestCatalog(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Catalog {
		return open(t, pgtest.URL(t))
	})
}

func open(t *testing.T, url string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// connect gives a test a connection of its own, beside those of the catalog.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// texts is the first column of a query.
func texts(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, _ := conn.Query(t.Context(), query)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return found
}

func newWebsite(t *testing.T, db *postgres.DB) analytics.Website {
	t.Helper()
	owner := account.New("ann@example.com", time.Now())
	if err := db.CreateAccount(t.Context(), &owner); err != nil {
		t.Fatal(err)
	}
	w := analytics.NewWebsite(owner.ID, time.Now())
	if err := errors.Join(w.SetURL("https://example.com"), db.CreateWebsite(t.Context(), &w, nil)); err != nil {
		t.Fatal(err)
	}
	return w
}

// sentence fails the test unless an error is one line for a person: with some words in it and the password not.
func sentence(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "hunter") {
		t.Errorf("%q has line breaks or the password in it", err)
	}
}

func TestOpenAtOnce(t *testing.T) {
	for _, servers := range []int{2, 8} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			url := pgtest.URL(t)
			var started sync.WaitGroup
			for range servers {
				started.Go(func() {
					db, err := postgres.Open(t.Context(), url)
					if err != nil {
						t.Error(err)
						return
					}
					db.Close()
				})
			}
			started.Wait()
			if versions := texts(t, connect(t, url), `SELECT version::text FROM sightline_schema`); len(versions) != 1 || versions[0] != strconv.Itoa(newest) {
				t.Errorf("the versions of the schema are %v, want %d", versions, newest)
			}
		})
	}
}

func TestOpenAgainKeepsRecords(t *testing.T) {
	url := pgtest.URL(t)
	first := open(t, url)
	want := newWebsite(t, first)
	first.Close()
	got, err := open(t, url).Website(t.Context(), want.AccountID, want.ID)
	if err != nil || got != want {
		t.Errorf("the website is %+v, %v; want %+v", got, err, want)
	}
}

func TestOpenRefusesNewerSchema(t *testing.T) {
	url := pgtest.URL(t)
	open(t, url).Close()
	exec(t, connect(t, url), `UPDATE sightline_schema SET version = 99`)
	_, err := postgres.Open(t.Context(), url)
	sentence(t, err, fmt.Sprintf("the database was written by a newer Sightline (schema 99, this one knows %d): start that version or a newer one", newest))
}

// A migration that breaks off leaves nothing behind.
func TestOpenMigratesAllOrNothing(t *testing.T) {
	url := pgtest.URL(t)
	conn := connect(t, url)
	exec(t, conn, `CREATE TABLE projects ()`) // in the way of the last table
	_, err := postgres.Open(t.Context(), url)
	sentence(t, err, "cannot prepare the PostgreSQL database at 127.0.0.1:", `relation "projects" already exists`)
	const tables = `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`
	if found := texts(t, conn, tables); len(found) != 1 {
		t.Errorf("after a failed migration there are the tables %v", found)
	}
	exec(t, conn, `DROP TABLE projects`)
	open(t, url)
}

func TestOpenUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() }) // it takes connections and never answers
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, test := range map[string]struct {
		address, parameters, reason string
	}{
		"closed port":     {closed.Addr().String(), "", "connection refused"},
		"without TLS":     {closed.Addr().String(), "sslmode=disable", "connection refused"},
		"silent server":   {listener.Addr().String(), "connect_timeout=1", "it does not answer in time"},
		"no such host":    {"nowhere.invalid:5432", "", "no such host"},
		"several servers": {closed.Addr().String() + "," + closed.Addr().String(), "", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := postgres.Open(context.Background(), "postgres://me:hunter2@"+test.address+"/shop?"+test.parameters)
			first, _, _ := strings.Cut(test.address, ",")
			sentence(t, err, "cannot reach the PostgreSQL database at "+first+"/shop: ", test.reason)
			if took := time.Since(start); took > 6*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestOpenWrongURL(t *testing.T) {
	for _, url := range []string{
		"",
		"hunter2",
		"host=localhost password=hunter2",
		"mysql://me:hunter2@localhost/shop",
		"postgres://me:hunter2@localhost:port/shop",
		"postgres://me:hunter%@localhost/shop",
		"postgres://me:12/hunter2@localhost/shop",
		"postgres://me:hunter2@localhost/shop?sslmode=perhaps",
		"postgres://me:hunter2@localhost/shop?pool_max_conns=none",
		"postgres://me:hunter2@localhost/shop?pool_max_conns=0",
	} {
		_, err := postgres.Open(t.Context(), url)
		sentence(t, err, "the database URL is not valid")
	}
	_, err := postgres.Open(t.Context(), "postgres://me:hunter2@localhost/shop?sslrootcert=/nowhere/ca.pem")
	sentence(t, err, "cannot read a file that the database URL names: open /nowhere/ca.pem: no such file or directory")
}

func TestOpenRefused(t *testing.T) {
	server := pgtest.URL(t)
	for parameters, reason := range map[string]string{
		"&dbname=nowhere":        `database "nowhere" does not exist`,
		"&user=nobody":           `role "nobody" does not exist`,
		"&search_path=nowhere":   "no schema has been selected to create in",
		"&no_such_parameter=yes": "no_such_parameter",
	} {
		_, err := postgres.Open(t.Context(), server+parameters)
		sentence(t, err, "PostgreSQL database at 127.0.0.1:", reason)
	}
}

func TestOpenRefusesOtherEncodings(t *testing.T) {
	server := pgtest.URL(t)
	conn := connect(t, server)
	name := "latin_" + texts(t, conn, `SELECT current_schema()::text`)[0]
	exec(t, conn, `CREATE DATABASE `+name+` ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
	defer exec(t, conn, `DROP DATABASE `+name)
	_, err := postgres.Open(t.Context(), server+"&dbname="+name)
	sentence(t, err, "its encoding is LATIN1, but Sightline needs UTF8")
}

func TestSecretIsNotStored(t *testing.T) {
	url := pgtest.URL(t)
	db := open(t, url)
	secrets := []string{account.NewSecret(), account.NewSecret()}
	keys := make([]account.Key, len(secrets))
	for i, secret := range secrets {
		keys[i] = account.Key{Name: "test", Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: time.Now()}
	}
	owner := account.New("ann@example.com", time.Now())
	if created, err := db.CreateOwner(t.Context(), &owner, &keys[0]); err != nil || !created {
		t.Fatalf("create owner: %v, %v", created, err)
	}
	keys[1].AccountID = owner.ID
	if err := db.CreateKey(t.Context(), &keys[1], nil); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	var stored strings.Builder
	for _, table := range texts(t, conn, `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`) {
		stored.WriteString(strings.Join(texts(t, conn, `SELECT r::text FROM `+table+` r`), "\n"))
	}
	for i, secret := range secrets {
		if !strings.Contains(stored.String(), fmt.Sprintf("%x", keys[i].Hash)) {
			t.Error("the hash of a key is not in the database")
		}
		if strings.Contains(stored.String(), secret) || strings.Contains(stored.String(), fmt.Sprintf("%x", secret)) {
			t.Error("the secret of a key is in the database")
		}
	}
}

// A broken connection is Unavailable, and the next call gets a new one.
func TestLostConnection(t *testing.T) {
	url := pgtest.URL(t) + "&application_name=lost&pool_max_conns=1"
	db := open(t, url)
	w := newWebsite(t, db)
	conn := connect(t, pgtest.URL(t))
	exec(t, conn, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'lost'`)
	if _, err := db.Website(t.Context(), w.AccountID, w.ID); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a read on a lost connection is answered with %v", err)
	}
	if got, err := db.Website(t.Context(), w.AccountID, w.ID); err != nil || got != w {
		t.Errorf("the next read is answered with %+v, %v", got, err)
	}
}

func TestBusyRow(t *testing.T) {
	url := pgtest.URL(t)
	db := open(t, url+"&statement_timeout=200ms")
	w := newWebsite(t, db)
	conn := connect(t, url)
	exec(t, conn, `BEGIN; SELECT FROM websites FOR UPDATE`)
	rename := func(w *analytics.Website) error { return w.SetURL("https://example.org") }

	if _, err := db.UpdateWebsite(t.Context(), w.AccountID, w.ID, rename); !errors.Is(err, fault.Unavailable) {
		t.Errorf("an update that waits too long is answered with %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := db.UpdateWebsite(ctx, w.AccountID, w.ID, rename)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fault.Unavailable) {
		t.Errorf("an update whose context ends is answered with %v", err)
	}
	exec(t, conn, `COMMIT`)
	if got, err := db.UpdateWebsite(t.Context(), w.AccountID, w.ID, rename); err != nil || got.Domain != "example.org" {
		t.Errorf("the update afterwards is answered with %+v, %v", got, err)
	}
}

// Whoever creates the owner waits for an account that is just coming into being, and then finds it.
func TestOwnerWaitsForAccounts(t *testing.T) {
	url := pgtest.URL(t)
	db := open(t, url)
	conn, watch := connect(t, url), connect(t, url)
	exec(t, conn, `BEGIN; INSERT INTO accounts (email, name, timezone, created_at) VALUES ('ann@example.com', '', 'UTC', now())`)
	answer := make(chan bool, 1)
	go func() {
		owner := account.New("bob@example.com", time.Now())
		created, err := db.CreateOwner(t.Context(), &owner, &account.Key{Name: "test", CreatedAt: time.Now()})
		if err != nil {
			t.Error(err)
		}
		answer <- created
	}()
	const waiting = `SELECT pid::text FROM pg_locks WHERE relation = 'accounts'::regclass AND NOT granted`
	for len(answer) == 0 && len(texts(t, watch, waiting)) == 0 {
		time.Sleep(time.Millisecond)
	}
	exec(t, conn, `COMMIT`)
	if <-answer {
		t.Error("an owner was created beside another account")
	}
}

// A write waits for its twin that is under way, and takes place if that fails.
func TestTwinWaits(t *testing.T) {
	url := pgtest.URL(t)
	db := open(t, url)
	w := newWebsite(t, db)
	create := func(seal func(*receipt.Receipt) error) chan error {
		answer := make(chan error, 1)
		go func() {
			twin := analytics.NewWebsite(w.AccountID, time.Now())
			r := receipt.Receipt{AccountID: w.AccountID, Operation: "POST /", Key: "key", CreatedAt: time.Now(), Seal: seal}
			answer <- errors.Join(twin.SetURL("https://example.org"), db.CreateWebsite(t.Context(), &twin, &r))
		}()
		return answer
	}
	sealing, fail, broken := make(chan bool), make(chan bool), errors.New("cannot answer")
	first := create(func(*receipt.Receipt) error { sealing <- true; <-fail; return broken })
	<-sealing
	second := create(nil)
	const waiting = `SELECT pid::text FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO receipts%'`
	for watch := connect(t, url); len(second) == 0 && len(texts(t, watch, waiting)) == 0; {
		time.Sleep(time.Millisecond)
	}
	close(fail)
	if err := <-first; !errors.Is(err, broken) {
		t.Errorf("the write that failed is answered with %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("its twin is answered with %v", err)
	}
	if page, err := db.Websites(t.Context(), w.AccountID, listing.Request{Page: 1, PerPage: 10}); err != nil || page.Total != 2 || len(page.Items) != 2 {
		t.Errorf("there are %d websites and the total is %d, want 2 (%v)", len(page.Items), page.Total, err)
	}
}

// An unchanged website is not written: its row stays where it is in the table.
func TestUnchangedIsNotWritten(t *testing.T) {
	url := pgtest.URL(t)
	db := open(t, url)
	w := newWebsite(t, db)
	conn := connect(t, url)
	place := func() string { return texts(t, conn, `SELECT ctid::text FROM websites`)[0] }
	before := place()
	for _, test := range []struct {
		url   string
		moves bool
	}{{"https://example.com", false}, {"https://example.org", true}} {
		_, err := db.UpdateWebsite(t.Context(), w.AccountID, w.ID, func(w *analytics.Website) error { return w.SetURL(test.url) })
		if err != nil {
			t.Fatal(err)
		}
		if moved := place() != before; moved != test.moves {
			t.Errorf("an update to %s writes: %v, want %v", test.url, moved, test.moves)
		}
	}
}
