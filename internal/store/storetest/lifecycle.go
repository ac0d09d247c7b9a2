package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/seo"
	"sightline/internal/store"
)

var lifecycleContracts = []contract{
	{"an open catalog serves", openServes},
	{"a cancelled call fails and writes nothing", cancelledWritesNothing},
	{"a cancelled first start leaves no owner", cancelledOwner},
	{"a closed catalog fails", closedFails},
	{"closing waits for calls under way", closedUnderLoad},
}

// A call is one call of a method, on records that exist.
type call struct {
	method string
	try    func(ctx context.Context) error
}

// everyCall has a call of each method.
func everyCall(c store.Catalog, f filled) []call {
	owner := f.account.ID
	edit := func(w *analytics.Website) error { return w.SetURL("https://changed.example") }
	return []call{
		{"CreateAccount", func(ctx context.Context) error {
			a := account.New("new@example.com", at(1))
			return c.CreateAccount(ctx, &a)
		}},
		{"CreateOwner", func(ctx context.Context) error {
			a, k := account.New("owner@example.com", at(1)), account.Key{Name: "owner", Hash: account.HashSecret("owner"), CreatedAt: at(1)}
			_, err := c.CreateOwner(ctx, &a, &k)
			return err
		}},
		{"Accounts", func(ctx context.Context) error { _, err := c.Accounts(ctx); return err }},
		{"CreateKey", func(ctx context.Context) error {
			k := account.Key{AccountID: owner, Name: "new", Hash: account.HashSecret("new"), CreatedAt: at(1)}
			return c.CreateKey(ctx, &k)
		}},
		{"KeyByHash", func(ctx context.Context) error { _, err := c.KeyByHash(ctx, f.key.Hash); return err }},
		{"AllKeys", func(ctx context.Context) error { _, err := c.AllKeys(ctx); return err }},
		{"TouchKeys", func(ctx context.Context) error {
			return c.TouchKeys(ctx, map[int64]time.Time{f.key.ID: at(9)})
		}},
		{"RevokeKey", func(ctx context.Context) error { return c.RevokeKey(ctx, owner, f.key.ID, at(9)) }},
		{"Websites", func(ctx context.Context) error { _, err := c.Websites(ctx, owner, websiteRequest()); return err }},
		{"Website", func(ctx context.Context) error { _, err := c.Website(ctx, owner, f.website.ID); return err }},
		{"OldestWebsite", func(ctx context.Context) error { _, err := c.OldestWebsite(ctx, owner, "example.com"); return err }},
		{"CreateWebsite", func(ctx context.Context) error {
			w := analytics.Website{AccountID: owner, URL: "https://new.example", Domain: "new.example", TrackingID: "new", Version: 1, CreatedAt: at(1), UpdatedAt: at(1)}
			return c.CreateWebsite(ctx, &w)
		}},
		{"UpdateWebsite", func(ctx context.Context) error { _, err := c.UpdateWebsite(ctx, owner, f.website.ID, edit); return err }},
		{"DeleteWebsite", func(ctx context.Context) error { return c.DeleteWebsite(ctx, owner, f.website.ID) }},
		{"Projects", func(ctx context.Context) error { _, err := c.Projects(ctx, owner, projectRequest()); return err }},
		{"Project", func(ctx context.Context) error {
			_, err := c.Project(ctx, owner, seo.Ref{ID: f.project.ID})
			return err
		}},
		{"CreateProject", func(ctx context.Context) error {
			p := seo.Project{AccountID: owner, Name: "new", Version: 1, CreatedAt: at(1), UpdatedAt: at(1)}
			return c.CreateProject(ctx, &p)
		}},
		{"DeleteProject", func(ctx context.Context) error {
			_, err := c.DeleteProject(ctx, owner, seo.Ref{Name: f.project.Name})
			return err
		}},
		{"Ping", c.Ping},
	}
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
			if c.CreateWebsite(t.Context(), &w) != nil {
				return nil
			}
			if late {
				return errors.New("a website was stored after the catalog was closed")
			}
		}
	})
	ok(t, errors.Join(errs...))
}
