package storetest

import (
	"crypto/rand"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"sightline/internal/account"
)

// newAccount is an account of this run. The number makes its address.
func (m *machine) newAccount(t *rapid.T, number int) account.Account {
	m.clock++
	return account.Account{
		Email:     fmt.Sprintf("user%d@run%d.example", number, m.run),
		Name:      draw(t, "name", "", "Ann", awkward),
		Timezone:  draw(t, "timezone", "UTC", "Europe/Berlin"),
		CreatedAt: at(m.clock),
	}
}

func (m *machine) newKey(t *rapid.T) account.Key {
	m.clock++
	return account.Key{
		Name:      draw(t, "name", "deploy", "O'Neill's", awkward),
		Hash:      m.secret(t),
		Scopes:    draw(t, "scopes", account.AllScopes(), account.Scopes{account.SEORead}, nil),
		CreatedAt: at(m.clock),
		ExpiresAt: draw(t, "expiry", time.Time{}, at(1_000_000)),
	}
}

// createAccount creates one of three accounts, which may be there already.
func (m *machine) createAccount(t *rapid.T) {
	m.createNumbered(t, rapid.IntRange(1, 3).Draw(t, "account"))
}

func (m *machine) createNumbered(t *rapid.T, number int) {
	a := m.newAccount(t, number)
	ours, theirs := a, a
	if agree(t, m.oracle.CreateAccount(m.ctx, &ours), m.engine.CreateAccount(m.ctx, &theirs)) {
		m.accounts.add(t, twin{theirs.ID, ours.ID, nil})
	}
}

// createOwner never creates one: a run begins with accounts.
func (m *machine) createOwner(t *rapid.T) {
	a, k := m.newAccount(t, 4), m.newKey(t)
	if created, err := m.engine.CreateOwner(m.ctx, &a, &k); created || err != nil {
		t.Fatalf("creating an owner beside other accounts answers %v, %v", created, err)
	}
}

func (m *machine) createKey(t *rapid.T) {
	owner, k := m.accounts.any(t, "account"), m.newKey(t)
	if owner.oracle == nowhere {
		k.Hash = account.HashSecret(rand.Text()) // which of two faults an engine names is its own affair
	}
	ours, theirs := k, k
	ours.AccountID, theirs.AccountID = owner.oracle, owner.engine
	ourReceipt, theirReceipt := m.someReceipt(t, owner)
	if agree(t, m.oracle.CreateKey(m.ctx, &ours, ourReceipt), m.engine.CreateKey(m.ctx, &theirs, theirReceipt)) {
		m.keys.add(t, twin{theirs.ID, ours.ID, &owner})
	}
}

func (m *machine) keyByHash(t *rapid.T) {
	hash := m.secret(t)
	want, wantErr := m.oracle.KeyByHash(m.ctx, hash)
	got, err := m.engine.KeyByHash(m.ctx, hash)
	if agree(t, wantErr, err) {
		equal(t, want, m.asOracleKey(got))
	}
}

func (m *machine) revokeKey(t *rapid.T) {
	owner, id := m.record(t, m.keys, "key")
	when := at(rapid.IntRange(0, 9).Draw(t, "second"))
	agree(t, m.oracle.RevokeKey(m.ctx, owner.oracle, id.oracle, when), m.engine.RevokeKey(m.ctx, owner.engine, id.engine, when))
}

func (m *machine) touchKeys(t *rapid.T) {
	ours, theirs := map[int64]time.Time{}, map[int64]time.Time{}
	for range rapid.IntRange(0, 3).Draw(t, "keys") {
		id, when := m.keys.any(t, "key"), at(rapid.IntRange(0, 9).Draw(t, "second"))
		ours[id.oracle], theirs[id.engine] = when, when
	}
	agree(t, m.oracle.TouchKeys(m.ctx, ours), m.engine.TouchKeys(m.ctx, theirs))
}

func (m *machine) compareAccounts(t *rapid.T) {
	want, wantErr := m.oracle.Accounts(m.ctx)
	all, err := m.engine.Accounts(m.ctx)
	agree(t, wantErr, err)
	var got []account.Account
	for _, a := range all {
		if a.ID = m.accounts.oracle(a.ID); a.ID != 0 {
			got = append(got, a)
		}
	}
	equal(t, want, got)
	for _, a := range m.accounts {
		want, wantErr := m.oracle.Account(m.ctx, a.oracle)
		got, err := m.engine.Account(m.ctx, a.engine)
		agree(t, wantErr, err)
		got.ID = m.accounts.oracle(got.ID)
		equal(t, want, got)
	}
}

func (m *machine) listKeys(t *rapid.T) {
	owner, r := m.accounts.any(t, "account"), somePage(t)
	want, wantErr := m.oracle.Keys(m.ctx, owner.oracle, r)
	got, err := m.engine.Keys(m.ctx, owner.engine, r)
	agree(t, wantErr, err)
	for i, k := range got.Items {
		got.Items[i] = m.asOracleKey(k)
	}
	equal(t, want, got)
}

func (m *machine) compareKeys(t *rapid.T) {
	want, wantErr := m.oracle.AllKeys(m.ctx)
	all, err := m.engine.AllKeys(m.ctx)
	agree(t, wantErr, err)
	var got []account.Key
	for _, k := range all {
		if k = m.asOracleKey(k); k.AccountID != 0 {
			got = append(got, k)
		}
	}
	equal(t, want, got)
}

// asOracleKey is a key of the engine with the oracle's ids.
func (m *machine) asOracleKey(k account.Key) account.Key {
	k.ID, k.AccountID = m.keys.oracle(k.ID), m.accounts.oracle(k.AccountID)
	return k
}
