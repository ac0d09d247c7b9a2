package collect_test

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/collect/place"
	"sightline/internal/store/memory"
)

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"

// A clock shows the time that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 14, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// An installation is a collector with all that it needs.
type installation struct {
	*collect.Collector
	*clock
	dir     string
	catalog *memory.DB
	events  *memory.Events
	owner   int64
	site    analytics.Website
}

// install makes an installation with the website example.com.
func install(t testing.TB) *installation {
	t.Helper()
	i := &installation{clock: newClock(), dir: t.TempDir(), catalog: memory.Open()}
	i.events = memory.OpenEvents(i.now)
	owner := account.New("owner@example.com", i.now())
	if err := i.catalog.CreateAccount(t.Context(), &owner); err != nil {
		t.Fatal(err)
	}
	i.owner = owner.ID
	i.site = i.addWebsite(t, "https://example.com")
	i.start(t, i.catalog, i.events)
	return i
}

// addWebsite stores another website.
func (i *installation) addWebsite(t testing.TB, url string) analytics.Website {
	t.Helper()
	w := analytics.NewWebsite(i.owner, i.now())
	err := w.SetURL(url)
	if err == nil {
		err = i.catalog.CreateWebsite(t.Context(), &w, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// change changes the website and lets the time pass in which that may go unseen.
func (i *installation) change(t testing.TB, edit func(*analytics.Website)) {
	t.Helper()
	_, err := i.catalog.UpdateWebsite(t.Context(), i.owner, i.site.ID, func(w *analytics.Website) error {
		return w.Edit(i.now(), func(w *analytics.Website) error { edit(w); return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	i.clock.add(time.Second)
}

var places = sync.OnceValue(func() *place.Database {
	db, err := place.Open("")
	if err != nil {
		panic(err)
	}
	return db
})

// start opens the collector of an installation.
func (i *installation) start(t testing.TB, catalog collect.Catalog, store collect.Store) {
	t.Helper()
	c, err := collect.Open(t.Context(), catalog, store, collect.Options{Dir: i.dir, Places: places(), Now: i.now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	i.Collector = c
	t.Cleanup(func() { c.Close(context.Background()) })
}

// stop closes the collector, which stores all that it has taken.
func (i *installation) stop(t testing.TB) {
	t.Helper()
	if err := i.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// hit is a page view of the website by a person.
func (i *installation) hit() collect.Hit {
	return collect.Hit{Site: i.site.TrackingID, URL: "https://example.com/", Address: netip.MustParseAddr("88.198.1.1"), Agent: chrome}
}

// take collects one hit.
func (i *installation) take(t testing.TB, hit collect.Hit) collect.Outcome {
	t.Helper()
	outcomes, err := i.Collect(t.Context(), []collect.Hit{hit})
	if err != nil || len(outcomes) != 1 {
		t.Fatal(outcomes, err)
	}
	return outcomes[0]
}

// stored lists what the store has of a website.
func (i *installation) stored(t testing.TB, website int64) (all []analytics.Event) {
	t.Helper()
	for e, err := range i.events.Events(t.Context(), website, time.Time{}, i.now().Add(1000*time.Hour)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// ledger is what was left out, for any reason.
func (i *installation) ledger(t testing.TB) (reasons map[string]int64, samples []analytics.Drop) {
	t.Helper()
	found, err := i.events.Exclusions(t.Context(), i.site.ID, time.Time{}, i.now().Add(1000*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	reasons = map[string]int64{}
	for _, day := range found.Days {
		reasons[day.Reason] += day.Events
	}
	return reasons, found.Samples
}
