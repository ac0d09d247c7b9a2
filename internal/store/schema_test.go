package store_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"sightline/internal/store/archive"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/store/sqlite"
)

// Tables that follow from the others, or from the program, and so are not in a dump; salts, which must not
// outlive their day in one; and erasures, which are about events that no dump has.
var notDumped = []string{"totals", "indexed", "salts", "erasures", "sightline_schema", "sqlite_sequence", "sqlite_schema", "sqlite_stat1"}

// Whatever an engine keeps is in a dump: a table or column that is new in a migration must be added to archive.Tables.
func TestDumpKnowsEveryColumn(t *testing.T) {
	for engine, columns := range map[string]map[string][]string{"sqlite": sqliteColumns(t), "postgres": postgresColumns(t)} {
		for _, table := range archive.Tables {
			want, got := slices.Sorted(slices.Values(table.Names())), slices.Sorted(slices.Values(columns[table.Name]))
			if !slices.Equal(want, got) {
				t.Errorf("%s: the table %s has the columns %v, a dump has %v", engine, table.Name, got, want)
			}
			delete(columns, table.Name)
		}
		for table := range columns {
			if !slices.Contains(notDumped, table) {
				t.Errorf("%s: the table %s is not in a dump", engine, table)
			}
		}
	}
}

// sqliteColumns lists the columns of each table, those of full-text indexes aside.
func sqliteColumns(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	open(t, "", dir)
	raw, err := sql.Open("sqlite", filepath.Join(dir, sqlite.File))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	rows, err := raw.Query(`SELECT l.name, group_concat(c.name) FROM pragma_table_list l JOIN pragma_table_info(l.name) c WHERE l.type = 'table' GROUP BY l.name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var table, names string
		if err := rows.Scan(&table, &names); err != nil {
			t.Fatal(err)
		}
		columns[table] = strings.Split(names, ",")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	delete(columns, "sqlite_temp_schema")
	return columns
}

func postgresColumns(t *testing.T) map[string][]string {
	t.Helper()
	url := pgtest.URL(t)
	open(t, url, "")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT table_name, array_agg(column_name::text) FROM information_schema.columns WHERE table_schema = current_schema() GROUP BY table_name`)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	var table string
	var names []string
	if _, err := pgx.ForEachRow(rows, []any{&table, &names}, func() error { columns[table] = names; return nil }); err != nil {
		t.Fatal(err)
	}
	return columns
}
