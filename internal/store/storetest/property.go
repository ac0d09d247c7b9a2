package storetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sightline/internal/account"
	"sightline/internal/fault"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/store/memory"
)

var propertyContracts = []contract{
	{"any sequence of calls is answered as the oracle does", answersAsOracle},
}

// answersAsOracle makes random calls on an engine and on the memory catalog. All runs share one engine, since
// some open slowly; each run has accounts of its own in it, and sees only what they own.
func answersAsOracle(t *testing.T, c store.Catalog) {
	setDefault(t, "rapid.checks", "100", "20") // few long runs find more here than many short ones
	setDefault(t, "rapid.steps", "30", "200")
	setDefault(t, "rapid.nofailfile", "false", "true") // the seed that a failure names is enough
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := &machine{ctx: context.Background(), engine: c, oracle: memory.Open(), run: run}
		m.emptyTrash(t)
		m.emptyQueue(t)
		m.createNumbered(t, 1)
		m.createNumbered(t, 2)
		t.Repeat(m.actions())
		m.compareAll(t)
	})
}

// setDefault gives one of rapid's flags another default for one test. A value from the command line or the
// environment stays.
func setDefault(t *testing.T, name, old, new string) {
	value := flag.Lookup(name).Value
	if value.String() != old {
		return
	}
	ok(t, value.Set(new))
	t.Cleanup(func() { ok(t, value.Set(old)) })
}

// A machine makes each call twice and compares the answers.
type machine struct {
	ctx                                context.Context
	engine, oracle                     store.Catalog
	run                                int // tells the e-mail addresses and secrets of runs apart
	clock                              int // grows with each account and key, which are listed oldest first
	accounts, keys, websites, projects twins
	reports                            twins
	jobs                               []twinJob
}

// actions are what a run can do. rapid prefers the first and the last in the alphabet.
func (m *machine) actions() map[string]func(*rapid.T) {
	all := m.trashActions()
	maps.Copy(all, m.recordActions())
	maps.Copy(all, m.reportActions())
	return all
}

// trashActions are those around deleted records, bulk changes, receipts and the clock.
func (m *machine) trashActions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"list trash":        m.listTrash,
		"many websites":     m.applyWebsites,
		"purge":             m.purge,
		"read receipts":     m.readReceipts,
		"restore website":   m.restoreWebsite,
		"restore project":   m.restoreProject,
		"restore project 2": m.restoreProject,
		"restore website 2": m.restoreWebsite,
		"take turn":         m.takeTurn,
		"old receipts":      m.eraseReceipts,
		"old trash":         m.purgeOlder,
	}
}

func (m *machine) recordActions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"create account": m.createAccount,
		"create owner":   m.createOwner,
		"create key":     m.createKey,
		"key by hash":    m.keyByHash,
		"revoke key":     m.revokeKey,
		"touch keys":     m.touchKeys,
		"list accounts":  m.compareAccounts,
		"list keys":      m.compareKeys,
		"list some keys": m.listKeys,

		"create website":   m.createWebsite,
		"create website 2": m.createWebsite, // what is here twice comes twice as often
		"read website":     m.readWebsite,
		"update website":   m.updateWebsite,
		"delete website":   m.deleteWebsite,
		"delete website 2": m.deleteWebsite,
		"oldest website":   m.oldestWebsite,
		"list websites":    m.listWebsites,

		"create project":   m.createProject,
		"create project 2": m.createProject,
		"read project":     m.readProject,
		"delete project":   m.deleteProject,
		"delete project 2": m.deleteProject,
		"list projects":    m.listProjects,
	}
}

// twins are the ids of the same records in the engine and in the oracle, oldest first. An engine may leave gaps.
type twins []twin

type twin struct {
	engine, oracle int64
	owner          *twin // nil for an account
}

// add notes a new record; deleted ones stay. Ids must grow.
func (all *twins) add(t *rapid.T, added twin) {
	if n := len(*all); n > 0 && added.engine <= (*all)[n-1].engine {
		t.Fatalf("a new record has id %d after id %d", added.engine, (*all)[n-1].engine)
	}
	*all = append(*all, added)
}

// any is the ids of a record that is or was there or, at times, of one that never was.
func (all twins) any(t *rapid.T, label string) twin {
	i := rapid.IntRange(0, len(all)).Draw(t, label)
	if i == len(all) {
		return twin{engine: nowhere, oracle: nowhere}
	}
	return all[i]
}

// record is the ids of any record and of its owner or, at times, of any account.
func (m *machine) record(t *rapid.T, all twins, label string) (owner, id twin) {
	id = all.any(t, label)
	if id.owner == nil || draw(t, "whose", false, false, false, true) {
		return m.accounts.any(t, "account"), id
	}
	return *id.owner, id
}

// oracle is the oracle's id of the record with an id in the engine, or 0 when there is none.
func (all twins) oracle(engine int64) int64 {
	i := slices.IndexFunc(all, func(t twin) bool { return t.engine == engine })
	if i < 0 {
		return 0
	}
	return all[i].oracle
}

// agree fails the run unless the errors of both are of one kind. It says whether both succeeded.
func agree(t *rapid.T, want, got error) bool {
	t.Helper()
	if kind(want) != kind(got) {
		t.Fatalf("the engine answers %q (%v), want %q", kind(got), got, kind(want))
	}
	if ours, theirs := first(want), first(got); ours != nil {
		theirs.AccountID = ours.AccountID // ids differ
		equal(t, ours, theirs)
	}
	return want == nil
}

// errRefused is what a check or a seal fails with on purpose.
var errRefused = errors.New("refused on purpose")

// kind is what a caller can tell from an error.
func kind(err error) string {
	var bad fault.Invalid
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, fault.NotFound):
		return "not found"
	case errors.As(err, &bad):
		return "invalid: " + bad.Error()
	case errors.Is(err, errRefused):
		return "refused"
	case first(err) != nil:
		return "used before"
	default:
		return "an unforeseen error"
	}
}

// equal fails the run unless two answers are the same.
func equal(t *rapid.T, want, got any) {
	t.Helper()
	if diff := difference(want, got); diff != "" {
		t.Fatalf("the engine differs from the oracle (-oracle +engine):\n%s", diff)
	}
}

// compareAll compares all that is stored.
func (m *machine) compareAll(t *rapid.T) {
	m.compareAccounts(t)
	m.compareKeys(t)
	for _, owner := range m.accounts {
		m.compareWebsites(t, owner, websiteRequest())
		m.compareProjects(t, owner, projectRequest())
		m.compareReports(t, owner, seo.ReportFilter{}, seo.ReportFilter{}, reportRequest())
		m.compareTrash(t, owner, allKinds, pageRequest())
		m.compareReceipts(t, owner)
	}
}

// secret is one of a few secrets of this run.
func (m *machine) secret(t *rapid.T) account.Hash {
	return account.HashSecret(fmt.Sprintf("secret %d of run %d", rapid.IntRange(1, 6).Draw(t, "secret"), m.run))
}

// draw picks one of some values.
func draw[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}
