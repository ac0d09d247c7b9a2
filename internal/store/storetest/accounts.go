package storetest

import (
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/store"
)

var accountContracts = []contract{
	{"every field comes back", accountFields},
	{"an unknown one is not found", accountUnknown},
	{"are listed oldest first with growing ids", accountOrder},
	{"an address has one account", accountUnique},
	{"one of many at once gets an address", accountRace},
	{"the owner comes first or not at all", ownerFirst},
	{"one of many owners at once wins", ownerRace},
}

const emailTaken = "has an account already"

func accountFields(t *testing.T, c store.Catalog) {
	want := []account.Account{
		{Email: "plain@example.com", CreatedAt: at(0)},
		{Email: "full+%_'@example.com", Name: awkward, Timezone: "America/Argentina/Buenos_Aires", CreatedAt: at(1)},
		{Email: "grüße@xn--mnchen-3ya.de", Name: noise(1000), Timezone: "UTC", CreatedAt: time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC)},
	}
	same(t, "the accounts of an empty catalog", []account.Account{}, must(c.Accounts(t.Context()))(t))
	for i := range want {
		a := want[i]
		ok(t, c.CreateAccount(t.Context(), &a))
		want[i].ID = a.ID
		same(t, "the account after its creation", want[i], a)
		same(t, "the account read", want[i], must(c.Account(t.Context(), a.ID))(t))
	}
	same(t, "the list of accounts", want, must(c.Accounts(t.Context()))(t))
}

func accountUnknown(t *testing.T, c store.Catalog) {
	newAccount(t, c, "ann")
	for _, id := range []int64{nowhere, 0, -1} {
		_, err := c.Account(t.Context(), id)
		wantNotFound(t, numbered("account", int(id)), err)
	}
}

func accountOrder(t *testing.T, c store.Catalog) {
	for _, name := range []string{"zoe", "adam", "mia"} {
		newAccount(t, c, name)
	}
	var names []string
	last := int64(0)
	for _, a := range must(c.Accounts(t.Context()))(t) {
		names = append(names, a.Email)
		if a.ID <= last {
			t.Errorf("%s has id %d after id %d, want ids that grow", a.Email, a.ID, last)
		}
		last = a.ID
	}
	same(t, "the order of accounts", []string{"zoe@example.com", "adam@example.com", "mia@example.com"}, names)
}

func accountUnique(t *testing.T, c store.Catalog) {
	newAccount(t, c, "ann")
	before := stateOf(t, c)
	twin := account.New("ann@example.com", at(1))
	wantInvalid(t, "a second account with an address", c.CreateAccount(t.Context(), &twin), "email", emailTaken)
	same(t, "the catalog after a refused account", before, stateOf(t, c))
	newAccount(t, c, "ann2")
}

func accountRace(t *testing.T, c store.Catalog) {
	lost := func(err error) bool { return invalid(err, "email", emailTaken) }
	oneWins(t, 20, lost, func(int) error {
		a := account.New("ann@example.com", at(0))
		return c.CreateAccount(t.Context(), &a)
	})
	if accounts := must(c.Accounts(t.Context()))(t); len(accounts) != 1 {
		t.Errorf("%d accounts with one address", len(accounts))
	}
}

// owner is the first account of an installation with its key, not stored yet.
func owner(secret string) (account.Account, account.Key) {
	return account.New("owner@localhost", at(0)),
		account.Key{Name: "first", Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: at(0)}
}

func ownerFirst(t *testing.T, c store.Catalog) {
	a, k := owner("the first secret")
	if !must(c.CreateOwner(t.Context(), &a, &k))(t) {
		t.Fatal("the owner of an empty catalog was not created")
	}
	if a.ID == 0 || k.ID == 0 || k.AccountID != a.ID {
		t.Errorf("the owner has id %d, its key id %d and account %d", a.ID, k.ID, k.AccountID)
	}
	want := stateOf(t, c)
	same(t, "the accounts", []account.Account{a}, want.Accounts)
	same(t, "the keys", []account.Key{k}, want.Keys)
	same(t, "the first key", k, must(c.KeyByHash(t.Context(), account.HashSecret("the first secret")))(t))

	other, otherKey := owner("another secret")
	other.Email = "other@localhost"
	if must(c.CreateOwner(t.Context(), &other, &otherKey))(t) {
		t.Error("a second owner was created")
	}
	same(t, "the catalog after a second owner", want, stateOf(t, c))
	newAccount(t, c, "later")
}

func ownerRace(t *testing.T, c store.Catalog) {
	const n = 20
	won := make([]bool, n)
	allSucceed(t, n, func(i int) error {
		a, k := owner(numbered("secret", i))
		a.Email = numbered("owner", i) + "@localhost"
		var err error
		won[i], err = c.CreateOwner(t.Context(), &a, &k)
		return err
	})
	winners := 0
	for _, w := range won {
		if w {
			winners++
		}
	}
	s := stateOf(t, c)
	if winners != 1 || len(s.Accounts) != 1 || len(s.Keys) != 1 {
		t.Errorf("%d of %d owners won and left %d accounts and %d keys, want 1 of each", winners, n, len(s.Accounts), len(s.Keys))
	}
}
