package collect_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect"
)

// A busyStore is one during whose every batch another hit comes.
type busyStore struct {
	collect.Store
	meanwhile func()
	batches   atomic.Int64
}

func (s *busyStore) Append(ctx context.Context, b analytics.Batch) error {
	if s.batches.Add(1); len(b.Events) > 0 {
		s.meanwhile()
	}
	return s.Store.Append(ctx, b)
}

// What comes while a batch is stored waits for the next time, with all that comes until then: each batch costs the store a sync.
func TestBatchesAreFew(t *testing.T) {
	i := install(t)
	i.stop(t)
	store := &busyStore{Store: i.events, meanwhile: func() { i.Collect(context.Background(), []collect.Hit{i.hit()}) }}
	i.start(t, i.catalog, store)
	began := time.Now()
	i.take(t, i.hit())
	eventually(t, "three batches are stored", func() bool { return store.batches.Load() >= 3 })
	if batches, most := store.batches.Load(), int64(time.Since(began)/(200*time.Millisecond))+1; batches > most {
		t.Errorf("%d batches, at most %d in that time", batches, most)
	}
}
