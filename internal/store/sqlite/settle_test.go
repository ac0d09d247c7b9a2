package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/store/sqlite"
)

// What a program that was killed left in the log is in the file itself once the next one has opened it.
func TestOpenSettlesTheLog(t *testing.T) {
	killed, reopened, alone := t.TempDir(), t.TempDir(), t.TempDir()
	a := account.New("a@example.com", time.Now())
	if err := open(t, killed).CreateAccount(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, killed, reopened, sqlite.File, sqlite.File+"-wal") // as kill -9 leaves them
	open(t, reopened)
	copyFiles(t, reopened, alone, sqlite.File)
	if accounts, err := open(t, alone).Accounts(t.Context()); err != nil || len(accounts) != 1 {
		t.Errorf("%d accounts are in the file without its log, %v", len(accounts), err)
	}
}

func copyFiles(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
