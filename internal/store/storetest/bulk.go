package storetest

import (
	"errors"
	"reflect"
	"testing"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/store"
)

var bulkContracts = []contract{
	{"are created and updated in one go", bulkApplies},
	{"the oldest of each domain is found", bulkFinds},
	{"nothing to do does nothing", bulkNothing},
	{"what the edit does to what it was given does not matter", bulkGiven},
	{"id and account cannot change", bulkIdentity},
	{"an error writes nothing", bulkError},
	{"one that was not found is refused", bulkNotFound},
	{"need an account", bulkNeedsAccount},
	{"a thousand at a time", bulkThousand},
	{"at once create each domain once", bulkRace},
	{"at once of many accounts", bulkAccounts},
	{"and single updates at once lose none", bulkAndUpdates},
	{"and deletion at once", bulkOrDelete},
}

// A bulkEdit is what decides what a bulk change stores.
type bulkEdit = func(found map[string]analytics.Website) ([]*analytics.Website, error)

// emailAll is an edit that creates some websites, if their domains are not there, and turns on the reports of those found.
func emailAll(owner int64, urls ...string) bulkEdit {
	return func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		var edited []*analytics.Website
		for _, w := range found {
			w.Email = true
			edited = append(edited, &w)
		}
		for _, url := range urls {
			w := analytics.NewWebsite(owner, at(5))
			if err := w.SetURL(url); err != nil {
				return nil, err
			}
			if _, there := found[w.Domain]; !there {
				edited = append(edited, &w)
			}
		}
		return edited, nil
	}
}

// apply makes a bulk change and returns what it stored.
func apply(t *testing.T, c store.Catalog, owner int64, domains []string, edit bulkEdit) []*analytics.Website {
	t.Helper()
	var stored []*analytics.Website
	ok(t, c.ApplyWebsites(t.Context(), owner, domains, func(found map[string]analytics.Website) (edited []*analytics.Website, err error) {
		stored, err = edit(found)
		return stored, err
	}))
	return stored
}

func bulkApplies(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	changed, untouched := newWebsite(t, c, owner, "https://changed.example", 0), newWebsite(t, c, owner, "https://untouched.example", 0)
	moved, unasked := newWebsite(t, c, owner, "https://moved.example", 0), newWebsite(t, c, owner, "https://unasked.example", 0)
	created, full := plainWebsite(0), fullWebsite(nowhere) // the account is the caller's, whatever they say
	domains := []string{"untouched.example", created.Domain, changed.Domain, full.Domain, "moved.example", "nothing.example"}
	stored := apply(t, c, owner, domains, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		same(t, "what is found", map[string]analytics.Website{"untouched.example": untouched, "changed.example": changed, "moved.example": moved}, found)
		changed, untouched, moved := found["changed.example"], found["untouched.example"], found["moved.example"]
		all := fullWebsite(owner)
		all.ID, all.TrackingID = changed.ID, "another"
		changed = all
		return []*analytics.Website{&full, &changed, &untouched, &created, &moved}, moved.Edit(at(9), func(w *analytics.Website) error {
			return w.SetURL("https://münchen.de/moved")
		})
	})
	var want []analytics.Website
	for i, w := range stored {
		if w.ID <= 0 || w.AccountID != owner {
			t.Errorf("website %d of the array has id %d and account %d", i, w.ID, w.AccountID)
		}
		same(t, "a website read after the change", *w, must(c.Website(t.Context(), owner, w.ID))(t))
		want = append(want, *w)
	}
	if full.ID >= created.ID || full.ID <= unasked.ID {
		t.Errorf("new websites have the ids %d and %d after %d, want ids that grow in the order of the array", full.ID, created.ID, unasked.ID)
	}
	same(t, "the website that was not asked for", unasked, must(c.Website(t.Context(), owner, unasked.ID))(t))
	same(t, "the number of websites", len(want)+1, len(stateOf(t, c).Websites[owner]))
	r := websiteRequest()
	r.Search = "MÜNCHEN.de/MOVED"
	same(t, "the list searched for the new address", want[4:], whole(t, "websites", must(c.Websites(t.Context(), owner, r))(t)))
	r.Search = "moved.example"
	same(t, "the list searched for the old address", []analytics.Website{}, whole(t, "websites", must(c.Websites(t.Context(), owner, r))(t)))
}

func bulkFinds(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	newWebsite(t, c, bob, "https://a.b.example", 0)
	newWebsite(t, c, bob, "https://bob.example", 0)
	deleteWebsite(t, c, newWebsite(t, c, ann, "https://a.b.example", 0), 1)
	deleteWebsite(t, c, newWebsite(t, c, ann, "https://gone.example", 0), 1)
	want := map[string]analytics.Website{}
	for _, url := range []string{"https://a_b.example/9", "https://www.a.b.example", "https://a-b.example", "https://ab.example", "https://xn--mnchen-3ya.de", "http://a.b.example:81"} {
		w := newWebsite(t, c, ann, url, 9)
		newWebsite(t, c, ann, url, 0) // created before it, but stored after it
		want[w.Domain] = w
	}
	newWebsite(t, c, ann, "https://unasked.example", 0)
	domains := []string{"a_b.example", "a.b.example", "a-b.example", "ab.example", "xn--mnchen-3ya.de", "a.b.example:81",
		"a.b.example", "a.b.example", "a_b.example", // twice is once
		"", "%", "a%", "_.b.example", "A.B.EXAMPLE", "www.a.b.example", "münchen.de", "gone.example", "bob.example", awkward}
	apply(t, c, ann, domains, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		same(t, "what is found", want, found)
		return nil, nil
	})
}

