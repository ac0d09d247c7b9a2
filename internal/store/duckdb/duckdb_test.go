//go:build cgo

package duckdb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/store"
	"sightline/internal/store/duckdb"
	"sightline/internal/store/storetest"
)

var small = duckdb.Options{Memory: 256 << 20, Threads: 2}

// open opens the events in a directory, small enough for a test.
func open(t *testing.T, dir string, now func() time.Time) *duckdb.DB {
	t.Helper()
	options := small
	options.Now = now
	db, err := duckdb.Open(t.Context(), dir, options)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestContract(t *testing.T) {
	storetest.RunEvents(t, func(t *testing.T, now func() time.Time) store.Events { return open(t, t.TempDir(), now) })
}

func TestReopened(t *testing.T) {
	storetest.RunReopenedEvents(t, func(t *testing.T, name string, now func() time.Time) store.Events { return open(t, name, now) })
}

// A child is this test program, run again as another process that opens a directory.
const child = "SIGHTLINE_TEST_EVENTS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		os.Exit(appendForEver(dir))
	}
	os.Exit(m.Run())
}

// batchSize is how many events the child sends at once.
const batchSize = 50

// appendForEver appends batches and prints the position of each that is stored.
func appendForEver(dir string) int {
	ctx := context.Background()
	db, err := duckdb.Open(ctx, dir, small)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	position, err := db.Position(ctx)
	for err == nil {
		position++
		events := make([]analytics.Event, batchSize)
		for i := range events {
			events[i] = analytics.Event{Website: 1, At: time.UnixMilli(position), Kind: analytics.PageView, Page: "/"}
		}
		if err = db.Append(ctx, analytics.Batch{Events: events, Position: position}); err == nil {
			fmt.Println(position)
		}
	}
	fmt.Println(err)
	return 1
}

// TestKilled kills a process that appends: what it said to be stored is there, whole batches only, each once.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	stored := int64(0)
	for round := range 4 {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), child+"="+dir)
		out, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		for range 7 + 40*round {
			if !said.Scan() {
				t.Fatal("the process ended by itself")
			}
			if stored, err = strconv.ParseInt(said.Text(), 10, 64); err != nil {
				t.Fatal(said.Text())
			}
		}
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		command.Wait() // it was killed, and says so
		stored = checkBatches(t, dir, stored)
	}
}

// checkBatches looks for each batch up to the position, which is at least what was said to be stored.
func checkBatches(t *testing.T, dir string, said int64) int64 {
	t.Helper()
	db := open(t, dir, nil)
	defer db.Close()
	position, err := db.Position(t.Context())
	if err != nil || position < said {
		t.Fatalf("stored up to %d, %v; it said %d", position, err, said)
	}
	counts := map[int64]int{}
	for event, err := range db.Events(t.Context(), 1, time.UnixMilli(0), time.UnixMilli(1_000_000)) {
		if err != nil {
			t.Fatal(err)
		}
		counts[event.At.UnixMilli()]++
	}
	for batch := int64(1); batch <= position; batch++ {
		if counts[batch] != batchSize {
			t.Errorf("batch %d has %d events, want %d", batch, counts[batch], batchSize)
		}
	}
	if len(counts) != int(position) {
		t.Errorf("there are %d batches, the position is %d", len(counts), position)
	}
	return position
}

func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	defer db.Close()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), child+"="+dir)
	out, err := command.Output()
	text := strings.TrimSpace(string(out))
	if err == nil || !strings.HasSuffix(text, "another process has them open: stop it, or start this one with another --data directory") || strings.Contains(text, "\n") {
		t.Errorf("a second process says %q, %v", text, err)
	}
}

func TestNewerFile(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	duckdb.SetVersion(t, db, 99)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := duckdb.Open(t.Context(), dir, small); err == nil || !strings.Contains(err.Error(), "written by a newer Sightline (schema 99, this one knows 1)") {
		t.Errorf("a newer file is opened with %v", err)
	}
}

// TestPrivate looks at every file: nobody else can reach them, and nothing lies outside of the folder.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	defer db.Close()
	if err := db.Append(t.Context(), analytics.Batch{Events: make([]analytics.Event, 10)}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the data directory has %v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, duckdb.Folder, duckdb.File)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, setting := range []struct{ name, want string }{
		{"autoinstall_known_extensions", "false"}, {"autoload_known_extensions", "false"}, {"enable_external_access", "false"},
		{"memory_limit", "256.0 MiB"}, {"threads", "2"}, {"temp_directory", filepath.Join(dir, duckdb.Folder, "temporary")},
	} {
		if got := duckdb.Setting(t, db, setting.name); got != setting.want {
			t.Errorf("%s is %q, want %q", setting.name, got, setting.want)
		}
	}
}

