package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sightline/internal/access"
	"sightline/internal/analytics"
	"sightline/internal/site"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var websiteContracts = []contract{
	{"every field comes back", websiteFields},
	{"the longest texts come back", websiteLongest},
	{"need an account", websiteNeedsAccount},
	{"the same site may be registered again", websiteTwice},
	{"are erased once", websiteDeleted(erase)},
	{"go into the trash once", websiteDeleted(toTrash(9))},
	{"one of many erasures at once wins", websiteDeletedRace(erase)},
	{"one of many deletions at once wins", websiteDeletedRace(toTrash(9))},
	{"ids grow and are never reused", websiteIDs},
	{"created at once all get their own id", websiteCreatedAtOnce},
	{"the oldest of a domain", websiteOldest},
}

// plainWebsite has nothing set that can be left empty, fullWebsite all of it.
func plainWebsite(owner int64) analytics.Website {
	return analytics.Website{AccountID: owner, URL: "https://a.example", Domain: "a.example", TrackingID: "plain", Version: 1, CreatedAt: at(0), UpdatedAt: at(0)}
}

func fullWebsite(owner int64) analytics.Website {
	return analytics.Website{
		AccountID: owner, URL: `http://xn--mnchen-3ya.de:8080/Straße/é/e` + "\u0301" + `?q=100%_'"\&x=日本語👩‍👩‍👧#--`, Domain: "xn--mnchen-3ya.de:8080",
		Privacy: access.Password, PasswordHash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA+/",
		Email: true, ExcludeBots: true, ExcludeParams: "utm_*\nfb%clid\r\n\\n, '; \"&\"\n" + awkward, ExcludeIPs: "10.0.0.0/8\n::1\n\n192.168.*",
		TrackingID: "4xJ0000000000000000zZ9", Version: 7, CreatedAt: at(1), UpdatedAt: at(100_000),
	}
}

// createAndRead stores a website and fails the test unless the same is read again, alone and in a list.
func createAndRead(t *testing.T, c store.Catalog, w analytics.Website) analytics.Website {
	t.Helper()
	want := w
	ok(t, c.CreateWebsite(t.Context(), &w, nil))
	if w.ID <= 0 {
		t.Fatalf("a new website has id %d", w.ID)
	}
	want.ID = w.ID
	same(t, "the website after its creation", want, w)
	same(t, "the website read", want, must(c.Website(t.Context(), w.AccountID, w.ID))(t))
	listed := must(c.Websites(t.Context(), w.AccountID, websiteRequest()))(t).Items
	if i := slices.IndexFunc(listed, func(l analytics.Website) bool { return l.ID == w.ID }); i < 0 {
		t.Errorf("website %d is not in the list", w.ID)
	} else {
		same(t, "the website in the list", want, listed[i])
	}
	return w
}

func websiteFields(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	createAndRead(t, c, plainWebsite(owner))
	createAndRead(t, c, fullWebsite(owner))
	for _, privacy := range []access.Privacy{access.Public, access.Private, access.Password} {
		w := plainWebsite(owner)
		w.Privacy, w.TrackingID = privacy, numbered("privacy", int(privacy))
		createAndRead(t, c, w)
	}
	for i, change := range []func(*analytics.Website){
		func(w *analytics.Website) { w.Email = true },
		func(w *analytics.Website) { w.ExcludeBots = true },
		func(w *analytics.Website) { w.PasswordHash = "set" },
		func(w *analytics.Website) { w.ExcludeParams = "NULL" },
		func(w *analytics.Website) { w.ExcludeIPs = "null" },
		func(w *analytics.Website) { w.UpdatedAt = time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC) },
	} {
		w := plainWebsite(owner)
		w.TrackingID = numbered("change", i)
		change(&w)
		createAndRead(t, c, w)
	}
}

func websiteLongest(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	host := strings.Repeat(strings.Repeat("a", 62)+".", 4)[:250]
	for i, start := range []string{"https://" + host + "/", "https://xn--mnchen-3ya.de/é/"} {
		w := fullWebsite(owner)
		w.TrackingID = numbered("long", i)
		ok(t, w.SetURL(start+noise(site.MaxURL-len(start))))
		if len(w.URL) != site.MaxURL {
			t.Fatalf("the URL has %d bytes", len(w.URL))
		}
		w.ExcludeParams = strings.Repeat(awkward+"\n", 60_000/len(awkward))
		w.ExcludeIPs = noise(60_000)
		createAndRead(t, c, w)

		r := websiteRequest()
		r.Search = strings.ToUpper(w.URL[len(w.URL)-200:])
		if total := must(c.Websites(t.Context(), owner, r))(t).Total; total != 1 {
			t.Errorf("a search for 200 characters of a long URL finds %d websites, want 1", total)
		}
	}
}

