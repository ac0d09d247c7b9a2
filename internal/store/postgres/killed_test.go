package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/store/postgres"
	"sightline/internal/store/postgres/pgtest"
)

// killedURL tells the test binary that it is the program which is to be killed, and what it opens.
const killedURL = "SIGHTLINE_TEST_KILLED_URL"

// TestMain opens a catalog, and does nothing else, when a test of this package asks for that.
func TestMain(m *testing.M) {
	if url := os.Getenv(killedURL); url != "" {
		_, err := postgres.Open(context.Background(), url)
		fmt.Println("it was not killed:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// stopping makes a database stop for good after as many changes of its schema as the table stop says. Sequences count on
// even when a transaction is undone.
const stopping = `
	CREATE SCHEMA watch;
	CREATE SEQUENCE watch.steps;
	CREATE TABLE watch.stop (after bigint);
	INSERT INTO watch.stop VALUES (0);
	CREATE FUNCTION watch.step() RETURNS event_trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE in_extension) THEN
			RETURN;
		END IF;
		IF nextval('watch.steps') = (SELECT after FROM watch.stop) THEN
			PERFORM pg_sleep(600);
		END IF;
	END
	$$;
	CREATE EVENT TRIGGER steps ON ddl_command_end EXECUTE FUNCTION watch.step()`

// R8: a program that is killed after any change of the schema in any migration leaves the schema from before, whole, and the
// next start brings it up to date with everything in it.
func TestKilledInsideEachMigration(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for version := range files {
		t.Run(filepath.Base(files[version]), func(t *testing.T) {
			address := newDatabase(t)
			conn := connect(t, address)
			makeOld(t, conn, files[:version])
			before := relations(t, conn)
			exec(t, conn, stopping)
			steps := 0
			for stopsAfter(t, conn, address, steps+1) {
				steps++
				if after := relations(t, conn); !reflect.DeepEqual(after, before) {
					t.Fatalf("killed after step %d, it leaves %q, want %q", steps, after, before)
				}
			}
			if steps < 2 {
				t.Errorf("it was killed %d times only", steps)
			}
			t.Logf("killed %d times", steps)
			exec(t, conn, `DROP EVENT TRIGGER steps`)
			db := open(t, address)
			if version > 0 {
				wantTotals(t, db, map[int64][2]int{1: {1800, 15}, 2: {200, 15}, 3: {0, 0}})
			}
		})
	}
}

// newDatabase makes a database of its own: what it is stopped by would stop others too.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := pgtest.URL(t)
	conn := connect(t, server)
	name := "killed_" + texts(t, conn, `SELECT current_schema()::text`)[0]
	exec(t, conn, `CREATE DATABASE `+name)
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/" + name
	query := address.Query()
	query.Del("search_path")
	address.RawQuery = query.Encode()
	return address.String()
}

// makeOld makes a filled catalog as an older program left it.
func makeOld(t *testing.T, conn *pgx.Conn, files []string) {
	t.Helper()
	if len(files) == 0 {
		return
	}
	exec(t, conn, fmt.Sprintf(`CREATE TABLE sightline_schema (version int NOT NULL); INSERT INTO sightline_schema VALUES (%d)`, len(files)))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, conn, string(text))
	}
	exec(t, conn, filled)
}

// stopsAfter starts the program and kills it when it stands after so many changes of the schema. It reports false when the
// program was done before.
func stopsAfter(t *testing.T, conn *pgx.Conn, address string, steps int) bool {
	t.Helper()
	exec(t, conn, fmt.Sprintf(`UPDATE watch.stop SET after = %d`, steps))
	exec(t, conn, `SELECT setval('watch.steps', 1, false)`)
	program := &osexec.Cmd{Path: os.Args[0], Args: os.Args[:1], Env: append(os.Environ(), killedURL+"="+address)}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	for {
		select {
		case <-ended:
			return false
		case <-time.After(5 * time.Millisecond):
		}
		const sleeping = `SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
		if pids := texts(t, conn, sleeping); len(pids) == 1 {
			program.Process.Kill()
			<-ended
			exec(t, conn, `SELECT pg_terminate_backend(`+pids[0]+`, 5000)`) // it would notice when it wakes up
			return true
		}
	}
}

// relations is everything that a schema holds, and its version.
func relations(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	found := texts(t, conn, `
		SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
		UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT extname::text FROM pg_extension
		UNION ALL SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`)
	if strings.Contains(strings.Join(found, " "), "sightline_schema") {
		found = append(found, texts(t, conn, `SELECT version::text FROM sightline_schema`)...)
	}
	return found
}
