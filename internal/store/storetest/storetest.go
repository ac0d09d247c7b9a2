// Package storetest is the contract that every catalog keeps, as one suite of tests.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

// A contract is one promise of the catalog; it is tried on an empty one.
type contract struct {
	name string
	try  func(t *testing.T, c store.Catalog)
}

// Run holds an engine to the contract. open returns a fresh, empty catalog each time that it is called. Run closes
// it; open may do so as well, since closing twice must do no harm. What survives a restart is not Run's to ask.
func Run(t *testing.T, open func(t *testing.T) store.Catalog) {
	subjects := []struct {
		name      string
		contracts []contract
	}{
		{"accounts", accountContracts},
		{"keys", keyContracts},
		{"websites", websiteContracts},
		{"website updates", updateContracts},
		{"website lists", websiteListContracts},
		{"projects", projectContracts},
		{"project lists", projectListContracts},
		{"reports", reportContracts},
		{"audits", auditContracts},
		{"results of audits", resultContracts},
		{"many websites", bulkContracts},
		{"trash", trashContracts},
		{"purges", purgeContracts},
		{"trash at once", trashRaceContracts},
		{"receipts", receiptContracts},
		{"clock", clockContracts},
		{"collected", collectedContracts},
		{"totals", totalContracts},
		{"isolation", isolationContracts},
		{"lifecycle", lifecycleContracts},
		{"property", propertyContracts},
	}
	for _, subject := range subjects {
		t.Run(subject.name, func(t *testing.T) {
			for _, contract := range subject.contracts {
				t.Run(contract.name, func(t *testing.T) {
					c := open(t)
					t.Cleanup(func() { c.Close() })
					contract.try(t, c)
				})
			}
		})
	}
}

// at is a moment some seconds after the suite's own beginning of time.
func at(seconds int) time.Time {
	return time.Date(2026, 11, 14, 9, 30, seconds, 0, time.UTC)
}

// newAccount stores an account whose address begins with name.
func newAccount(t *testing.T, c store.Catalog, name string) account.Account {
	t.Helper()
	a := account.New(name+"@example.com", at(0))
	ok(t, c.CreateAccount(t.Context(), &a))
	return a
}

// newKey stores a key with all scopes for an account.
func newKey(t *testing.T, c store.Catalog, owner int64, secret string) account.Key {
	t.Helper()
	k := account.Key{AccountID: owner, Name: secret, Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: at(0)}
	ok(t, c.CreateKey(t.Context(), &k, nil))
	return k
}

// newWebsite stores a website that was created some seconds after the beginning.
func newWebsite(t *testing.T, c store.Catalog, owner int64, url string, seconds int) analytics.Website {
	t.Helper()
	w := analytics.NewWebsite(owner, at(seconds))
	ok(t, w.SetURL(url))
	ok(t, c.CreateWebsite(t.Context(), &w, nil))
	return w
}

// newProject stores a project that was created some seconds after the beginning.
func newProject(t *testing.T, c store.Catalog, owner int64, name string, seconds int) seo.Project {
	t.Helper()
	p := seo.NewProject(owner, at(seconds))
	ok(t, p.SetName(name))
	ok(t, c.CreateProject(t.Context(), &p, nil))
	return p
}

// ok ends the test unless a call succeeded.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("failed: %v", err)
	}
}

// must is the answer of a call that succeeded. As Go passes on a call's results only when they are all the
// arguments, the test comes second: must(c.Website(ctx, account, id))(t).
func must[T any](answer T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		ok(t, err)
		return answer
	}
}

// same fails the test unless two values are equal.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := difference(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// difference says how two values differ. No rows may be nil or empty; moments must be equal in every way, so UTC.
func difference(want, got any) string {
	sameMoment := cmp.Comparer(func(a, b time.Time) bool { return a == b })
	sameBytes := cmp.FilterValues(func(a, b []byte) bool { return len(a)+len(b) > 0 }, cmp.Comparer(bytes.Equal)) // much faster than one by one
	return cmp.Diff(want, got, sameMoment, sameBytes, cmpopts.EquateEmpty())
}

// wantNotFound fails the test unless an error is of the kind fault.NotFound.
func wantNotFound(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("%s: got %v, want an error that is fault.NotFound", what, err)
	}
}

