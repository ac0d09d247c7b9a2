package storetest

import (
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/listing"
	"sightline/internal/store"
)

var keyContracts = []contract{
	{"every field comes back", keyFields},
	{"are listed oldest first with growing ids", keyOrder},
	{"of an account are listed without the revoked ones", keyList},
	{"of an account are paged", keyPages},
	{"a secret belongs to one key", keyUnique},
	{"one of many at once gets a secret", keyRace},
	{"need an account", keyNeedsAccount},
	{"an unknown secret is not found", keyUnknown},
	{"are revoked once", keyRevoked},
	{"one of many revocations at once wins", keyRevokedRace},
	{"remember their last use", keyTouched},
	{"remember the latest of many uses at once", keyTouchedRace},
}

const secretTaken = "exists already"

// nowhere is an id that no record has.
const nowhere = int64(1) << 40

func keyFields(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	var highest account.Hash
	for i := range highest {
		highest[i] = 0xff
	}
	want := []account.Key{
		{Name: "plain", Hash: account.HashSecret("1"), Scopes: account.AllScopes()},
		{Name: awkward, Hash: account.HashSecret("2"), Scopes: account.Scopes{account.SEORead}, ExpiresAt: at(1_000_000)},
		{Name: "two scopes", Hash: highest, Scopes: account.Scopes{account.SEOWrite, account.AccountWrite}},
		{Name: "no scope", Hash: account.Hash{}, Scopes: account.Scopes{}, ExpiresAt: time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC)},
	}
	same(t, "the keys of an empty catalog", []account.Key{}, must(c.AllKeys(t.Context()))(t))
	for i := range want {
		want[i].AccountID, want[i].CreatedAt = owner, at(i)
		k := want[i]
		ok(t, c.CreateKey(t.Context(), &k, nil))
		want[i].ID = k.ID
		same(t, "the key after its creation", want[i], k)
		same(t, "key "+want[i].Name, want[i], must(c.KeyByHash(t.Context(), want[i].Hash))(t))
	}
	same(t, "the list of keys", want, must(c.AllKeys(t.Context()))(t))
}

func keyOrder(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	want := []account.Key{
		newKey(t, c, bob, "z"), newKey(t, c, ann, "a"), newKey(t, c, bob, "m"), newKey(t, c, ann, "0"),
	}
	same(t, "the keys of all accounts", want, must(c.AllKeys(t.Context()))(t))
	for i := 1; i < len(want); i++ {
		if want[i].ID <= want[i-1].ID {
			t.Errorf("a key has id %d after id %d, want ids that grow", want[i].ID, want[i-1].ID)
		}
	}
}

func keyList(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	expired := account.Key{AccountID: ann, Name: awkward, Hash: account.HashSecret("expired"), Scopes: account.Scopes{account.SEORead, account.AccountWrite},
		CreatedAt: at(9), ExpiresAt: at(10)} // created last, stored first: the order is by id
	ok(t, c.CreateKey(t.Context(), &expired, nil))
	first, revoked := newKey(t, c, ann, "first"), newKey(t, c, ann, "revoked")
	others, last := newKey(t, c, bob, "others"), newKey(t, c, ann, "last")
	list := func(owner int64) []account.Key {
		t.Helper()
		return whole(t, "keys", must(c.Keys(t.Context(), owner, pageRequest()))(t))
	}
	same(t, "the keys of ann", []account.Key{expired, first, revoked, last}, list(ann))

	ok(t, c.RevokeKey(t.Context(), ann, revoked.ID, at(11)))
	ok(t, c.TouchKeys(t.Context(), map[int64]time.Time{first.ID: at(12)}))
	first.LastUsedAt = at(12)
	same(t, "the keys of ann after a revocation", []account.Key{expired, first, last}, list(ann))
	same(t, "the keys of bob", []account.Key{others}, list(bob))
	same(t, "the keys of no account", []account.Key{}, list(nowhere))
}

func keyPages(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	for i := range 30 {
		k := newKey(t, c, ann, numbered("ann", i))
		newKey(t, c, bob, numbered("bob", i))
		if i%4 == 0 { // 8 of them
			ok(t, c.RevokeKey(t.Context(), ann, k.ID, at(1)))
		}
	}
	checkPages(t, "the keys", 22, pageRequest(), func(r listing.Request) (listing.Page[account.Key], error) { return c.Keys(t.Context(), ann, r) })
}

func keyUnique(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	taken := newKey(t, c, ann, "secret")
	ok(t, c.RevokeKey(t.Context(), ann, taken.ID, at(1)))
	before := stateOf(t, c)
	for _, owner := range []int64{ann, bob} {
		twin := account.Key{AccountID: owner, Name: "twin", Hash: taken.Hash, Scopes: account.AllScopes(), CreatedAt: at(2)}
		wantInvalid(t, "a second key with a secret", c.CreateKey(t.Context(), &twin, nil), "key", secretTaken)
	}
	same(t, "the catalog after a refused key", before, stateOf(t, c))
}

func keyRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	lost := func(err error) bool { return invalid(err, "key", secretTaken) }
	oneWins(t, 20, lost, func(int) error {
		k := account.Key{AccountID: owner, Name: "twin", Hash: account.HashSecret("secret"), Scopes: account.AllScopes(), CreatedAt: at(0)}
		return c.CreateKey(t.Context(), &k, nil)
	})
}

func keyNeedsAccount(t *testing.T, c store.Catalog) {
	newAccount(t, c, "ann")
	k := account.Key{AccountID: nowhere, Name: "lost", Hash: account.HashSecret("secret"), Scopes: account.AllScopes(), CreatedAt: at(0)}
	wantNotFound(t, "a key for no account", c.CreateKey(t.Context(), &k, nil))
	_, err := c.KeyByHash(t.Context(), k.Hash)
	wantNotFound(t, "the key that was refused", err)
}

func keyUnknown(t *testing.T, c store.Catalog) {
	newKey(t, c, newAccount(t, c, "ann").ID, "secret")
	for _, hash := range []account.Hash{account.HashSecret("Secret"), {}} {
		_, err := c.KeyByHash(t.Context(), hash)
		wantNotFound(t, "an unknown secret", err)
	}
}

func keyRevoked(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	want, untouched := newKey(t, c, owner, "secret"), newKey(t, c, owner, "other")
	ok(t, c.RevokeKey(t.Context(), owner, want.ID, at(5)))
	want.RevokedAt = at(5)
	wantNotFound(t, "a second revocation", c.RevokeKey(t.Context(), owner, want.ID, at(9)))
	wantNotFound(t, "revoking an unknown key", c.RevokeKey(t.Context(), owner, nowhere, at(9)))
	wantNotFound(t, "revoking key 0", c.RevokeKey(t.Context(), owner, 0, at(9)))
	same(t, "the revoked key", want, must(c.KeyByHash(t.Context(), want.Hash))(t))
	same(t, "the keys", []account.Key{want, untouched}, must(c.AllKeys(t.Context()))(t))
}

func keyRevokedRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	k := newKey(t, c, owner, "secret")
	oneWins(t, 20, isNotFound, func(i int) error { return c.RevokeKey(t.Context(), owner, k.ID, at(i)) })
}

func keyTouched(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b, revoked := newKey(t, c, owner, "a"), newKey(t, c, owner, "b"), newKey(t, c, owner, "revoked")
	ok(t, c.RevokeKey(t.Context(), owner, revoked.ID, at(1)))
	steps := []struct {
		name         string
		used         map[int64]time.Time
		wantA, wantB time.Time
	}{
		{"nothing", nil, time.Time{}, time.Time{}},
		{"first use", map[int64]time.Time{a.ID: at(5)}, at(5), time.Time{}},
		{"an earlier time changes nothing", map[int64]time.Time{a.ID: at(4), b.ID: at(2)}, at(5), at(2)},
		{"later and unknown", map[int64]time.Time{a.ID: at(6), nowhere: at(7), nowhere + 1: at(8)}, at(6), at(2)},
		{"all, a revoked one too", map[int64]time.Time{a.ID: at(70), b.ID: at(71), revoked.ID: at(72)}, at(70), at(71)},
	}
	for _, step := range steps {
		ok(t, c.TouchKeys(t.Context(), step.used))
		same(t, step.name+": last use of a", step.wantA, must(c.KeyByHash(t.Context(), a.Hash))(t).LastUsedAt)
		same(t, step.name+": last use of b", step.wantB, must(c.KeyByHash(t.Context(), b.Hash))(t).LastUsedAt)
	}
	a.LastUsedAt, b.LastUsedAt, revoked.LastUsedAt, revoked.RevokedAt = at(70), at(71), at(72), at(1)
	same(t, "the keys", []account.Key{a, b, revoked}, must(c.AllKeys(t.Context()))(t))
}

func keyTouchedRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b := newKey(t, c, owner, "a"), newKey(t, c, owner, "b")
	const n = 20
	allSucceed(t, n, func(i int) error {
		return c.TouchKeys(t.Context(), map[int64]time.Time{a.ID: at(i), b.ID: at(n - i)})
	})
	same(t, "the last use of a", at(n-1), must(c.KeyByHash(t.Context(), a.Hash))(t).LastUsedAt)
	same(t, "the last use of b", at(n), must(c.KeyByHash(t.Context(), b.Hash))(t).LastUsedAt)
}
