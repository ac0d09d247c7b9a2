package collect_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/fault"
)

// A faultyStore fails when it is told to.
type faultyStore struct {
	collect.Store
	mu       sync.Mutex
	failing  bool // appends fail and store nothing
	lying    int  // so many appends store and then fail all the same
	apart    bool // it keeps a position of its own, as that of another server would
	position int64
}

func (s *faultyStore) set(change func(*faultyStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *faultyStore) Append(ctx context.Context, b analytics.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing {
		return errors.New("the store is down")
	}
	if s.apart {
		s.position, b.Position = b.Position, 0
	}
	if err := s.Store.Append(ctx, b); err != nil {
		return err
	}
	if s.lying > 0 {
		s.lying--
		return errors.New("the connection broke")
	}
	return nil
}

func (s *faultyStore) Position(ctx context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart {
		return s.position, nil
	}
	return s.Store.Position(ctx)
}

// A faultyCatalog fails while it is told to.
type faultyCatalog struct {
	collect.Catalog
	mu      sync.Mutex
	err     error
	lookups int
}

func (c *faultyCatalog) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *faultyCatalog) TrackedWebsite(ctx context.Context, id string) (analytics.Website, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lookups++; c.err != nil {
		return analytics.Website{}, c.err
	}
	return c.Catalog.TrackedWebsite(ctx, id)
}

func (c *faultyCatalog) Salt(ctx context.Context, day time.Time, fresh []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	return c.Catalog.Salt(ctx, day, fresh)
}

// eventually waits for something that happens in the background.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain: " + what)
		}
	}
}

func TestStoredWithinMoments(t *testing.T) {
	i := install(t)
	i.take(t, i.hit())
	eventually(t, "the event is stored", func() bool { return len(i.stored(t, i.site.ID)) == 1 })
	eventually(t, "the spool is empty", func() bool { return i.Backlog() == 0 })
}

// While the store fails hits are taken all the same; when it works again each is stored once, even if it failed after it had stored.
func TestStoreFails(t *testing.T) {
	i := install(t)
	i.stop(t)
	store := &faultyStore{Store: i.events, failing: true}
	i.start(t, i.catalog, store)
	const many = 50
	for n := range many {
		hit := i.hit()
		hit.URL = fmt.Sprintf("https://example.com/%d", n)
		i.take(t, hit)
		switch n {
		case many / 2:
			eventually(t, "the failure shows", func() bool { return i.Check() != nil })
		case many - 5:
			store.set(func(s *faultyStore) { s.failing, s.lying = false, 2 })
		}
	}
	eventually(t, "it works again", func() bool { return i.Check() == nil && i.Backlog() == 0 })
	i.stop(t)
	once(t, i.stored(t, i.site.ID), many)
}

// once fails the test unless the events are those of the pages 0 to many-1, each once.
func once(t *testing.T, events []analytics.Event, many int) {
	t.Helper()
	seen := map[string]int{}
	for _, e := range events {
		seen[e.Page]++
	}
	for n := range many {
		if got := seen[fmt.Sprintf("/%d", n)]; got != 1 {
			t.Errorf("page %d is stored %d times", n, got)
		}
	}
	if len(events) != many {
		t.Errorf("%d events, want %d", len(events), many)
	}
}

// What was taken while the store failed is stored after a restart.
func TestRestartWithFullSpool(t *testing.T) {
	i := install(t)
	i.stop(t)
	i.start(t, i.catalog, &faultyStore{Store: i.events, failing: true})
	const many = 20
	for n := range many {
		hit := i.hit()
		hit.URL = fmt.Sprintf("https://example.com/%d", n)
		i.take(t, hit)
	}
	i.stop(t)
	if got := len(i.stored(t, i.site.ID)); got != 0 {
		t.Fatalf("%d events reached a store that fails", got)
	}
	i.start(t, i.catalog, i.events)
	eventually(t, "all is stored", func() bool { return len(i.stored(t, i.site.ID)) == many })
	i.stop(t)
	once(t, i.stored(t, i.site.ID), many)
}

// A catalog that does not answer is done without for a while: known websites go on, others cannot be served.
func TestCatalogFails(t *testing.T) {
	i := install(t)
	other := i.addWebsite(t, "https://other.example")
	i.stop(t)
	catalog := &faultyCatalog{Catalog: i.catalog}
	i.start(t, catalog, i.events)
	i.take(t, i.hit())
	catalog.fail(fmt.Errorf("catalog: %w", fault.Unavailable))
	for range 11 {
		i.clock.add(5 * time.Second)
		if outcome := i.take(t, i.hit()); !outcome.Stored() {
			t.Fatalf("a known website: %+v", outcome)
		}
	}
	unknown := i.hit()
	unknown.Site, unknown.URL = other.TrackingID, "https://other.example/"
	if _, err := i.Collect(t.Context(), []collect.Hit{unknown}); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a website that is not known yet: %v", err)
	}
	i.clock.add(time.Minute)
	if _, err := i.Collect(t.Context(), []collect.Hit{i.hit()}); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a website that was known long ago: %v", err)
	}
	catalog.fail(nil)
	i.clock.add(time.Second)
	if outcome := i.take(t, i.hit()); !outcome.Stored() {
		t.Errorf("when the catalog answers again: %+v", outcome)
	}
	if outcome := i.take(t, unknown); !outcome.Stored() {
		t.Errorf("the other website, when the catalog answers again: %+v", outcome)
	}
}

