// Package pgtest gives each test a place of its own in a PostgreSQL server.
package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// URL makes an empty schema in the server that SIGHTLINE_TEST_POSTGRES names and returns a URL whose
// search_path is that schema. The schema is dropped, with all that it then holds, when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	server := os.Getenv("SIGHTLINE_TEST_POSTGRES")
	if server == "" {
		t.Fatal("these tests need PostgreSQL: run them with make test, or scripts/with-postgres go test ./...")
	}
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal("SIGHTLINE_TEST_POSTGRES is not a URL")
	}
	schema := "sightline_test_" + strings.ToLower(rand.Text())
	run(t, server, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { run(t, server, "DROP SCHEMA "+schema+" CASCADE") })
	query := address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	return address.String()
}

// run executes one statement on a connection of its own.
func run(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to SIGHTLINE_TEST_POSTGRES: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}
