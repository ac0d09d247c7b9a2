package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/store/postgres/pgtest"
)

// Several servers on one PostgreSQL behave as one.
func TestServersAsOne(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	a, b, key := startTwo(t, database)
	t.Run("a deletion and its undoing are seen at once", func(t *testing.T) { testDeletion(t, a, b, key) })
	t.Run("a revoked key is refused within a second", func(t *testing.T) { testRevocation(t, a, b, key) })
	t.Run("one idempotency key is one website", func(t *testing.T) { testTwins(t, a, b, key) })
	t.Run("changes through either act on the visits that one counts", func(t *testing.T) { testElsewhere(t, a, b, key) })
	t.Run("one of them counts visits", func(t *testing.T) { testHeld(t, database) })
	t.Run("the clock's jobs run once", func(t *testing.T) { testClock(t, database, a, key) })
}

// startTwo starts two servers at once on an empty database, of which the first counts visits. One of them makes and prints the first key.
func startTwo(t *testing.T, database string) (a, b *program, key string) {
	t.Helper()
	flags := []string{"--database", database}
	a, b = launch(t, flags, nil), launch(t, append(flags, "--events", "none"), nil)
	var keys []string
	for _, p := range []*program{a, b} {
		p.await(t)
		await(t, "it does not serve", func() bool { return healthy(p.analytics) })
		if found := keyLine.FindStringSubmatch(p.out.String()); found != nil {
			keys = append(keys, found[1])
		}
	}
	if len(keys) != 1 {
		t.Fatalf("%d first keys were made", len(keys))
	}
	return a, b, keys[0]
}

// demandStatus makes a request that must be answered with a status.
func demandStatus(t *testing.T, status int, key, method, address, fields string) reply {
	t.Helper()
	got := ask(key, method, address, fields)
	if got.status != status {
		t.Fatalf("%s %s: %d %s %v, want %d", method, address, got.status, got.body, got.err, status)
	}
	return got
}

// created creates a record, and returns its id and, of a key, its secret.
func created(t *testing.T, key, address, fields string) (id int64, secret string) {
	t.Helper()
	var document struct {
		Data struct {
			ID  int64
			Key string
		}
	}
	got := demandStatus(t, 201, key, "POST", address, fields)
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		t.Fatal(err)
	}
	return document.Data.ID, document.Data.Key
}

func testDeletion(t *testing.T, a, b *program, key string) {
	id, _ := created(t, key, a.analytics+"/api/v1/websites", "url=https://shared.example")
	website := fmt.Sprintf("/api/v1/websites/%d", id)
	demandStatus(t, 200, key, "GET", b.analytics+website, "")
	demandStatus(t, 200, key, "DELETE", a.analytics+website, "")
	demandStatus(t, 404, key, "GET", b.analytics+website, "")
	demandStatus(t, 200, key, "POST", a.analytics+fmt.Sprintf("/api/v1/trash/website/%d/restore", id), "")
	demandStatus(t, 200, key, "GET", b.analytics+website, "")
}

func testRevocation(t *testing.T, a, b *program, key string) {
	id, second := created(t, key, a.analytics+"/api/v1/keys", "name=second")
	demandStatus(t, 200, second, "GET", b.analytics+"/api/v1/account", "")
	demandStatus(t, 200, key, "DELETE", a.analytics+fmt.Sprintf("/api/v1/keys/%d", id), "")
	revoked := time.Now()
	for begun := time.Duration(0); begun < 1200*time.Millisecond; begun = time.Since(revoked) {
		got := ask(second, "GET", b.analytics+"/api/v1/account", "")
		switch {
		case got.status == http.StatusUnauthorized:
			t.Logf("refused after %v", begun)
			return
		case got.status != http.StatusOK || begun > time.Second:
			t.Fatalf("a request that began %v after the revocation: %d %v", begun, got.status, got.err)
		}
	}
	demandStatus(t, 401, second, "GET", b.analytics+"/api/v1/account", "")
}