func bulkNothing(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	createAndRead(t, c, fullWebsite(owner))
	before := stateOf(t, c)
	for _, domains := range [][]string{nil, {}, {"nothing.example"}, {fullWebsite(owner).Domain}} {
		calls := 0
		apply(t, c, owner, domains, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
			calls++
			var edited []*analytics.Website
			for _, w := range found {
				edited = append(edited, &w)
			}
			return edited, nil
		})
		if calls == 0 {
			t.Error("the edit was not called")
		}
	}
	same(t, "the catalog after that", before, stateOf(t, c))
}

func bulkGiven(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b := newWebsite(t, c, owner, "https://a.example", 0), newWebsite(t, c, owner, "https://b.example", 0)
	apply(t, c, owner, []string{"a.example", "b.example"}, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		a, b := found["a.example"], found["b.example"]
		a.Email, b.Email = true, true
		found["a.example"] = a
		delete(found, "b.example")
		return []*analytics.Website{&a, &b}, nil
	})
	a.Email, b.Email = true, true
	same(t, "the websites", []analytics.Website{a, b}, stateOf(t, c).Websites[owner])
}

func bulkIdentity(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	w := newWebsite(t, c, ann, "https://a.example", 0)
	for _, email := range []bool{false, true} {
		stored := apply(t, c, ann, []string{"a.example"}, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
			w := found["a.example"]
			w.AccountID, w.Email = bob, email
			return []*analytics.Website{&w}, nil
		})
		w.Email = email
		same(t, "the website stored", w, *stored[0])
		same(t, "the website read", w, must(c.Website(t.Context(), ann, w.ID))(t))
	}
	same(t, "the websites of the other account", 0, len(stateOf(t, c).Websites[bob]))
}

func bulkError(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w := newWebsite(t, c, owner, "https://a.example", 0)
	before := stateOf(t, c)
	for _, want := range []error{errors.New("no"), fault.Field("17.url", "is bad"), fault.NotFound} {
		err := c.ApplyWebsites(t.Context(), owner, []string{"a.example", "b.example"}, func(map[string]analytics.Website) ([]*analytics.Website, error) {
			changed, created := w, plainWebsite(owner)
			changed.Email = true
			return []*analytics.Website{&created, &changed}, want
		})
		if !reflect.DeepEqual(err, want) {
			t.Errorf("the error of the edit is answered as %#v, want %#v", err, want)
		}
	}
	same(t, "the catalog after errors", before, stateOf(t, c))
}

func bulkNotFound(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	first := newWebsite(t, c, ann, "https://a.example", 0)
	refused := []analytics.Website{newWebsite(t, c, ann, "https://a.example", 0), newWebsite(t, c, ann, "https://unasked.example", 0),
		newWebsite(t, c, bob, "https://a.example", 0), newWebsite(t, c, ann, "https://gone.example", 0), plainWebsite(ann), plainWebsite(ann)}
	deleteWebsite(t, c, refused[3], 1)
	refused[4].ID, refused[5].ID = nowhere, -1
	before := stateOf(t, c)
	for _, w := range refused {
		err := c.ApplyWebsites(t.Context(), ann, []string{"a.example", "gone.example", "b.example"}, func(map[string]analytics.Website) ([]*analytics.Website, error) {
			changed, created := first, plainWebsite(ann)
			changed.Email, w.Email = true, true
			return []*analytics.Website{&changed, &created, &w}, nil
		})
		if err == nil {
			t.Errorf("website %d of %s was changed", w.ID, w.Domain)
		}
	}
	same(t, "the catalog after that", before, stateOf(t, c))
}

func bulkNeedsAccount(t *testing.T, c store.Catalog) {
	newAccount(t, c, "ann")
	before := stateOf(t, c)
	wantNotFound(t, "websites for no account", c.ApplyWebsites(t.Context(), nowhere, []string{"a.example"}, emailAll(nowhere, "https://a.example")))
	same(t, "the catalog after that", before, stateOf(t, c))
}

func bulkThousand(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 1000
	var urls, domains []string
	for i := range n {
		host := numbered("site", i*7%n) + ".example"
		urls, domains = append(urls, "https://"+host), append(domains, host)
	}
	list := func(r listing.Request) (listing.Page[analytics.Website], error) {
		return c.Websites(t.Context(), owner, r)
	}
	r := websiteRequest()
	r.PerPage = 2 * n
	var want []analytics.Website
	for round := range 3 { // creates all, changes all, changes nothing
		stored := apply(t, c, owner, domains, emailAll(owner, urls...))
		same(t, "how many websites the edit returned", n, len(stored))
		listed := must(list(r))(t)
		same(t, "how many websites there are", []int{n, n}, []int{len(listed.Items), listed.Total})
		if round == 0 {
			want = listed.Items
		}
		for i := range want {
			want[i].Email = round > 0
			if want[i].Domain != domains[i] {
				t.Fatalf("website %d of the list is %s, want %s: the ids do not grow in the order of the array", i, want[i].Domain, domains[i])
			}
		}
		same(t, numbered("the websites after round", round), want, listed.Items)
	}
	r.PerPage = n
	checkPages(t, "a thousand websites", n, r, list)
	r.Search = "SITE-99" // 99 and 990 to 999
	checkPages(t, "a thousand websites, searched", 11, r, list)
}
