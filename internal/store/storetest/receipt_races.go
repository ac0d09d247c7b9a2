package storetest

import (
	"fmt"
	"testing"

	"sightline/internal/receipt"
	"sightline/internal/store"
)

// twinReceipt is a receipt for one of many twins, with an answer of its own.
func twinReceipt(owner int64, twin int) *receipt.Receipt {
	r := newReceipt(owner, "one key")
	seal := r.Seal
	r.Seal = func(r *receipt.Receipt) error {
		err := seal(r)
		r.Answer = fmt.Append(r.Answer, " for twin ", twin)
		return err
	}
	return r
}

// wantOneAnswer fails the test unless one of many twins succeeded and all others were answered with its receipt.
func wantOneAnswer(t *testing.T, c store.Catalog, errs []error, receipts []*receipt.Receipt) {
	t.Helper()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			same(t, "the receipt that is kept", kept(receipts[i]), readReceipt(t, c, receipts[i]))
		}
	}
	if won != 1 {
		t.Errorf("%d of %d twins at once succeeded, want 1", won, len(errs))
	}
	stored := readReceipt(t, c, receipts[0])
	for _, err := range errs {
		if err != nil && (first(err) == nil || difference(stored, *first(err)) != "") {
			t.Errorf("a twin that came too late is answered with %v, want a receipt.Used with the first receipt", err)
			break // one such twin is enough
		}
	}
}

func receiptRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 50
	receipts := make([]*receipt.Receipt, n)
	errs := atOnce(n, func(i int) error {
		w := plainWebsite(owner)
		w.TrackingID = numbered("twin", i)
		receipts[i] = twinReceipt(owner, i)
		return c.CreateWebsite(t.Context(), &w, receipts[i])
	})
	wantOneAnswer(t, c, errs, receipts)
	same(t, "the number of websites", 1, len(stateOf(t, c).Websites[owner]))
}

// receiptTwinRace makes twins of which all but one come too late for their name, their secret or the trash as well.
func receiptTwinRace(t *testing.T, c store.Catalog) {
	const n = 20
	for _, write := range keptWrites {
		owner := newAccount(t, c, write.method).ID
		begin, receipts := write.prepare(t, c, owner), make([]*receipt.Receipt, n)
		errs := atOnce(n, func(i int) error {
			receipts[i] = twinReceipt(owner, i)
			return begin().try(receipts[i])
		})
		wantOneAnswer(t, c, errs, receipts)
		s := stateOf(t, c)
		same(t, "how many records twins of "+write.method+" left", 1, len(s.Websites[owner])+len(s.Projects[owner])+len(must(c.Keys(t.Context(), owner, pageRequest()))(t).Items))
	}
}

func receiptsAtOnce(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 30
	receipts := make([]*receipt.Receipt, n)
	allSucceed(t, n, func(i int) error {
		w := plainWebsite(owner)
		w.TrackingID = numbered("tracking", i)
		receipts[i] = newReceipt(owner, numbered("key", i))
		return c.CreateWebsite(t.Context(), &w, receipts[i])
	})
	for _, r := range receipts {
		same(t, "the receipt", kept(r), readReceipt(t, c, r))
	}
	same(t, "the number of websites", n, len(stateOf(t, c).Websites[owner]))
}
