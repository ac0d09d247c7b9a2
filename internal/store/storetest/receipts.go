package storetest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"maps"
	"testing"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/store"
)

var receiptContracts = []contract{
	{"every field comes back", receiptFields},
	{"are sealed when the record has its id", receiptSealed},
	{"an error while sealing undoes the write", receiptNotSealed},
	{"a used key undoes the write", receiptUsed},
	{"a twin gets the answer, not what became wrong since", receiptTwin},
	{"a write that fails leaves none", receiptOfFailure},
	{"belong to one account, operation and key", receiptIdentity},
	{"are copies", receiptCopies},
	{"are erased by age", receiptErased},
	{"one of fifty twins at once creates a website", receiptRace},
	{"one of many twins at once writes", receiptTwinRace},
	{"of different keys at once are all kept", receiptsAtOnce},
}

const someOperation = "POST /api/v1/websites"

// newReceipt is a receipt whose answer is written when it is sealed.
func newReceipt(owner int64, key string) *receipt.Receipt {
	return &receipt.Receipt{
		AccountID: owner, Operation: someOperation, Key: key, Request: sha256.Sum256([]byte(key)), CreatedAt: at(1),
		Seal: func(r *receipt.Receipt) error {
			r.Status, r.Header, r.Answer = 201, map[string]string{"Location": "/" + key}, []byte("the answer to "+key)
			return nil
		},
	}
}

// kept is a receipt as it must be kept.
func kept(r *receipt.Receipt) receipt.Receipt {
	stored := *r
	stored.Header, stored.Answer = maps.Clone(r.Header), bytes.Clone(r.Answer)
	stored.Seal = nil
	return stored
}

// readReceipt is what is kept for the account, operation and key of a receipt.
func readReceipt(t *testing.T, c store.Catalog, r *receipt.Receipt) receipt.Receipt {
	t.Helper()
	return must(c.Receipt(t.Context(), r.AccountID, r.Operation, r.Key))(t)
}

// wantNoReceipt fails the test if there is a receipt with the account, operation and key of another.
func wantNoReceipt(t *testing.T, c store.Catalog, what string, r *receipt.Receipt) {
	t.Helper()
	_, err := c.Receipt(t.Context(), r.AccountID, r.Operation, r.Key)
	wantNotFound(t, what, err)
}

// first is the receipt that an error says was there before, or none.
func first(err error) *receipt.Receipt {
	var used *receipt.Used
	if !errors.As(err, &used) {
		return nil
	}
	return &used.First
}

// wantUsed fails the test unless an error names the first receipt.
func wantUsed(t *testing.T, what string, err error, want receipt.Receipt) {
	t.Helper()
	if got := first(err); got == nil {
		t.Errorf("%s: got %v, want a receipt.Used", what, err)
	} else {
		same(t, what+": the first receipt", want, *got)
	}
}

// A keptWrite is a kind of write that may come with a receipt.
type keptWrite struct {
	method string
	// prepare makes what the write needs, once for all attempts at it.
	prepare func(t *testing.T, c store.Catalog, owner int64) (begin func() attempt)
}

// An attempt is one call of a write. The record is the caller's; it must be complete when the receipt is sealed.
type attempt struct {
	try    func(*receipt.Receipt) error
	record func() any
}

var keptWrites = []keptWrite{
	{"CreateWebsite", func(t *testing.T, c store.Catalog, owner int64) func() attempt {
		return func() attempt {
			w := fullWebsite(owner)
			w.TrackingID = rand.Text()
			return attempt{func(r *receipt.Receipt) error { return c.CreateWebsite(t.Context(), &w, r) }, func() any { return w }}
		}
	}},
	{"CreateProject", func(t *testing.T, c store.Catalog, owner int64) func() attempt {
		return func() attempt {
			p := seo.NewProject(owner, at(0))
			p.Name = "created.example"
			return attempt{func(r *receipt.Receipt) error { return c.CreateProject(t.Context(), &p, r) }, func() any { return p }}
		}
	}},
	{"CreateKey", func(t *testing.T, c store.Catalog, owner int64) func() attempt {
		return func() attempt {
			k := account.Key{AccountID: owner, Name: "created", Hash: account.HashSecret(numbered("created", int(owner))), Scopes: account.AllScopes(), CreatedAt: at(0)}
			return attempt{func(r *receipt.Receipt) error { return c.CreateKey(t.Context(), &k, r) }, func() any { return k }}
		}
	}},
	{"RestoreWebsite", func(t *testing.T, c store.Catalog, owner int64) func() attempt {
		gone := newWebsite(t, c, owner, "https://restored.example", 0)
		deleteWebsite(t, c, gone, 5)
		return func() attempt {
			var w analytics.Website
			return attempt{func(r *receipt.Receipt) error { return c.RestoreWebsite(t.Context(), owner, gone.ID, &w, r) }, func() any { return w }}
		}
	}},
	{"RestoreProject", func(t *testing.T, c store.Catalog, owner int64) func() attempt {
		gone := newProject(t, c, owner, "restored.example", 0)
		deleteProject(t, c, gone, 5)
		return func() attempt {
			var p seo.Project
			return attempt{func(r *receipt.Receipt) error { return c.RestoreProject(t.Context(), owner, gone.ID, &p, r) }, func() any { return p }}
		}
	}},
}

// written is the record in a catalog that a write left, by its id.
func written(t *testing.T, c store.Catalog, record any) any {
	t.Helper()
	switch r := record.(type) {
	case analytics.Website:
		return must(c.Website(t.Context(), r.AccountID, r.ID))(t)
	case seo.Project:
		return must(c.Project(t.Context(), r.AccountID, seo.Ref{ID: r.ID}))(t)
	case account.Key:
		return must(c.KeyByHash(t.Context(), r.Hash))(t)
	default:
		return nil
	}
}