// A collector that never knew a salt cannot take hits, and does not ask for one with each.
func TestNoSalts(t *testing.T) {
	i := install(t)
	i.stop(t)
	catalog := &faultyCatalog{Catalog: i.catalog}
	catalog.fail(errors.New("the catalog is down"))
	i.start(t, catalog, i.events)
	i.clock.add(48 * time.Hour)
	for range 5 {
		if _, err := i.Collect(t.Context(), []collect.Hit{i.hit()}); !errors.Is(err, fault.Unavailable) {
			t.Errorf("without a salt: %v", err)
		}
	}
	catalog.fail(nil)
	i.clock.add(time.Second)
	if outcome := i.take(t, i.hit()); !outcome.Stored() {
		t.Errorf("with a salt: %+v", outcome)
	}
}

// However many hits there are, the catalog is asked twice a second for each website.
func TestLookUpsAreShared(t *testing.T) {
	i := install(t)
	i.stop(t)
	catalog := &faultyCatalog{Catalog: i.catalog}
	i.start(t, catalog, i.events)
	for range 3 {
		var running sync.WaitGroup
		for range 50 {
			running.Go(func() {
				if _, err := i.Collect(t.Context(), []collect.Hit{i.hit(), i.hit()}); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		i.clock.add(500 * time.Millisecond)
	}
	if catalog.lookups != 3 {
		t.Errorf("%d look-ups, want 3", catalog.lookups)
	}
}

// Under overload some are refused, at once and as unavailable; all that are taken are stored, once.
func TestOverload(t *testing.T) {
	i := install(t)
	const clients, each = 3 * collect.MaxWaiting, 2
	var running sync.WaitGroup
	var mu sync.Mutex
	taken, refused := 0, 0
	start := make(chan struct{})
	for range clients {
		running.Go(func() {
			<-start
			for range each {
				_, err := i.Collect(t.Context(), []collect.Hit{i.hit()})
				mu.Lock()
				switch {
				case err == nil:
					taken++
				case errors.Is(err, fault.Unavailable):
					refused++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	close(start)
	running.Wait()
	i.stop(t)
	if got := len(i.stored(t, i.site.ID)); got != taken || taken < collect.MaxWaiting {
		t.Errorf("%d taken, %d refused, %d stored", taken, refused, got)
	}
}

// A lingering catalog answers when it is let go.
type lingeringCatalog struct {
	collect.Catalog
	asked, let chan struct{}
}

func (c lingeringCatalog) TrackedWebsite(ctx context.Context, id string) (analytics.Website, error) {
	close(c.asked)
	<-c.let
	return c.Catalog.TrackedWebsite(ctx, id)
}

// Whoever asks first learns that a hit would be refused.
func TestBusy(t *testing.T) {
	i := install(t)
	i.stop(t)
	catalog := lingeringCatalog{i.catalog, make(chan struct{}), make(chan struct{})}
	i.start(t, catalog, i.events)
	hits := make([]collect.Hit, collect.MaxWaiting)
	for n := range hits {
		hits[n] = i.hit()
	}
	if i.Busy() {
		t.Error("busy without a hit")
	}
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := i.Collect(t.Context(), hits); err != nil {
			t.Error(err)
		}
	})
	<-catalog.asked
	if !i.Busy() {
		t.Errorf("not busy with %d hits", len(hits))
	}
	if _, err := i.Collect(t.Context(), hits[:1]); !errors.Is(err, fault.Busy) {
		t.Errorf("one more hit: %v", err)
	}
	close(catalog.let)
	running.Wait()
	if i.Busy() {
		t.Error("still busy")
	}
}

// A bulk that is larger than what may wait is taken when nobody else waits.
func TestLargeBulk(t *testing.T) {
	i := install(t)
	hits := make([]collect.Hit, 2*collect.MaxWaiting)
	for n := range hits {
		hits[n] = i.hit()
	}
	if outcomes, err := i.Collect(t.Context(), hits); err != nil || len(outcomes) != len(hits) {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	i.stop(t)
	if got := len(i.stored(t, i.site.ID)); got != len(hits) {
		t.Errorf("%d of %d are stored", got, len(hits))
	}
}

func TestClosedCollector(t *testing.T) {
	i := install(t)
	i.stop(t)
	if _, err := i.Collect(t.Context(), []collect.Hit{i.hit()}); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a closed collector: %v", err)
	}
	if err := i.Close(t.Context()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestCanceledRequest(t *testing.T) {
	i := install(t)
	i.take(t, i.hit())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.Collect(ctx, []collect.Hit{i.hit()}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled request: %v", err)
	}
	i.stop(t)
	if got := len(i.stored(t, i.site.ID)); got != 1 {
		t.Errorf("%d events, want the one that was answered", got)
	}
}
