package storetest

import (
	"slices"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/store"
	"sightline/internal/trash"
)

// someSites are n addresses and their domains.
func someSites(n int) (urls, domains []string) {
	for i := range n {
		host := numbered("site", i) + ".example"
		urls, domains = append(urls, "https://"+host), append(domains, host)
	}
	return urls, domains
}

func bulkRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	urls, domains := someSites(20)
	allSucceed(t, 4, func(i int) error {
		urls, domains := slices.Clone(urls), slices.Clone(domains)
		if i%2 == 1 { // the other way round
			slices.Reverse(urls)
			slices.Reverse(domains)
		}
		return c.ApplyWebsites(t.Context(), owner, domains, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
			time.Sleep(time.Millisecond) // an engine that lets others in between look and write creates twice here
			return emailAll(owner, urls...)(found)
		})
	})
	var got []string
	for _, w := range stateOf(t, c).Websites[owner] {
		got = append(got, w.Domain)
		if !w.Email {
			t.Errorf("no change after the first found %s", w.Domain)
		}
	}
	slices.Sort(got)
	slices.Sort(domains)
	same(t, "the domains", domains, got)
}

func bulkAccounts(t *testing.T, c store.Catalog) {
	urls, domains := someSites(20)
	var owners []int64
	for i := range 8 {
		owners = append(owners, newAccount(t, c, numbered("user", i)).ID)
	}
	allSucceed(t, 2*len(owners), func(i int) error {
		owner := owners[i/2]
		return c.ApplyWebsites(t.Context(), owner, domains, emailAll(owner, urls...))
	})
	s := stateOf(t, c)
	for _, owner := range owners {
		same(t, "the number of websites of an account", len(urls), len(s.Websites[owner]))
	}
}

func bulkAndUpdates(t *testing.T, c store.Catalog) {
	w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://a.example", 0)
	const n = 20
	edit := func(w *analytics.Website) error {
		return w.Edit(at(9), func(w *analytics.Website) error {
			w.ExcludeParams += "x"
			return nil
		})
	}
	allSucceed(t, n, func(i int) error {
		if i%2 == 0 {
			_, err := c.UpdateWebsite(t.Context(), w.AccountID, w.ID, edit)
			return err
		}
		return c.ApplyWebsites(t.Context(), w.AccountID, []string{w.Domain}, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
			time.Sleep(time.Millisecond)
			w := found[w.Domain]
			return []*analytics.Website{&w}, edit(&w)
		})
	})
	got := must(c.Website(t.Context(), w.AccountID, w.ID))(t)
	if len(got.ExcludeParams) != n || got.Version != 1+n {
		t.Errorf("%d edits left %d characters and version %d, want %d and %d", n, len(got.ExcludeParams), got.Version, n, 1+n)
	}
}

// bulkOrDelete deletes a website beside a bulk change. Either the change found it and shows in the trash, or it made a new one.
func bulkOrDelete(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for i := range 10 {
		url := numbered("https://site", i) + ".example"
		w := newWebsite(t, c, owner, url, 0)
		allSucceed(t, 2, func(i int) error {
			if i == 0 {
				return c.DeleteWebsite(t.Context(), owner, w.ID, toTrash(i))
			}
			return c.ApplyWebsites(t.Context(), owner, []string{w.Domain}, emailAll(owner, url))
		})
		same(t, "what was deleted last", []trash.Item{websiteItem(w, 0)}, inTrash(t, c, owner))
		created := len(stateOf(t, c).Websites[owner])
		var back analytics.Website
		ok(t, c.RestoreWebsite(t.Context(), owner, w.ID, &back, nil))
		if back.Email != (created == 0) {
			t.Errorf("the bulk change created %d websites; the deleted one was changed: %v", created, back.Email)
		}
		for _, w := range stateOf(t, c).Websites[owner] {
			ok(t, c.DeleteWebsite(t.Context(), owner, w.ID, erase))
		}
	}
}
