package schedule_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/schedule"
	"sightline/internal/store/memory"
	"sightline/internal/trash"
)

// What was deleted too long ago is erased, and so are old receipts; what is younger stays until its time has come.
func TestClockErases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog := memory.Open()
		owner := account.New("owner@example.com", time.Now())
		must(t, catalog.CreateAccount(t.Context(), &owner))
		for _, age := range []time.Duration{8 * 24 * time.Hour, 7*24*time.Hour - 5*time.Minute} {
			w := analytics.NewWebsite(owner.ID, time.Now())
			must(t, w.SetURL("https://example.com"))
			once := &receipt.Receipt{AccountID: owner.ID, Operation: "POST", Key: age.String(), CreatedAt: time.Now().Add(-age)}
			must(t, catalog.CreateWebsite(t.Context(), &w, once))
			must(t, catalog.DeleteWebsite(t.Context(), owner.ID, w.ID, trash.Deletion{At: time.Now().Add(-age)}))
		}
		clock := &schedule.Clock{Trash: catalog, Receipts: catalog, Leftovers: catalog, Turns: catalog, Kept: 7 * 24 * time.Hour, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		stop := run(t, clock)

		left := func() int {
			synctest.Wait()
			page, err := catalog.Trash(t.Context(), owner.ID, []trash.Object{trash.Website}, listing.Request{Page: 1, PerPage: 10})
			must(t, err)
			return page.Total
		}
		if n := left(); n != 1 {
			t.Errorf("%d are in the trash after the first look, want 1", n)
		}
		if _, err := catalog.Receipt(t.Context(), owner.ID, "POST", (8 * 24 * time.Hour).String()); !errors.Is(err, fault.NotFound) {
			t.Errorf("an old receipt is still there: %v", err)
		}
		time.Sleep(9 * time.Minute) // it is due, but the job runs every ten minutes
		if n := left(); n != 1 {
			t.Errorf("%d are in the trash after nine minutes, want 1", n)
		}
		time.Sleep(2 * time.Minute)
		if n := left(); n != 0 {
			t.Errorf("%d are in the trash after eleven minutes, want 0", n)
		}
		stop()
	})
}

// many are receipts of which so many are old.
type many struct {
	receipt.Receipts
	old   int
	turns []int // how many went in each
}

func (m *many) EraseReceipts(_ context.Context, _ time.Time, limit int) (int, error) {
	erased := min(limit, m.old)
	m.old -= erased
	m.turns = append(m.turns, erased)
	return erased, nil
}

// Many receipts are erased a bounded number at a time, until none is left.
func TestClockErasesInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog, receipts := memory.Open(), &many{old: 2500}
		clock := &schedule.Clock{Trash: catalog, Receipts: receipts, Leftovers: catalog, Turns: catalog, Kept: time.Hour, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		stop := run(t, clock)
		synctest.Wait()
		stop()
		if want := []int{1000, 1000, 500}; !slices.Equal(receipts.turns, want) {
			t.Errorf("erased %v, want %v", receipts.turns, want)
		}
	})
}

// erased notes whose events were erased, and how often they were compacted.
type erased struct {
	mu        sync.Mutex
	websites  []int64
	compacted int
}

func (e *erased) Compact(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compacted++
	return nil
}

func (e *erased) Erase(_ context.Context, website int64, _ time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.websites = append(e.websites, website)
	return nil
}

func (e *erased) all() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.websites)
}

// The events of a website that is gone for good follow a while after it, once.
func TestClockErasesEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog, events := memory.Open(), &erased{}
		owner := account.New("ann@example.com", time.Now())
		must(t, catalog.CreateAccount(t.Context(), &owner))
		for range 2 {
			site := analytics.NewWebsite(owner.ID, time.Now())
			must(t, catalog.CreateWebsite(t.Context(), &site, nil))
		}
		must(t, catalog.DeleteWebsite(t.Context(), owner.ID, 2, trash.Deletion{}))
		clock := &schedule.Clock{Trash: catalog, Receipts: catalog, Leftovers: catalog, Erasures: catalog, Events: events, Turns: catalog, Kept: time.Hour,
			Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		stop := run(t, clock)
		synctest.Wait()
		if at := events.all(); len(at) > 0 {
			t.Errorf("erased the events of %v at once, while some may be on their way", at)
		}
		time.Sleep(25 * time.Minute)
		stop()
		if got, want := events.all(), []int64{2}; !slices.Equal(got, want) {
			t.Errorf("erased the events of %v, want %v", got, want)
		}
	})
}

// The events are compacted once a week, whatever else is due.
func TestClockCompacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog, events := memory.Open(), &erased{}
		clock := &schedule.Clock{Trash: catalog, Receipts: catalog, Leftovers: catalog, Erasures: catalog, Events: events, Turns: catalog, Kept: time.Hour,
			Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		stop := run(t, clock)
		time.Sleep(20 * 24 * time.Hour)
		stop()
		if events.compacted != 3 { // at the first look, after one week and after two
			t.Errorf("compacted %d times in 20 days, want 3", events.compacted)
		}
	})
}

// run starts a clock. What it returns stops it, and waits until nothing of it runs any more.
func run(t *testing.T, clock *schedule.Clock) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { clock.Run(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// leftovers are rows that audits left behind.
type leftovers struct {
	rows  int
	turns []int // how many went in each
}

func (l *leftovers) EraseLeftovers(_ context.Context, limit int) (int, error) {
	erased := min(limit, l.rows)
	l.rows -= erased
	l.turns = append(l.turns, erased)
	return erased, nil
}

// What audits left behind is erased a bounded number of rows at a time, until nothing is left.
func TestClockErasesLeftovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog, left := memory.Open(), &leftovers{rows: 1200}
		clock := &schedule.Clock{Trash: catalog, Receipts: catalog, Leftovers: left, Turns: catalog, Kept: time.Hour, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		stop := run(t, clock)
		synctest.Wait()
		stop()
		if want := []int{500, 500, 200}; !slices.Equal(left.turns, want) {
			t.Errorf("erased %v, want %v", left.turns, want)
		}
	})
}
