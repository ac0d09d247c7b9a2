package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	driver3 "modernc.org/sqlite"

	"sightline/internal/listing"
)

// What tells the test binary that it is the program which is to be killed: a directory, and where to stop.
const (
	killedDir  = "SIGHTLINE_TEST_KILLED_DIR"
	killedFile = "SIGHTLINE_TEST_KILLED_FILE"
	killedStep = "SIGHTLINE_TEST_KILLED_STEP"
)

// TestMain opens a catalog and stops amid its upgrade when a test of this package asks for that.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killedDir); dir != "" {
		stopInside(dir, os.Getenv(killedFile), os.Getenv(killedStep))
	}
	os.Exit(m.Run())
}

// stopInside opens a catalog, but stops for good after one statement of one migration.
func stopInside(dir, name, step string) {
	driver3.MustRegisterScalarFunction("stop_here", 0, func(*driver3.FunctionContext, []driver.Value) (driver.Value, error) {
		fmt.Println("stopped")
		select {}
	})
	texts := fstest.MapFS{}
	for file, statements := range migrationStatements() {
		for i := range statements {
			if file == name && fmt.Sprint(i) == step {
				statements[i] += "SELECT stop_here();\n"
			}
		}
		texts[file] = &fstest.MapFile{Data: []byte(strings.Join(statements, ""))}
	}
	migrations = texts
	_, err := Open(context.Background(), dir)
	fmt.Println("it did not stop:", err)
	os.Exit(1)
}

// migrationStatements takes the migrations apart. A statement ends with a line that ends with a semicolon and is not indented.
func migrationStatements() map[string][]string {
	files, err := fs.Glob(embedded, "migrations/*.sql")
	if err != nil {
		panic(err)
	}
	all := map[string][]string{}
	for _, name := range files {
		text, err := embedded.ReadFile(name)
		if err != nil {
			panic(err)
		}
		statement := ""
		for line := range strings.Lines(string(text)) {
			statement += line
			if strings.HasSuffix(strings.TrimSpace(line), ";") && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "--") {
				all[name] = append(all[name], statement)
				statement = ""
			}
		}
	}
	return all
}

// R8: a program that is killed after any statement of any migration leaves the schema from before, whole, and the next start
// brings it up to date with everything in it.
func TestUpgradeKilledInside(t *testing.T) {
	files, err := fs.Glob(embedded, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	fresh := t.TempDir()
	wantWebsites(t, fresh, 0)
	upToDate := schemaOf(t, fresh)
	for version, name := range files {
		for step := range migrationStatements()[name] {
			t.Run(fmt.Sprintf("%s after %d", filepath.Base(name), step+1), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				websites := makeOld(t, dir, files[:version])
				before := schemaOf(t, dir)
				killInside(t, dir, name, step)
				if after := schemaOf(t, dir); after != before {
					t.Errorf("the schema was\n%s\nand is, half-way,\n%s", before, after)
				}
				wantWebsites(t, dir, websites)
				if after := schemaOf(t, dir); after != upToDate {
					t.Errorf("the schema is\n%s\nwant\n%s", after, upToDate)
				}
			})
		}
	}
}

// makeOld makes a catalog as an older program left it, and says how many websites it has.
func makeOld(t *testing.T, dir string, files []string) (websites int) {
	t.Helper()
	raw := openRaw(t, dir)
	for _, name := range files {
		text, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		execRaw(t, raw, string(text))
	}
	execRaw(t, raw, fmt.Sprintf(`PRAGMA journal_mode = WAL; PRAGMA user_version = %d`, len(files)))
	if len(files) == 0 {
		return 0
	}
	execRaw(t, raw, `
		INSERT INTO accounts (email, name, timezone, created_at) VALUES ('ann@example.com', '', 'UTC', 1);
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
		INSERT INTO websites (account_id, url, domain, search_url, search_domain, privacy, password_hash, email, exclude_bots,
			exclude_params, exclude_ips, tracking_id, version, created_at, updated_at)
		SELECT 1, 'https://s' || i || '.example', 's' || i || '.example', 'https://s' || i || '.example', 's' || i || '.example', 1, '', 0, 1,
			'', '', 'id' || i, 1, 1, 1 FROM n`)
	return 50
}

// killInside starts the program on a catalog and kills it when it stands after a statement of a migration.
func killInside(t *testing.T, dir, name string, step int) {
	t.Helper()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), killedDir+"="+dir, killedFile+"="+name, fmt.Sprintf("%s=%d", killedStep, step))
	program.Stderr = os.Stderr
	stdout, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	program.Process.Kill()
	program.Wait()
	if line != "stopped\n" {
		t.Fatalf("the program said %q", line)
	}
}

// wantWebsites opens a catalog and demands that it holds what it held.
func wantWebsites(t *testing.T, dir string, n int) {
	t.Helper()
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	page, err := db.Websites(t.Context(), 1, listing.Request{Page: 1, PerPage: 10, SortBy: "url"})
	if err != nil || page.Total != n {
		t.Errorf("%d websites, %v; want %d", page.Total, err, n)
	}
	counts, err := db.Counts(t.Context())
	if err != nil || counts["websites"] != n {
		t.Errorf("%v, %v; want %d websites", counts, err, n)
	}
}

// schemaOf is the version and the schema of a catalog, which must be sound.
func schemaOf(t *testing.T, dir string) (schema string) {
	t.Helper()
	raw := openRaw(t, dir)
	var verdict string
	if err := raw.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s %v", verdict, err)
	}
	const query = `SELECT user_version || coalesce((SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY type, name)), '') FROM pragma_user_version`
	if err := raw.QueryRow(query).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// openRaw opens the file of a catalog as it is.
func openRaw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	raw, err := sql.Open("sqlite", filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return raw
}

func execRaw(t *testing.T, raw *sql.DB, statements string) {
	t.Helper()
	if _, err := raw.Exec(statements); err != nil {
		t.Fatal(err)
	}
}
