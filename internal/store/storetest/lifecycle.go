package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/fault"
	"sightline/internal/store"
)

var lifecycleContracts = []contract{
	{"an open catalog serves", openServes},
	{"a cancelled call fails and writes nothing", cancelledWritesNothing},
	{"a cancelled first start leaves no owner", cancelledOwner},
	{"a closed catalog fails", closedFails},
	{"closing waits for calls under way", closedUnderLoad},
}

// wantFailures makes every call and fails the test unless each fails, in a way that cannot be taken for an answer.
func wantFailures(t *testing.T, ctx context.Context, calls []call) {
	t.Helper()
	for _, call := range calls {
		err := call.try(ctx)
		var bad fault.Invalid
		if err == nil || errors.Is(err, fault.NotFound) || errors.As(err, &bad) {
			t.Errorf("%s answers: %v", call.method, err)
		}
	}
}

func openServes(t *testing.T, c store.Catalog) {
	ok(t, c.Ping(t.Context()))
	for _, call := range everyCall(c, fill(t, c, "ann")) {
		if err := call.try(t.Context()); err != nil {
			t.Errorf("%s fails: %v", call.method, err)
		}
	}
}

func cancelledWritesNothing(t *testing.T, c store.Catalog) {
	f := fill(t, c, "ann")
	before := stateOf(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantFailures(t, ctx, everyCall(c, f))
	ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	wantFailures(t, ctx, everyCall(c, f))
	same(t, "the catalog after cancelled calls", before, stateOf(t, c))
	same(t, "the receipt from before", f.receipt, must(c.Receipt(t.Context(), f.account.ID, f.receipt.Operation, f.receipt.Key))(t))
	for _, key := range callKeys {
		_, err := c.Receipt(t.Context(), f.account.ID, f.receipt.Operation, key)
		wantNotFound(t, "the receipt of a cancelled "+key, err)
	}
	if !must(c.TakeTurn(t.Context(), callJob, at(9), time.Minute))(t) {
		t.Error("a cancelled call took the turn")
	}
}

func cancelledOwner(t *testing.T, c store.Catalog) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, k := owner("secret")
	if created, err := c.CreateOwner(ctx, &a, &k); created || err == nil {
		t.Errorf("a cancelled CreateOwner answers %v, %v", created, err)
	}
	a, k = owner("secret")
	if !must(c.CreateOwner(t.Context(), &a, &k))(t) {
		t.Error("the cancelled call left an owner")
	}
}

func closedFails(t *testing.T, c store.Catalog) {
	f := fill(t, c, "ann")
	ok(t, c.Close())
	wantFailures(t, t.Context(), everyCall(c, f))
}

func closedUnderLoad(t *testing.T, c store.Catalog) {
	f := fill(t, c, "ann")
	var closed atomic.Bool
	errs := atOnce(20, func(i int) error {
		if i == 10 {
			err := c.Close()
			closed.Store(true)
			return err
		}
		for {
			late := closed.Load()
			w := plainWebsite(f.account.ID)
			w.TrackingID = rand.Text()
			if c.CreateWebsite(t.Context(), &w, nil) != nil {
				return nil
			}
			if late {
				return errors.New("a website was stored after the catalog was closed")
			}
		}
	})
	ok(t, errors.Join(errs...))
}
