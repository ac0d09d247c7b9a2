//go:build cgo

package duckdb

import "testing"

// SetVersion makes a file look as if another version had written it.
func SetVersion(t *testing.T, db *DB, version int) {
	t.Helper()
	if _, err := db.sql.ExecContext(t.Context(), `UPDATE about SET version = $1`, version); err != nil {
		t.Fatal(err)
	}
}

// Setting reads a setting of the engine.
func Setting(t *testing.T, db *DB, name string) (value string) {
	t.Helper()
	if err := db.sql.QueryRowContext(t.Context(), `SELECT current_setting($1)::VARCHAR`, name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// Lose closes the file behind the back of an open store, as a failure does from which it could not be opened again.
func Lose(t *testing.T, db *DB) {
	t.Helper()
	if err := db.shut(); err != nil {
		t.Fatal(err)
	}
}

// Clash makes nearly all texts share their code with others.
func Clash(db *DB) { db.code = "length" }