// TestLeftover opens a folder in which a crash left a half-written file.
func TestLeftover(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, duckdb.Folder)
	left := filepath.Join(folder, "rewritten.duckdb")
	if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(left, []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir, nil)
	defer db.Close()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if err := db.Compact(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLost goes on after the file was lost: one batch is refused, the next is stored.
func TestLost(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	defer db.Close()
	batch := analytics.Batch{Events: []analytics.Event{{Website: 1, At: time.UnixMilli(1), Kind: analytics.PageView}}, Position: 1}
	duckdb.Lose(t, db)
	if err := db.Append(t.Context(), batch); !errors.Is(err, fault.Unavailable) {
		t.Errorf("appending to a lost file answers %v", err)
	}
	if err := db.Append(t.Context(), batch); err != nil {
		t.Errorf("appending again answers %v", err)
	}
	if position, err := db.Position(t.Context()); position != 1 || err != nil {
		t.Errorf("the position is %d, %v", position, err)
	}
}

// TestCloseStopsCompact closes while the file is rewritten: one of the two is refused or finished, and nothing is lost.
func TestCloseStopsCompact(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	events := make([]analytics.Event, 30_000)
	for i := range events {
		events[i] = analytics.Event{Website: 1, At: time.UnixMilli(int64(i)), Kind: analytics.PageView}
	}
	if err := db.Append(t.Context(), analytics.Batch{Events: events, Position: 1}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- db.Compact(context.Background()) }()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, fault.Unavailable) {
		t.Errorf("compacting answers %v", err)
	}
	db = open(t, dir, nil)
	defer db.Close()
	count := 0
	for _, err := range db.Events(t.Context(), 1, time.UnixMilli(0), time.UnixMilli(100_000)) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != len(events) {
		t.Errorf("%d events are left of %d", count, len(events))
	}
}

// TestBroken opens something else: one sentence, and the file stays as it is.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, duckdb.Folder)
	path := filepath.Join(folder, duckdb.File)
	content := strings.Repeat("this is no database ", 1000)
	if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := duckdb.Open(t.Context(), dir, small); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("opened with %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != content {
		t.Errorf("the file changed: %v", err)
	}
}

// TestBounded asks a question that does not fit into the memory: it fails and leaves everything well, or uses the disk.
func TestBounded(t *testing.T) {
	dir := t.TempDir()
	db, err := duckdb.Open(t.Context(), dir, duckdb.Options{Memory: 48 << 20, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	events := make([]analytics.Event, 200_000)
	for i := range events {
		events[i] = analytics.Event{Website: 1, At: time.UnixMilli(int64(i)), Visitor: uint64(i) * 7919, Visit: uint64(i) * 104729,
			Kind: analytics.PageView, Page: fmt.Sprintf("/a page with quite a long name/%d", i)}
	}
	for part := 0; part < len(events); part += 20_000 {
		if err := db.Append(t.Context(), analytics.Batch{Events: events[part : part+20_000]}); err != nil {
			t.Fatal(err)
		}
	}
	query := analytics.Query{Website: 1, From: time.UnixMilli(0), To: time.UnixMilli(1_000_000), Metrics: analytics.Metrics, By: analytics.ByEntryPage, Limit: 5}
	if table, err := db.Query(t.Context(), query); err == nil && table.Total != len(events) || err != nil && !errors.Is(err, fault.Unavailable) {
		t.Errorf("%d rows, %v", table.Total, err)
	}
	query.By, query.Metrics = analytics.None, []analytics.Metric{analytics.Pageviews}
	if table, err := db.Query(t.Context(), query); err != nil || table.Rows[0].Metrics[0] != float64(len(events)) {
		t.Errorf("afterwards %v, %v", table, err)
	}
}

// TestClash counts by texts of which many share their code: none is taken for another.
func TestClash(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	defer db.Close()
	events := make([]analytics.Event, 1000)
	for i := range events {
		events[i] = analytics.Event{Website: 1, At: time.UnixMilli(int64(i)), Visitor: uint64(i % 7), Visit: uint64(i), Kind: analytics.PageView,
			Page: fmt.Sprint("/", i%90), Origin: analytics.Origin{Referrer: fmt.Sprint("https://example.com/", i%30)}}
	}
	if err := db.Append(t.Context(), analytics.Batch{Events: events}); err != nil {
		t.Fatal(err)
	}
	query := analytics.Query{Website: 1, From: time.UnixMilli(0), To: time.UnixMilli(1000), Metrics: analytics.Metrics, Limit: 20, Offset: 5,
		Order: analytics.Order{Metric: analytics.Pageviews, Desc: true}}
	ask := func(by analytics.Dimension) analytics.Table {
		query.By = by
		table, err := db.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	pages, referrers := ask(analytics.ByPage), ask(analytics.ByReferrer)
	if pages.Total != 90 || referrers.Total != 30 {
		t.Errorf("there are %d pages and %d referrers", pages.Total, referrers.Total)
	}
	duckdb.Clash(db)
	if got := ask(analytics.ByPage); !reflect.DeepEqual(got, pages) {
		t.Errorf("the pages are %v, want %v", got, pages)
	}
	if got := ask(analytics.ByReferrer); !reflect.DeepEqual(got, referrers) {
		t.Errorf("the referrers are %v, want %v", got, referrers)
	}
}