func testTwins(t *testing.T, a, b *program, key string) {
	const clients = 50
	replies := make([]reply, clients)
	var group sync.WaitGroup
	for i := range clients {
		base := []string{a.analytics, b.analytics}[i%2]
		group.Go(func() {
			replies[i] = ask(key, "POST", base+"/api/v1/websites", "url=https://once.example", "Idempotency-Key", "twins")
		})
	}
	group.Wait()
	first := 0
	for _, got := range replies {
		if got.status != http.StatusCreated || got.header.Get("Idempotency-Replayed") == "" {
			first++
		}
		if got.body != replies[0].body {
			t.Errorf("answers differ:\n%d %s %v\n%s", got.status, got.body, got.err, replies[0].body)
		}
	}
	if first != 1 {
		t.Errorf("%d answers were given first", first)
	}
	got := ask(key, "GET", b.analytics+"/api/v1/websites?search=once.example", "")
	var list struct{ Meta struct{ Total int } }
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || list.Meta.Total != 1 {
		t.Errorf("%d websites: %s %v", list.Meta.Total, got.body, err)
	}
}

// testElsewhere changes a website through the server that counts no visits, which says so.
func testElsewhere(t *testing.T, a, b *program, key string) {
	c := count(t, b, key, "https://elsewhere.example")
	person := func() string {
		return c.dropped(report(a.analytics, "198.51.100.1", c.own("https://elsewhere.example/", "")))
	}
	actsSoon(t, "a website that another server created is not counted", func() bool { return person() == "" })
	demandStatus(t, 200, key, "PUT", c.address(""), "exclude_ips=198.51.100.0/24")
	actsSoon(t, "exclude_ips does not act elsewhere", func() bool { return person() == "ip" })
	demandStatus(t, 200, key, "DELETE", c.address(""), "")
	actsSoon(t, "a deletion does not act elsewhere", func() bool { return person() == "site" })
	demandStatus(t, 200, key, "POST", fmt.Sprintf("%s/api/v1/trash/website/%d/restore", b.analytics, c.id), "")
	actsSoon(t, "a restoration does not act elsewhere", func() bool { return person() == "ip" })

	for _, got := range []reply{
		report(b.analytics, "198.51.100.1", c.own("https://elsewhere.example/", "")),
		ask(key, "GET", c.address("/stats"), ""),
		ask(key, "GET", c.address("/export"), ""),
	} {
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "--events none") {
			t.Errorf("a server without events: %d %s %v", got.status, got.body, got.err)
		}
	}
	demandStatus(t, 200, key, "GET", fmt.Sprintf("%s/api/v1/websites/%d/stats", a.analytics, c.id), "")
}

// testHeld starts another server that would count visits, in a data directory of its own.
func testHeld(t *testing.T, database string) {
	p := launch(t, []string{"--database", database}, nil)
	select {
	case <-p.ended:
	case <-time.After(startTime):
		t.Fatal("two servers count visits")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(p.err.String(), "--events none") {
		t.Errorf("exit code %d, %s", code, p.err.String())
	}
}

// testClock makes the clock's jobs due, with something in the trash that is too old, and starts two more servers.
func testClock(t *testing.T, database string, a *program, key string) {
	id, _ := created(t, key, a.analytics+"/api/v1/websites", "url=https://old.example")
	demandStatus(t, 200, key, "DELETE", a.analytics+fmt.Sprintf("/api/v1/websites/%d", id), "")
	conn := must(pgx.Connect(t.Context(), database))(t)
	defer conn.Close(t.Context())
	for _, statement := range []string{
		`UPDATE websites SET deleted_at = now() - interval '8 days' WHERE url = 'https://old.example'`,
		`UPDATE clock SET ran_at = now() - interval '1 day'`,
		`CREATE TABLE turns (job text)`,
		`CREATE FUNCTION note_turn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO turns VALUES (NEW.job); RETURN NEW; END $$`,
		`CREATE TRIGGER note_turn AFTER INSERT OR UPDATE ON clock FOR EACH ROW EXECUTE FUNCTION note_turn()`,
	} {
		must(conn.Exec(t.Context(), statement))(t)
	}
	number := func(query string) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	flags := []string{"--database", database, "--events", "none"}
	c, d := launch(t, flags, nil), launch(t, flags, nil)
	c.await(t)
	d.await(t)
	await(t, "the trash is not erased", func() bool { return number(`SELECT count(*) FROM websites WHERE url = 'https://old.example'`) == 0 })
	jobs := number(`SELECT count(*) FROM clock WHERE job NOT LIKE '% events'`) // for which these servers have none
	await(t, "the other jobs do not run", func() bool { return number(`SELECT count(*) FROM turns`) >= jobs })
	c.terminate(t) // half a second later, when both clocks have looked
	d.terminate(t)
	if turns := number(`SELECT count(*) FROM turns`); turns != jobs {
		t.Errorf("%d jobs of the clock ran %d times", jobs, turns)
	}
}
