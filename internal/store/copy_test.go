package store_test

import (
	"testing"

	"sightline/internal/store"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/store/storetest"
)

// engines opens a fresh catalog of each engine.
var engines = map[string]func(t *testing.T) store.Installation{
	"sqlite":   func(t *testing.T) store.Installation { return open(t, "", t.TempDir()) },
	"postgres": func(t *testing.T) store.Installation { return open(t, pgtest.URL(t), "") },
}

func open(t *testing.T, database, dir string) store.Installation {
	t.Helper()
	catalog, err := store.Open(t.Context(), database, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { catalog.Close() })
	return catalog
}

func TestCopies(t *testing.T) {
	for from, source := range engines {
		for to, target := range engines {
			t.Run(from+" to "+to, func(t *testing.T) { storetest.RunCopies(t, source, target) })
		}
	}
}
