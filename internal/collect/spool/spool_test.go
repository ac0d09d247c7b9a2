package spool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/fault"
)

var wide = Limits{Bytes: 1 << 30, Waiting: 1024}

func open(t testing.TB, path string, after int64, limits Limits) *Spool {
	t.Helper()
	s, damage, err := Open(path, after, limits)
	if err != nil || damage != nil {
		t.Fatal(err, damage)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t testing.TB, s *Spool, record string) {
	t.Helper()
	if err := s.Append(t.Context(), []byte(record)); err != nil {
		t.Fatal(err)
	}
}

// records reads everything after a position.
func records(t *testing.T, s *Spool, after int64) (all []string, last int64) {
	t.Helper()
	groups, damage, err := s.Read(t.Context(), after, 1<<30)
	if err != nil || damage != nil {
		t.Fatal(err, damage)
	}
	for _, group := range groups {
		for _, record := range group.Records {
			all = append(all, string(record))
		}
		last = group.Position
	}
	return all, last
}

func TestWhatIsAppendedIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool.db")
	s := open(t, path, 0, wide)
	var want []string
	for i := range 5 {
		want = append(want, strings.Repeat("x", i)+fmt.Sprint(i))
		add(t, s, want[i])
	}
	add(t, s, "")
	got, last := records(t, s, 0)
	if !slices.Equal(got, append(want, "")) || last != 6 {
		t.Errorf("got %q up to %d", got, last)
	}
	if err := s.Discard(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	before := s.Bytes()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), []byte("late")); !errors.Is(err, fault.Unavailable) {
		t.Errorf("append after close: %v", err)
	}
	s = open(t, path, 0, wide)
	if got, _ := records(t, s, 0); !slices.Equal(got, append(want[3:], "")) || s.Bytes() != before {
		t.Errorf("after a restart %q of %d bytes, want %d bytes", got, s.Bytes(), before)
	}
}

func TestPositionsOnlyGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool.db")
	s := open(t, path, 41, wide) // a new file beside a store that has read up to 41
	add(t, s, "a")
	if _, last := records(t, s, 0); last != 42 {
		t.Errorf("the first position is %d, want 42", last)
	}
	s.Close()
	s = open(t, path, 7, wide) // a store that was set back
	add(t, s, "b")
	if got, last := records(t, s, 42); last != 43 || !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q at %d", got, last)
	}
}

func TestAppendsAtOnceShareCommits(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spool.db"), 0, wide)
	const many = 300
	var running sync.WaitGroup
	for i := range many {
		running.Go(func() { add(t, s, fmt.Sprint(i)) })
	}
	running.Wait()
	got, last := records(t, s, 0)
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != many || last >= many {
		t.Errorf("%d records in %d commits", len(got), last)
	}
}

func TestReadIsBounded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spool.db"), 0, wide)
	for range 10 {
		add(t, s, strings.Repeat("x", 1000))
	}
	groups, _, err := s.Read(t.Context(), 0, 2500)
	if err != nil || len(groups) != 3 {
		t.Errorf("%d groups, %v; want 3: no more once there are 2,500 bytes", len(groups), err)
	}
	if groups, _, err = s.Read(t.Context(), 9, 1); err != nil || len(groups) != 1 {
		t.Errorf("%d groups, %v; want one, however large", len(groups), err)
	}
}

func TestFullSpoolRefuses(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spool.db"), 0, Limits{Bytes: 2000, Waiting: 8})
	add(t, s, strings.Repeat("x", 3000))
	if err := s.Append(t.Context(), []byte("y")); !errors.Is(err, fault.Unavailable) {
		t.Errorf("append to a full spool: %v", err)
	}
	if err := s.Discard(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	add(t, s, "y")
	if got, _ := records(t, s, 0); !slices.Equal(got, []string{"y"}) {
		t.Errorf("got %q", got)
	}
}

// While the disk takes its time, a few may wait and all others are refused at once.
func TestTooManyWaiting(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spool.db"), 0, Limits{Bytes: 1 << 20, Waiting: 2})
	s.writing.Lock()
	var running sync.WaitGroup
	answers := make(chan error, 10_000)
	refused := 0
	for tries := 0; refused < 50; tries++ { // refused one after the other: nobody takes them any more
		if tries == cap(answers) {
			t.Fatal("however many wait, none is refused")
		}
		running.Go(func() { answers <- s.Append(context.Background(), []byte("x")) })
		select {
		case err := <-answers:
			if refused++; !errors.Is(err, fault.Unavailable) {
				t.Fatalf("got %v, want that it is unavailable", err)
			}
		case <-time.After(10 * time.Millisecond):
			refused = 0
		}
	}
	s.writing.Unlock()
	running.Wait()
	close(answers)
	accepted := 0
	for err := range answers {
		if err == nil {
			accepted++
		}
	}
	if got, _ := records(t, s, 0); len(got) != accepted || accepted == 0 {
		t.Errorf("%d records, %d were accepted", len(got), accepted)
	}
}

// The log of the file does not grow with what is appended.
func TestLogIsEmptied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool.db")
	s := open(t, path, 0, wide)
	for range 4 * logBytes >> 20 {
		add(t, s, strings.Repeat("x", 1<<20))
	}
	for began := time.Now(); ; { // it is cut when it begins anew
		add(t, s, "x")
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() <= logBytes+1<<20 {
			break
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("the log has %d MB", info.Size()>>20)
		}
	}
	if got, _ := records(t, s, 0); len(got) <= 4*logBytes>>20 {
		t.Errorf("%d records", len(got))
	}
}

