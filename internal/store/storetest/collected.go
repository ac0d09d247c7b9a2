package storetest

import (
	"bytes"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var collectedContracts = []contract{
	{"a website is found by its tracking id", trackedByID},
	{"a website is found by its domain, the oldest of all accounts", trackedByDomain},
	{"deletions, restorations and changes act at once", trackedChanges},
	{"the first salt of a day is that of the day", saltsOfDays},
	{"one salt of many at once wins", saltRace},
	{"old salts are erased", saltsErased},
	{"whatever erases a website leaves a note of it", erasures},
}

func trackedByID(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann"), newAccount(t, c, "bob")
	for _, owner := range []int64{ann.ID, bob.ID} {
		w := newWebsite(t, c, owner, "https://example.com", 0)
		same(t, "the website", w, must(c.TrackedWebsite(t.Context(), w.TrackingID))(t))
	}
	for _, none := range []string{"", "nobody", awkward, "\x00", "\xff", noise(5000)} {
		_, err := c.TrackedWebsite(t.Context(), none)
		wantNotFound(t, "a tracking id that nobody has", err)
		_, err = c.TrackedDomain(t.Context(), none)
		wantNotFound(t, "a domain that nobody has", err)
	}
}

func trackedByDomain(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann"), newAccount(t, c, "bob")
	newWebsite(t, c, bob.ID, "https://other.example", 0)
	first := newWebsite(t, c, bob.ID, "https://example.com/shop", 9)
	second := newWebsite(t, c, ann.ID, "https://www.example.com", 1)
	same(t, "the oldest", first, must(c.TrackedDomain(t.Context(), "example.com"))(t))
	ok(t, c.DeleteWebsite(t.Context(), bob.ID, first.ID, toTrash(10)))
	same(t, "the next", second, must(c.TrackedDomain(t.Context(), "example.com"))(t))
}

func trackedChanges(t *testing.T, c store.Catalog) {
	ann := newAccount(t, c, "ann")
	w := newWebsite(t, c, ann.ID, "https://example.com", 0)
	changed := must(c.UpdateWebsite(t.Context(), ann.ID, w.ID, func(w *analytics.Website) error {
		w.ExcludeIPs, w.ExcludeBots, w.Version = "192.0.2.0/24", false, w.Version+1
		return w.SetURL("https://moved.example")
	}))(t)
	same(t, "after a change", changed, must(c.TrackedWebsite(t.Context(), w.TrackingID))(t))
	same(t, "at its new domain", changed, must(c.TrackedDomain(t.Context(), "moved.example"))(t))
	_, err := c.TrackedDomain(t.Context(), "example.com")
	wantNotFound(t, "at its old domain", err)

	ok(t, c.DeleteWebsite(t.Context(), ann.ID, w.ID, toTrash(5)))
	_, err = c.TrackedWebsite(t.Context(), w.TrackingID)
	wantNotFound(t, "after its deletion", err)
	_, err = c.TrackedDomain(t.Context(), "moved.example")
	wantNotFound(t, "after its deletion", err)

	var restored analytics.Website
	ok(t, c.RestoreWebsite(t.Context(), ann.ID, w.ID, &restored, nil))
	same(t, "after its restoration", restored, must(c.TrackedWebsite(t.Context(), w.TrackingID))(t))
	same(t, "after its restoration", restored, must(c.TrackedDomain(t.Context(), "moved.example"))(t))
}

func saltsOfDays(t *testing.T, c store.Catalog) {
	midnight := time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC)
	_, err := c.Salt(t.Context(), midnight, nil)
	wantNotFound(t, "a day without a salt", err)
	salt := func(at time.Time, fresh string) string {
		t.Helper()
		return string(must(c.Salt(t.Context(), at, []byte(fresh)))(t))
	}
	same(t, "the first", "one\x00\xff", salt(midnight, "one\x00\xff"))
	same(t, "the second", "one\x00\xff", salt(midnight.Add(24*time.Hour-time.Second), "two"))
	same(t, "another zone", "one\x00\xff", salt(midnight.Add(time.Hour).In(time.FixedZone("west", -5*3600)), "three"))
	same(t, "tomorrow", "four", salt(midnight.Add(24*time.Hour), "four"))
	same(t, "yesterday", "five", salt(midnight.Add(-time.Second), "five"))
	same(t, "without another", "one\x00\xff", string(must(c.Salt(t.Context(), midnight, nil))(t)))
}

func saltRace(t *testing.T, c store.Catalog) {
	const n = 20
	salts := make([][]byte, n)
	allSucceed(t, n, func(i int) (err error) {
		salts[i], err = c.Salt(t.Context(), at(0), []byte{byte(i)})
		return err
	})
	for _, salt := range salts {
		if len(salt) != 1 || !bytes.Equal(salt, salts[0]) {
			t.Fatalf("salts of one day: %v", salts)
		}
	}
}

func saltsErased(t *testing.T, c store.Catalog) {
	days := func(n int) time.Time { return at(0).AddDate(0, 0, n) }
	for n := range 4 {
		must(c.Salt(t.Context(), days(n), []byte{byte(n)}))(t)
	}
	ok(t, c.EraseSalts(t.Context(), days(2)))
	ok(t, c.EraseSalts(t.Context(), days(2)))
	for n := range 4 {
		salt, err := c.Salt(t.Context(), days(n), nil)
		if n < 2 {
			wantNotFound(t, "an erased salt", err)
		} else {
			same(t, "a salt that is kept", []byte{byte(n)}, must(salt, err)(t))
		}
	}
}

func erasures(t *testing.T, c store.Catalog) {
	ann := newAccount(t, c, "ann").ID
	var ids []int64
	for range 5 {
		ids = append(ids, newWebsite(t, c, ann, "https://example.com", 0).ID)
	}
	ok(t, c.DeleteWebsite(t.Context(), ann, ids[0], trash.Deletion{})) // for good
	for _, id := range ids[1:4] {
		ok(t, c.DeleteWebsite(t.Context(), ann, id, toTrash(1)))
	}
	must(c.Purge(t.Context(), ann, trash.Website, ids[1], anyVersion))(t)
	same(t, "those that were erased", ids[:2], must(c.Erasures(t.Context(), 0, 10))(t))
	same(t, "the number purged", 2, must(c.PurgeOlder(t.Context(), at(2), 10))(t))
	same(t, "those that were erased then", ids[:4], must(c.Erasures(t.Context(), 0, 10))(t))
	same(t, "the first of them", ids[:2], must(c.Erasures(t.Context(), 0, 2))(t))
	same(t, "those that were erased an hour ago", []int64{}, must(c.Erasures(t.Context(), time.Hour, 10))(t))
	for range 2 {
		ok(t, c.ForgetErasure(t.Context(), ids[1]))
	}
	same(t, "those that are left", []int64{ids[0], ids[2], ids[3]}, must(c.Erasures(t.Context(), 0, 10))(t))
}
