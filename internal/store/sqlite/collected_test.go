package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sightline/internal/store/sqlite"
)

// An erased salt is nowhere in the data directory any more, while the catalog is open.
func TestErasedSaltsLeaveNoTrace(t *testing.T) {
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	secret, day := []byte("a salt of thirty-two bytes, once"), time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC)
	for n := range 3 {
		if _, err := db.Salt(t.Context(), day.AddDate(0, 0, n), append(secret[:len(secret)-1:len(secret)-1], byte('0'+n))); err != nil {
			t.Fatal(err)
		}
	}
	if !onDisk(t, dir, secret[:30]) {
		t.Fatal("the salts are not on the disk, so the test cannot find them")
	}
	if err := db.EraseSalts(t.Context(), day.AddDate(0, 0, 9)); err != nil {
		t.Fatal(err)
	}
	if onDisk(t, dir, secret[:30]) {
		t.Error("an erased salt is still on the disk")
	}
}

// onDisk says whether a file in a directory contains a text.
func onDisk(t *testing.T, dir string, text []byte) (found bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found = found || bytes.Contains(content, text)
	}
	return found
}