// A disk that is full refuses, loses nothing, and takes more once there is room.
func TestFullDisk(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spool.db"), 0, wide)
	add(t, s, "before")
	s.db.SetMaxOpenConns(1) // so that the limit holds for the connection that writes
	if _, err := s.db.Exec(`PRAGMA max_page_count = 8`); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), []byte(strings.Repeat("x", 100_000))); !errors.Is(err, fault.Full) || s.Check() == nil {
		t.Errorf("a full disk: %v, health %v", err, s.Check())
	}
	if got, _ := records(t, s, 0); !slices.Equal(got, []string{"before"}) {
		t.Errorf("on a full disk: %q", got)
	}
	if _, err := s.db.Exec(`PRAGMA max_page_count = 100000`); err != nil {
		t.Fatal(err)
	}
	add(t, s, "after")
	if got, last := records(t, s, 0); !slices.Equal(got, []string{"before", "after"}) || last != 2 || s.Check() != nil {
		t.Errorf("with room again: %q up to %d, health %v", got, last, s.Check())
	}
}

func TestDamagedGroupIsPutAside(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spool.db"), 0, wide)
	for _, record := range []string{"one", "two", "three"} {
		add(t, s, record)
	}
	if _, err := s.db.Exec(`UPDATE groups SET body = CAST(x'0300000078' || body AS BLOB) WHERE position = 2`); err != nil {
		t.Fatal(err)
	}
	groups, damage, err := s.Read(t.Context(), 0, 1<<20)
	if err != nil || damage == nil || len(groups) != 2 || string(groups[1].Records[0]) != "three" {
		t.Errorf("%v, damage %v, %v", groups, damage, err)
	}
	if got, _ := records(t, s, 0); !slices.Equal(got, []string{"one", "three"}) {
		t.Errorf("afterwards %q", got)
	}
	var kept int
	if err := s.db.QueryRow(`SELECT count(*) FROM damaged`).Scan(&kept); err != nil || kept != 1 {
		t.Errorf("%d damaged groups are kept, %v", kept, err)
	}
}

// Whatever happens to the file, the spool opens, takes records and returns none that was not appended.
func TestDamagedFileOpens(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound.db")
	s := open(t, sound, 0, wide)
	appended := map[string]bool{}
	for i := range 50 {
		record := fmt.Sprint(i, strings.Repeat("record", 200))
		appended[record] = true
		add(t, s, record)
	}
	s.Close()
	content, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 24 {
		damaged := slices.Clone(content)
		switch i % 4 {
		case 0:
			damaged = damaged[:random.IntN(len(damaged))]
		case 1:
			for range 5 {
				damaged[random.IntN(len(damaged))] ^= byte(1 + random.IntN(255))
			}
		case 2:
			start := random.IntN(len(damaged))
			clear(damaged[start:min(start+4096, len(damaged))])
		case 3:
			damaged = []byte(strings.Repeat("no database ", 1+random.IntN(1000)))
		}
		path := filepath.Join(dir, fmt.Sprintf("spool-%d.db", i))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := Open(path, 100, wide)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		add(t, s, "new")
		groups, _, err := s.Read(t.Context(), 0, 1<<30)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		for _, group := range groups {
			if record := string(group.Records[0]); !appended[record] && record != "new" {
				t.Errorf("%d: a record that was never appended: %q", i, record)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(appendRecord(appendRecord(nil, []byte("a")), nil))
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := split(body, sum(body)+1); err == nil {
			t.Error("a wrong sum was accepted")
		}
		parts, err := split(body, sum(body))
		if err != nil {
			return
		}
		var again []byte
		for _, part := range parts {
			again = appendRecord(again, part)
		}
		if !slices.Equal(again, body) {
			t.Errorf("%x became %x", body, again)
		}
	})
}

// The bare group commit: 64 clients append records of a usual event's size.
func BenchmarkAppend(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "spool.db"), 0, wide)
	record := []byte(strings.Repeat("x", 200))
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Append(context.Background(), record); err != nil {
				b.Error(err)
			}
		}
	})
}
