package timed_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/receipt"
	"sightline/internal/store"
	"sightline/internal/store/memory"
	"sightline/internal/store/storetest"
	"sightline/internal/store/timed"
	"sightline/internal/trash"
)

// A measured catalog is a catalog like any other.
func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Catalog {
		return timed.New(memory.Open(), func(string, string, time.Duration) {})
	})
}

// Every method of a catalog is measured under its own name; Close alone is not worth it.
func TestEveryMethod(t *testing.T) {
	var seen []string
	catalog := timed.New(memory.Open(), func(operation, _ string, _ time.Duration) { seen = append(seen, operation) })
	interfaceType := reflect.TypeFor[store.Catalog]()
	for i := range interfaceType.NumMethod() {
		name := interfaceType.Method(i).Name
		seen = nil
		callWithNothing(reflect.ValueOf(catalog).MethodByName(name))
		if name == "Close" {
			continue
		}
		if len(seen) != 1 || seen[0] != name {
			t.Errorf("%s was measured as %v", name, seen)
		}
	}
}

// callWithNothing calls a method with a context and zero values. What that breaks is not of interest.
func callWithNothing(method reflect.Value) {
	defer func() { _ = recover() }()
	var args []reflect.Value
	for i := range method.Type().NumIn() {
		args = append(args, reflect.Zero(method.Type().In(i)))
	}
	if len(args) > 0 {
		args[0] = reflect.ValueOf(context.Background())
	}
	method.Call(args)
}

// failing fails look-ups with what it is told.
type failing struct {
	store.Catalog
	err error
}

func (f failing) Account(context.Context, int64) (account.Account, error) {
	return account.Account{}, f.err
}

func TestKinds(t *testing.T) {
	for want, err := range map[string]error{
		"":            nil,
		"not_found":   fault.NotFound,
		"full":        fault.Full,
		"unavailable": fault.Unavailable,
		"invalid":     fault.Field("email", "is taken"),
		"repeated":    &receipt.Used{},
		"canceled":    context.Canceled,
		"timeout":     context.DeadlineExceeded,
		"other":       errors.New("SELECT secret"),
	} {
		if err != nil {
			err = fmt.Errorf("account 1: %w", err)
		}
		got := "nothing"
		catalog := timed.New(failing{memory.Open(), err}, func(_, failure string, _ time.Duration) { got = failure })
		if _, passed := catalog.Account(t.Context(), 1); passed != err {
			t.Errorf("the error became %v", passed)
		}
		if got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

// A refusal by a function of the caller is no failure of the store, and reaches the caller as it is.
func TestRefused(t *testing.T) {
	refusal := errors.New("changed since")
	var got []string
	catalog := timed.New(memory.Open(), func(operation, failure string, _ time.Duration) { got = append(got, operation+" "+failure) })
	owner := account.New("owner@example.com", time.Now())
	if err := catalog.CreateAccount(t.Context(), &owner); err != nil {
		t.Fatal(err)
	}
	site := analytics.Website{AccountID: owner.ID}
	if err := catalog.CreateWebsite(t.Context(), &site, nil); err != nil {
		t.Fatal(err)
	}
	got = nil
	_, updated := catalog.UpdateWebsite(t.Context(), owner.ID, site.ID, func(*analytics.Website) error { return refusal })
	deleted := catalog.DeleteWebsite(t.Context(), owner.ID, site.ID, trash.Deletion{Check: func(int64) error { return refusal }})
	applied := catalog.ApplyWebsites(t.Context(), owner.ID, nil, func(map[string]analytics.Website) ([]*analytics.Website, error) { return nil, refusal })
	if err := catalog.Catalog.DeleteWebsite(t.Context(), owner.ID, site.ID, trash.Deletion{At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	_, purged := catalog.Purge(t.Context(), owner.ID, trash.Website, site.ID, func(int64) error { return refusal })
	if updated != refusal || deleted != refusal || applied != refusal || purged != refusal {
		t.Errorf("the refusals became %v, %v, %v, %v", updated, deleted, applied, purged)
	}
	if want := []string{"UpdateWebsite refused", "DeleteWebsite refused", "ApplyWebsites refused", "Purge refused"}; !reflect.DeepEqual(got, want) {
		t.Errorf("measured as %v, want %v", got, want)
	}
}
