package storetest

import (
	"crypto/sha256"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"sightline/internal/analytics"
	"sightline/internal/receipt"
)

// The operations and keys of the receipts: few, so that they collide.
var (
	someOperations = []string{"POST /a", "POST /b"}
	someKeys       = []string{"key", "Key", awkward}
)

// someReceipt is a receipt of an account for the oracle and one for the engine, or none.
func (m *machine) someReceipt(t *rapid.T, owner twin) (ours, theirs *receipt.Receipt) {
	if !draw(t, "receipt", true, false) {
		return nil, nil
	}
	request := draw(t, "request", "", "a", "b")
	r := receipt.Receipt{
		Operation: draw(t, "operation", someOperations...), Key: draw(t, "key", someKeys...),
		Request: sha256.Sum256([]byte(request)), CreatedAt: someTime(t),
	}
	var refused error
	if !draw(t, "sealed", true, true, true, false) {
		refused = errRefused
		m.clock++
		r.Key = numbered("refused", m.clock) // which of two faults an engine names is its own affair
	}
	status := rapid.IntRange(200, 204).Draw(t, "status")
	r.Seal = func(r *receipt.Receipt) error {
		r.Status, r.Header, r.Answer = status, map[string]string{"X": awkward}, []byte("answer to "+request)
		return refused
	}
	ours, theirs = &receipt.Receipt{}, &receipt.Receipt{}
	*ours, *theirs = r, r
	ours.AccountID, theirs.AccountID = owner.oracle, owner.engine
	return ours, theirs
}

func (m *machine) readReceipts(t *rapid.T) {
	m.compareReceipts(t, m.accounts.any(t, "account"))
}

// compareReceipts compares all receipts that an account may have.
func (m *machine) compareReceipts(t *rapid.T, owner twin) {
	for _, operation := range someOperations {
		for _, key := range someKeys {
			want, wantErr := m.oracle.Receipt(m.ctx, owner.oracle, operation, key)
			got, err := m.engine.Receipt(m.ctx, owner.engine, operation, key)
			if agree(t, wantErr, err) {
				got.AccountID = m.accounts.oracle(got.AccountID)
				equal(t, want, got)
			}
		}
	}
}

// eraseReceipts does not compare how many went: the engine may still have some of an earlier run.
func (m *machine) eraseReceipts(t *rapid.T) {
	before := at(rapid.IntRange(0, 2).Draw(t, "before"))
	_, wantErr := m.oracle.EraseReceipts(m.ctx, before, 100_000)
	_, err := m.engine.EraseReceipts(m.ctx, before, 100_000)
	agree(t, wantErr, err)
}

// A bulkChange creates the websites that are missing and edits the others. It notes what it found and what it returned.
type bulkChange struct {
	missing []analytics.Website // one for each domain
	edit    func(*analytics.Website) error

	found   map[string]analytics.Website
	edited  []*analytics.Website
	created []bool // which of them
}

func (b *bulkChange) apply(found map[string]analytics.Website) ([]*analytics.Website, error) {
	b.found, b.edited, b.created = maps.Clone(found), nil, nil
	for _, w := range b.missing {
		there, isThere := found[w.Domain]
		if isThere {
			w = there
			if err := b.edit(&w); err != nil {
				return nil, err
			}
		}
		b.edited, b.created = append(b.edited, &w), append(b.created, !isThere)
	}
	return b.edited, nil
}

func (m *machine) applyWebsites(t *rapid.T) {
	owner, edit := m.accounts.any(t, "account"), someEdit(t)
	var domains []string
	var missing []analytics.Website
	for range rapid.IntRange(0, 6).Draw(t, "websites") {
		w := analytics.NewWebsite(0, someTime(t))
		if err := w.SetURL(draw(t, "url", someURLs...)); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(domains, w.Domain) {
			missing = append(missing, w)
		}
		domains = append(domains, w.Domain)
	}
	ours, theirs := bulkChange{missing: missing, edit: edit}, bulkChange{missing: missing, edit: edit}
	succeeded := agree(t, m.oracle.ApplyWebsites(m.ctx, owner.oracle, domains, ours.apply), m.engine.ApplyWebsites(m.ctx, owner.engine, domains, theirs.apply))
	for domain, w := range theirs.found {
		theirs.found[domain] = m.asOracleWebsite(w)
	}
	equal(t, ours.found, theirs.found)
	if !succeeded {
		return
	}
	for i, w := range theirs.edited {
		if ours.created[i] {
			m.websites.add(t, twin{w.ID, ours.edited[i].ID, &owner})
		}
		equal(t, *ours.edited[i], m.asOracleWebsite(*w))
	}
}
