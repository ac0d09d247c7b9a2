package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/store"
	"sightline/internal/store/sqlite"
	"sightline/internal/store/storetest"
	"sightline/internal/trash"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Catalog { return open(t, t.TempDir()) })
}

// The same when every search of three characters or more goes through the index.
func TestContractByIndex(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Catalog {
		db := open(t, t.TempDir())
		if err := db.SearchAllByIndex(); err != nil {
			t.Fatal(err)
		}
		return db
	})
}

func open(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	db := open(t, dir)
	a := account.New("a@example.com", time.Now())
	if err := db.CreateAccount(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{".": 0o700, sqlite.File: 0o600, sqlite.File + "-wal": 0o600, sqlite.File + "-shm": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

func TestExistingDirectory(t *testing.T) {
	empty, other := filepath.Join(t.TempDir(), "empty"), filepath.Join(t.TempDir(), "other")
	for _, dir := range []string{empty, other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "letter.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]os.FileMode{empty: 0o700, other: 0o755} {
		open(t, dir)
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", dir, info.Mode().Perm(), err, want)
		}
	}
}

func TestOpenTwiceAtOnce(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			db, err := sqlite.Open(t.Context(), dir)
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestNewerCatalogIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", filepath.Join(dir, sqlite.File))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`PRAGMA user_version = 999`); err != nil {
		t.Fatal(err)
	}
	raw.Close()
	_, err = sqlite.Open(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "newer Sightline") || strings.Contains(err.Error(), "\n") {
		t.Errorf("opened a newer catalog: %v", err)
	}
}

func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), filepath.Join(file, "data"))
	if err == nil || !strings.HasPrefix(err.Error(), "cannot use the data directory "+file) {
		t.Errorf("opened below a file: %v", err)
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sqlite.File), []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("opened a foreign file: %v", err)
	}
}

// A write of one process waits for the write of another.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	dbs := []*sqlite.DB{open(t, dir), open(t, dir)}
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			a := account.New(strings.Repeat("a", i+1)+"@example.com", time.Now())
			if err := dbs[i%2].CreateAccount(t.Context(), &a); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if accounts, err := dbs[0].Accounts(t.Context()); err != nil || len(accounts) != 40 {
		t.Errorf("%d accounts, %v", len(accounts), err)
	}
}

// A panic while a website is edited fails that edit and nothing else.
func TestPanicInEdit(t *testing.T) {
	db := open(t, t.TempDir())
	a := account.New("a@example.com", time.Now())
	if err := db.CreateAccount(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	w := analytics.NewWebsite(a.ID, time.Now())
	if err := db.CreateWebsite(t.Context(), &w, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.UpdateWebsite(t.Context(), a.ID, w.ID, func(*analytics.Website) error { panic("oops") }); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("a panic became %v", err)
	}
	if err := db.DeleteWebsite(t.Context(), a.ID, w.ID, trash.Deletion{}); err != nil {
		t.Errorf("the next write: %v", err)
	}
}

// Of changes that share a commit, a bad one leaves the others alone.
func TestBatchKeepsGoodChanges(t *testing.T) {
	db := open(t, t.TempDir())
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			email := "taken@example.com"
			if i%2 == 0 {
				email = strings.Repeat("b", i/2+1) + "@example.com"
			}
			a := account.New(email, time.Now())
			err := db.CreateAccount(t.Context(), &a)
			var invalid fault.Invalid
			if i%2 == 0 && err != nil || err != nil && !errors.As(err, &invalid) {
				t.Errorf("%s: %v", email, err)
			}
		})
	}
	group.Wait()
	if accounts, err := db.Accounts(t.Context()); err != nil || len(accounts) != 101 {
		t.Errorf("%d accounts, %v", len(accounts), err)
	}
}
