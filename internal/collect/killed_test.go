package collect_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/store/sqlite"
)

// victimDir is set in a process that is to be killed.
const victimDir = "SIGHTLINE_TEST_COLLECT_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		if err := beVictim(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// beVictim collects as fast as it can, and writes the number of each hit that was taken to its output, until it is killed.
func beVictim(dir string) error {
	ctx := context.Background()
	catalog, err := sqlite.Open(ctx, dir)
	if err != nil {
		return err
	}
	store, err := openDiskStore(filepath.Join(dir, "events.db"))
	if err != nil {
		return err
	}
	c, err := collect.Open(ctx, catalog, store, collect.Options{Dir: dir, Places: places(), Now: time.Now, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	first, err := strconv.ParseInt(os.Getenv("FIRST"), 10, 64)
	if err != nil {
		return err
	}
	var number atomic.Int64
	number.Store(first)
	var mu sync.Mutex
	for range 16 {
		go func() {
			for {
				n := number.Add(1)
				hit := collect.Hit{Domain: "example.com", URL: fmt.Sprintf("https://example.com/%d", n), Address: netip.MustParseAddr("88.198.1.1"), Agent: chrome}
				if outcomes, err := c.Collect(ctx, []collect.Hit{hit}); err == nil && outcomes[0].Stored() {
					mu.Lock()
					fmt.Println(n)
					mu.Unlock()
				}
			}
		}()
	}
	select {}
}

// A diskStore keeps the pages of events in a file, each batch with its position in one transaction.
type diskStore struct{ db *sql.DB }

func openDiskStore(path string) (*diskStore, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS pages (page TEXT); CREATE TABLE IF NOT EXISTS position (n INTEGER); INSERT INTO position SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM position)`)
	return &diskStore{db}, err
}

func (s *diskStore) Append(ctx context.Context, b analytics.Batch) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var position int64
	if err := tx.QueryRow(`SELECT n FROM position`).Scan(&position); err != nil || b.Position <= position {
		return err
	}
	for _, e := range b.Events {
		if _, err := tx.Exec(`INSERT INTO pages VALUES (?)`, e.Page); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`UPDATE position SET n = ?`, b.Position); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *diskStore) Position(ctx context.Context) (n int64, err error) {
	return n, s.db.QueryRowContext(ctx, `SELECT n FROM position`).Scan(&n)
}

func (s *diskStore) OpenVisits(context.Context, time.Time) ([]analytics.Visit, error) {
	return nil, nil
}

// R1: a collector that is killed at any moment loses no hit that it has taken and stores none twice.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	catalog, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	owner := account.New("owner@example.com", time.Now())
	w := analytics.NewWebsite(1, time.Now())
	for _, err := range []error{catalog.CreateAccount(t.Context(), &owner), w.SetURL("https://example.com"), catalog.CreateWebsite(t.Context(), &w, nil), catalog.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	taken := map[string]bool{}
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for round := range 8 {
		runVictim(t, dir, round, time.Duration(random.IntN(800))*time.Millisecond, taken)
	}
	if len(taken) < 100 {
		t.Fatalf("only %d hits were taken", len(taken))
	}
	checkOnce(t, dir, taken)
}

// runVictim lets a process collect, kills it some time after its first hit, and notes what it took.
func runVictim(t *testing.T, dir string, round int, alive time.Duration, taken map[string]bool) {
	t.Helper()
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimDir+"="+dir, fmt.Sprintf("FIRST=%d", round*10_000_000))
	victim.Stderr = os.Stderr
	output, err := victim.StdoutPipe()
	if err == nil {
		err = victim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	for first := true; ; first = false {
		line, err := lines.ReadString('\n') // the last line may be cut off: its hit was not reported as taken
		if err != nil {
			break
		}
		taken["/"+line[:len(line)-1]] = true
		if first {
			time.AfterFunc(alive, func() { victim.Process.Kill() })
		}
	}
	victim.Wait() // it was killed
}

// checkOnce starts a collector once more, lets it store what is left, and looks for every hit in the store.
func checkOnce(t *testing.T, dir string, taken map[string]bool) {
	t.Helper()
	store, err := openDiskStore(filepath.Join(dir, "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.db.Close()
	catalog, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer catalog.Close()
	c, err := collect.Open(t.Context(), catalog, store, collect.Options{Dir: dir, Places: places(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := store.db.Query(`SELECT page, count(*) FROM pages GROUP BY page`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	stored := map[string]bool{}
	for rows.Next() {
		var page string
		var times int
		if err := rows.Scan(&page, &times); err != nil {
			t.Fatal(err)
		}
		if stored[page] = true; times != 1 {
			t.Errorf("%s is stored %d times", page, times)
		}
	}
	lost := 0
	for page := range taken {
		if !stored[page] {
			lost++
		}
	}
	t.Logf("%d hits were taken, %d are stored", len(taken), len(stored))
	if err := rows.Err(); err != nil || lost > 0 {
		t.Errorf("%d of %d hits that were taken are lost; %v", lost, len(taken), err)
	}
}
