package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"sightline/internal/access"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var updateContracts = []contract{
	{"every field can change", updateFields},
	{"id and account cannot change", updateIdentity},
	{"an edit sees what is stored", updateSees},
	{"an error writes nothing", updateError},
	{"no change writes nothing", updateNothing},
	{"of one website leaves the others", updateOne},
	{"the list follows", updateListed},
	{"at once of different fields lose none", updateAtOnce},
	{"at once of one field lose none", updateSameField},
	{"and erasure at once", updateOrDelete(erase)},
	{"and deletion at once", updateOrDelete(toTrash(9))},
}

// update changes a website and fails the test unless the answer is what is stored.
func update(t *testing.T, c store.Catalog, w analytics.Website, edit func(*analytics.Website) error) analytics.Website {
	t.Helper()
	answer := must(c.UpdateWebsite(t.Context(), w.AccountID, w.ID, edit))(t)
	same(t, "the website read after an update", answer, must(c.Website(t.Context(), w.AccountID, w.ID))(t))
	return answer
}

func updateFields(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w := createAndRead(t, c, plainWebsite(owner))
	for _, want := range []analytics.Website{fullWebsite(owner), plainWebsite(owner)} {
		want.ID = w.ID
		got := update(t, c, w, func(w *analytics.Website) error {
			*w = want
			return nil
		})
		same(t, "the changed website", want, got)
	}
	for name, change := range map[string]func(*analytics.Website){
		"URL":           func(w *analytics.Website) { w.URL = "https://www.a.example/" },
		"Privacy":       func(w *analytics.Website) { w.Privacy = access.Password },
		"PasswordHash":  func(w *analytics.Website) { w.PasswordHash = "hash" },
		"Email":         func(w *analytics.Website) { w.Email = true },
		"ExcludeBots":   func(w *analytics.Website) { w.ExcludeBots = true },
		"ExcludeParams": func(w *analytics.Website) { w.ExcludeParams = "a\nb" },
		"ExcludeIPs":    func(w *analytics.Website) { w.ExcludeIPs = "::1" },
		"Version":       func(w *analytics.Website) { w.Version++ },
		"UpdatedAt":     func(w *analytics.Website) { w.UpdatedAt = at(50) },
	} {
		want := must(c.Website(t.Context(), owner, w.ID))(t)
		change(&want)
		got := update(t, c, w, func(w *analytics.Website) error {
			change(w)
			return nil
		})
		same(t, "the website with another "+name, want, got)
	}
}

func updateIdentity(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	w, other := newWebsite(t, c, ann, "https://a.example", 0), newWebsite(t, c, bob, "https://b.example", 0)
	for _, email := range []bool{false, true} {
		want := w
		want.Email = email
		got := update(t, c, w, func(w *analytics.Website) error {
			w.ID, w.AccountID, w.Email = other.ID, bob, email
			return nil
		})
		same(t, "the website", want, got)
	}
	s := stateOf(t, c)
	if len(s.Websites[ann]) != 1 || len(s.Websites[bob]) != 1 {
		t.Errorf("the accounts have %d and %d websites, want 1 and 1", len(s.Websites[ann]), len(s.Websites[bob]))
	}
	same(t, "the website of the other account", other, must(c.Website(t.Context(), bob, other.ID))(t))
}

func updateSees(t *testing.T, c store.Catalog) {
	w := createAndRead(t, c, fullWebsite(newAccount(t, c, "ann").ID))
	update(t, c, w, func(seen *analytics.Website) error {
		same(t, "what the edit sees", w, *seen)
		return nil
	})
}

func updateError(t *testing.T, c store.Catalog) {
	w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://a.example", 0)
	for _, want := range []error{errors.New("no"), fault.Field("url", "is bad")} {
		_, err := c.UpdateWebsite(t.Context(), w.AccountID, w.ID, func(w *analytics.Website) error {
			*w = fullWebsite(w.AccountID)
			return want
		})
		if !reflect.DeepEqual(err, want) {
			t.Errorf("the error of the edit is answered as %#v, want %#v", err, want)
		}
		same(t, "the website after an error", w, must(c.Website(t.Context(), w.AccountID, w.ID))(t))
	}
}

func updateNothing(t *testing.T, c store.Catalog) {
	w := createAndRead(t, c, fullWebsite(newAccount(t, c, "ann").ID))
	for name, edit := range map[string]func(*analytics.Website) error{
		"no edit": func(*analytics.Website) error { return nil },
		"the same value": func(w *analytics.Website) error {
			return w.Edit(at(99), func(w *analytics.Website) error { w.Email = true; return nil })
		},
	} {
		same(t, name, w, update(t, c, w, edit))
	}
}

