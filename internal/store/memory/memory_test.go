package memory_test

import (
	"errors"
	"testing"

	"sightline/internal/fault"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/store/memory"
	"sightline/internal/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Catalog { return memory.Open() })
}

func TestClosed(t *testing.T) {
	db := memory.Open()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a ping after the close answers %v, want fault.Unavailable", err)
	}
}

func TestErrorsSayWhat(t *testing.T) {
	db := memory.Open()
	_, website := db.Website(t.Context(), 1, 7)
	_, byID := db.Project(t.Context(), 1, seo.Ref{ID: 7})
	_, byName := db.Project(t.Context(), 1, seo.Ref{Name: "example.com"})
	for want, err := range map[string]error{
		"website 7: not found":             website,
		"project 7: not found":             byID,
		`project "example.com": not found`: byName,
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