// invalid says whether an error is a fault.Invalid that says this one thing about this one field.
func invalid(err error, field, text string) bool {
	var bad fault.Invalid
	return errors.As(err, &bad) && slices.Equal(bad.Fields(), []string{field}) && slices.Equal(bad[field], []string{text})
}

// wantInvalid fails the test unless an error says one thing about one field.
func wantInvalid(t *testing.T, what string, err error, field, text string) {
	t.Helper()
	if !invalid(err, field, text) {
		t.Errorf("%s: got %v, want fault.Invalid about %s: %s", what, err, field, text)
	}
}

// atOnce makes n calls at the same time and returns their errors.
func atOnce(n int, call func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	running.Wait()
	return errs
}

// oneWins makes n calls at once, of which one must succeed and all others must fail as lost says.
func oneWins(t *testing.T, n int, lost func(error) bool, call func(i int) error) {
	t.Helper()
	won := 0
	for _, err := range atOnce(n, call) {
		switch {
		case err == nil:
			won++
		case !lost(err):
			t.Errorf("a call that came too late failed with: %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d calls at once succeeded, want 1", won, n)
	}
}

// allSucceed makes n calls at once.
func allSucceed(t *testing.T, n int, call func(i int) error) {
	t.Helper()
	ok(t, errors.Join(atOnce(n, call)...))
}

func isNotFound(err error) bool {
	return errors.Is(err, fault.NotFound)
}

// state is all that can be listed of a catalog.
type state struct {
	Accounts []account.Account
	Keys     []account.Key
	Websites map[int64][]analytics.Website
	Projects map[int64][]seo.Project
	Reports  map[int64][]seo.Report
	Trash    map[int64][]trash.Item
}

// stateOf reads everything, and fails the test unless each list has as many rows as it says. It reads at most 100 rows
// of a list.
func stateOf(t *testing.T, c store.Catalog) state {
	t.Helper()
	ctx := context.Background()
	s := state{Websites: map[int64][]analytics.Website{}, Projects: map[int64][]seo.Project{}, Reports: map[int64][]seo.Report{}, Trash: map[int64][]trash.Item{}}
	s.Accounts = must(c.Accounts(ctx))(t)
	s.Keys = must(c.AllKeys(ctx))(t)
	for _, a := range s.Accounts {
		s.Websites[a.ID] = whole(t, "websites", must(c.Websites(ctx, a.ID, websiteRequest()))(t))
		s.Projects[a.ID] = whole(t, "projects", must(c.Projects(ctx, a.ID, projectRequest()))(t))
		s.Trash[a.ID] = whole(t, "trash", must(c.Trash(ctx, a.ID, allKinds, pageRequest()))(t))
		s.Reports[a.ID] = whole(t, "reports", must(c.Reports(ctx, a.ID, seo.ReportFilter{}, reportRequest()))(t))
	}
	return s
}

// whole is the rows of a list that fits on one page.
func whole[T any](t *testing.T, what string, page listing.Page[T]) []T {
	t.Helper()
	if page.Total != len(page.Items) {
		t.Errorf("the list of %s has %d rows and says that it has %d", what, len(page.Items), page.Total)
	}
	return page.Items
}

// pageRequest asks for everything of a list that is not searched or sorted.
func pageRequest() listing.Request {
	return listing.Request{Page: 1, PerPage: 100}
}

// awkward is text that an engine may stumble over, besides quotes and wildcards.
const awkward = "Grüße, ΑΘΗΝΑ, 日本語, e\u0301 é, 👩‍👩‍👧, \\ \\\\ \\n, ' '' \" \"\", % _ * ? [a] ^, -- /* */ ; $1 ?1 :a @b {} <b>&amp;"

// noise is n bytes of ASCII letters and digits that do not compress.
func noise(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-."
	var text strings.Builder
	for number := uint64(88172645463325252); text.Len() < n; {
		number ^= number << 13
		number ^= number >> 7
		number ^= number << 17
		text.WriteByte(letters[number>>58])
	}
	return text.String()
}

// numbered is name with a number.
func numbered(name string, i int) string {
	return fmt.Sprintf("%s-%d", name, i)
}