func updateOne(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	w, twin, other := newWebsite(t, c, ann, "https://a.example", 0), newWebsite(t, c, ann, "https://a.example", 0), newWebsite(t, c, bob, "https://a.example", 0)
	update(t, c, w, func(w *analytics.Website) error { return w.SetURL("https://b.example") })
	same(t, "the website with the same URL", twin, must(c.Website(t.Context(), ann, twin.ID))(t))
	same(t, "the website of the other account", other, must(c.Website(t.Context(), bob, other.ID))(t))
}

func updateListed(t *testing.T, c store.Catalog) {
	w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://old.example/a", 0)
	want := update(t, c, w, func(w *analytics.Website) error { return w.SetURL("https://münchen.de/b") })
	for search, total := range map[string]int{"": 1, "old": 0, "old.example/a": 0, "MÜNCHEN": 1, "xn--mnchen": 1, "de/b": 1} {
		for _, by := range []string{analytics.SearchByURL, analytics.SearchByDomain} {
			if search == "de/b" && by == analytics.SearchByDomain {
				continue
			}
			r := websiteRequest()
			r.Search, r.SearchBy = search, by
			page := must(c.Websites(t.Context(), w.AccountID, r))(t)
			same(t, "the list searched for "+search+" by "+by, []analytics.Website{want}[:total], page.Items)
			same(t, "the total", total, page.Total)
		}
	}
}

func updateAtOnce(t *testing.T, c store.Catalog) {
	w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://a.example", 0)
	edits := []func(*analytics.Website) error{
		func(w *analytics.Website) error { return w.SetURL("https://b.example") },
		func(w *analytics.Website) error { w.Privacy = access.Public; return nil },
		func(w *analytics.Website) error { w.PasswordHash = "hash"; return nil },
		func(w *analytics.Website) error { w.Email = true; return nil },
		func(w *analytics.Website) error { w.ExcludeBots = false; return nil },
		func(w *analytics.Website) error { w.ExcludeParams = "a"; return nil },
		func(w *analytics.Website) error { w.ExcludeIPs = "::1"; return nil },
	}
	allSucceed(t, len(edits), func(i int) error {
		_, err := c.UpdateWebsite(t.Context(), w.AccountID, w.ID, func(w *analytics.Website) error { return w.Edit(at(9), edits[i]) })
		return err
	})
	for _, edit := range edits {
		ok(t, edit(&w))
	}
	w.Version, w.UpdatedAt = int64(1+len(edits)), at(9)
	same(t, "the website after all edits", w, must(c.Website(t.Context(), w.AccountID, w.ID))(t))
}

func updateSameField(t *testing.T, c store.Catalog) {
	w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://a.example", 0)
	const n = 20
	allSucceed(t, n, func(int) error {
		_, err := c.UpdateWebsite(t.Context(), w.AccountID, w.ID, func(w *analytics.Website) error {
			time.Sleep(time.Millisecond) // an engine that lets others in between read and write loses edits here
			return w.Edit(at(9), func(w *analytics.Website) error {
				w.ExcludeParams += "x"
				return nil
			})
		})
		return err
	})
	got := must(c.Website(t.Context(), w.AccountID, w.ID))(t)
	if len(got.ExcludeParams) != n || got.Version != 1+n {
		t.Errorf("%d edits left %d characters and version %d, want %d and %d", n, len(got.ExcludeParams), got.Version, n, 1+n)
	}
}

// updateOrDelete deletes a website among updates. Those that came before the deletion are in what it left.
func updateOrDelete(how trash.Deletion) func(*testing.T, store.Catalog) {
	return func(t *testing.T, c store.Catalog) {
		w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://a.example", 0)
		errs := atOnce(20, func(i int) error {
			if i == 10 {
				return c.DeleteWebsite(t.Context(), w.AccountID, w.ID, how)
			}
			_, err := c.UpdateWebsite(t.Context(), w.AccountID, w.ID, func(w *analytics.Website) error {
				return w.Edit(at(5), func(w *analytics.Website) error {
					w.ExcludeParams += "x"
					return nil
				})
			})
			return err
		})
		ok(t, errs[10])
		updates := -1 // the deletion is none
		for _, err := range errs {
			if err == nil {
				updates++
			} else {
				wantNotFound(t, "an update after the deletion", err)
			}
		}
		_, err := c.Website(t.Context(), w.AccountID, w.ID)
		wantNotFound(t, "the website after its deletion", err)

		var back analytics.Website
		err = c.RestoreWebsite(t.Context(), w.AccountID, w.ID, &back, nil)
		if how.At.IsZero() {
			wantNotFound(t, "restoring an erased website", err)
			return
		}
		ok(t, err)
		if len(back.ExcludeParams) != updates || back.Version != int64(1+updates) {
			t.Errorf("%d updates before the deletion left %d characters and version %d", updates, len(back.ExcludeParams), back.Version)
		}
	}
}