func websiteNeedsAccount(t *testing.T, c store.Catalog) {
	newAccount(t, c, "ann")
	w := plainWebsite(nowhere)
	wantNotFound(t, "a website for no account", c.CreateWebsite(t.Context(), &w, nil))
	if page := must(c.Websites(t.Context(), nowhere, websiteRequest()))(t); page.Total != 0 || len(page.Items) != 0 {
		t.Errorf("the list of an account that does not exist has %d rows of %d", len(page.Items), page.Total)
	}
}

func websiteTwice(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	first, second := newWebsite(t, c, owner, "https://a.example", 0), newWebsite(t, c, owner, "https://a.example", 0)
	same(t, "the first", first, must(c.Website(t.Context(), owner, first.ID))(t))
	same(t, "the second", second, must(c.Website(t.Context(), owner, second.ID))(t))
}

func websiteDeleted(how trash.Deletion) func(*testing.T, store.Catalog) {
	return func(t *testing.T, c store.Catalog) {
		owner := newAccount(t, c, "ann").ID
		kept, gone := newWebsite(t, c, owner, "https://a.example", 0), newWebsite(t, c, owner, "https://a.example", 0)
		ok(t, c.DeleteWebsite(t.Context(), owner, gone.ID, how))
		for _, id := range []int64{gone.ID, nowhere, 0, -1} {
			what := numbered("website", int(id))
			_, err := c.Website(t.Context(), owner, id)
			wantNotFound(t, "reading "+what, err)
			wantNotFound(t, "erasing "+what, c.DeleteWebsite(t.Context(), owner, id, erase))
			wantNotFound(t, "deleting "+what, c.DeleteWebsite(t.Context(), owner, id, toTrash(10)))
			_, err = c.UpdateWebsite(t.Context(), owner, id, func(*analytics.Website) error {
				t.Errorf("the edit of %s was called", what)
				return nil
			})
			wantNotFound(t, "updating "+what, err)
		}
		page := must(c.Websites(t.Context(), owner, websiteRequest()))(t)
		same(t, "the list after a deletion", []analytics.Website{kept}, whole(t, "websites", page))
	}
}

func websiteDeletedRace(how trash.Deletion) func(*testing.T, store.Catalog) {
	return func(t *testing.T, c store.Catalog) {
		owner := newAccount(t, c, "ann").ID
		w, other := newWebsite(t, c, owner, "https://a.example", 0), newWebsite(t, c, owner, "https://b.example", 0)
		oneWins(t, 20, isNotFound, func(int) error { return c.DeleteWebsite(t.Context(), owner, w.ID, how) })
		page := must(c.Websites(t.Context(), owner, websiteRequest()))(t)
		same(t, "the list", []analytics.Website{other}, whole(t, "websites", page))
	}
}

func websiteIDs(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	last := int64(0)
	for i := range 10 {
		owner := []int64{ann, bob}[i%2]
		w := newWebsite(t, c, owner, "https://a.example", 0)
		if w.ID <= last {
			t.Errorf("a website has id %d after id %d, want ids that grow", w.ID, last)
		}
		last = w.ID
		if i%3 > 0 {
			ok(t, c.DeleteWebsite(t.Context(), owner, w.ID, erase))
		}
	}
}

func websiteCreatedAtOnce(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 30
	ids := make([]int64, n)
	allSucceed(t, n, func(i int) error {
		w := analytics.NewWebsite(owner, at(i))
		if err := w.SetURL(numbered("https://site", i) + ".example"); err != nil {
			return err
		}
		err := c.CreateWebsite(t.Context(), &w, nil)
		ids[i] = w.ID
		return err
	})
	for i, id := range ids {
		want := numbered("site", i) + ".example"
		if got := must(c.Website(t.Context(), owner, id))(t).Domain; got != want {
			t.Errorf("website %d is %s, want %s", id, got, want)
		}
	}
	if page := must(c.Websites(t.Context(), owner, websiteRequest()))(t); page.Total != n || len(page.Items) != n {
		t.Errorf("the list has %d rows of %d, want %d", len(page.Items), page.Total, n)
	}
}

func websiteOldest(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	newWebsite(t, c, bob, "https://a.example", 0)
	other := newWebsite(t, c, ann, "https://a.example.org", 0)
	first := newWebsite(t, c, ann, "https://www.a.example/z", 9)
	second := newWebsite(t, c, ann, "http://a.example", 0)
	oldest := func(want int64) {
		t.Helper()
		if got := must(c.OldestWebsite(t.Context(), ann, "a.example"))(t); got != want {
			t.Errorf("the oldest of a.example is %d, want %d", got, want)
		}
	}
	oldest(first.ID)
	ok(t, c.DeleteWebsite(t.Context(), ann, first.ID, erase))
	oldest(second.ID)
	must(c.UpdateWebsite(t.Context(), ann, other.ID, func(w *analytics.Website) error { return w.SetURL("https://a.example") }))(t)
	oldest(other.ID)
	for _, domain := range []string{"a.example.org", "a.exampl_", "%", "A.EXAMPLE", "www.a.example", ""} {
		_, err := c.OldestWebsite(t.Context(), ann, domain)
		wantNotFound(t, "the oldest of "+domain, err)
	}
}
