package storetest

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/store"
)

func receiptFields(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	var everyByte [256]byte
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	for i, r := range []receipt.Receipt{
		{Operation: "POST /", Key: "plain", Status: 200},
		{Operation: "POST /api/v1/trash/website/7/restore", Key: strings.Repeat("k", 255), Status: 201, Answer: []byte(`{"data": null}` + "\n"), Request: sha256.Sum256(nil)},
		{Operation: awkward, Key: awkward, Status: 299, Header: map[string]string{"X": ""}, Answer: everyByte[:]},
		{Operation: someOperation, Key: " ", Status: 201, Header: map[string]string{"Location": "https://xn--mnchen-3ya.de/" + awkward, "ETag": `"7"`, awkward: "\t<>&\u2028"}},
		{Operation: someOperation, Key: "big", Status: 200, Answer: []byte(noise(100 << 10)), Header: map[string]string{"Long": noise(5_000)}},
		{Operation: someOperation, Key: "late", Status: 200, CreatedAt: time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC)},
	} {
		r.AccountID = owner
		if r.CreatedAt.IsZero() {
			r.CreatedAt = at(i)
		}
		w := plainWebsite(owner)
		w.TrackingID = numbered("receipt", i)
		want := kept(&r)
		ok(t, c.CreateWebsite(t.Context(), &w, &r))
		same(t, "the receipt "+r.Key, want, readReceipt(t, c, &r))
		w.TrackingID = numbered("again", i)
		again := newReceipt(owner, r.Key)
		again.Operation = r.Operation
		wantUsed(t, "the same key again", c.CreateWebsite(t.Context(), &w, again), want)
	}
}

func receiptSealed(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for _, write := range keptWrites {
		one, r := write.prepare(t, c, owner)(), newReceipt(owner, write.method)
		seal, sealed := r.Seal, any(nil)
		r.Seal = func(given *receipt.Receipt) error {
			if given != r {
				t.Errorf("%s seals another receipt than the one it was given", write.method)
			}
			sealed = one.record()
			return seal(given)
		}
		ok(t, one.try(r))
		same(t, write.method+": the record when the receipt is sealed", written(t, c, one.record()), sealed)
		same(t, write.method+": the answer", "the answer to "+write.method, string(r.Answer))
		same(t, write.method+": the receipt", kept(r), readReceipt(t, c, r))
	}
}

func receiptNotSealed(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for _, write := range keptWrites {
		begin := write.prepare(t, c, owner)
		before := stateOf(t, c)
		r := newReceipt(owner, write.method)
		broken := errors.New("cannot seal")
		r.Seal = func(*receipt.Receipt) error { return broken }
		if err := begin().try(r); !errors.Is(err, broken) {
			t.Errorf("%s answers %v, want the error of the seal", write.method, err)
		}
		same(t, "the catalog after a broken "+write.method, before, stateOf(t, c))
		wantNoReceipt(t, c, "the receipt of a broken "+write.method, r)

		r = newReceipt(owner, write.method) // all is free again: the key, the name, the secret
		again := begin()
		ok(t, again.try(r))
		written(t, c, again.record())
		same(t, "the receipt of "+write.method+" in the end", kept(r), readReceipt(t, c, r))
	}
}

func receiptUsed(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, taken := plainWebsite(owner), newReceipt(owner, "taken")
	ok(t, c.CreateWebsite(t.Context(), &w, taken))
	for _, write := range keptWrites {
		begin := write.prepare(t, c, owner)
		before := stateOf(t, c)
		total := must(c.Websites(t.Context(), owner, websiteRequest()))(t).Total
		for i := range 2 {
			r := newReceipt(owner, "taken")
			r.Request, r.CreatedAt = sha256.Sum256([]byte{byte(i)}), at(50)
			wantUsed(t, write.method+" with a key that was used", begin().try(r), kept(taken))
		}
		same(t, "the catalog after "+write.method+" with a key that was used", before, stateOf(t, c))
		same(t, "the number of websites", total, must(c.Websites(t.Context(), owner, websiteRequest()))(t).Total)
		same(t, "the receipt", kept(taken), readReceipt(t, c, taken))
		again := begin()
		ok(t, again.try(newReceipt(owner, "free for "+write.method)))
		written(t, c, again.record())
	}
}

// receiptTwin sends each write again with its own key. By then its name or secret is taken, or the trash empty.
func receiptTwin(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for _, write := range keptWrites {
		begin := write.prepare(t, c, owner)
		r := newReceipt(owner, write.method)
		ok(t, begin().try(r))
		before := stateOf(t, c)
		for range 2 {
			wantUsed(t, "a twin of "+write.method, begin().try(newReceipt(owner, write.method)), kept(r))
		}
		same(t, "the catalog after a twin of "+write.method, before, stateOf(t, c))
	}
}

func receiptOfFailure(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	newProject(t, c, owner, "taken.example", 0)
	newKey(t, c, owner, "taken")
	before := stateOf(t, c)
	r := newReceipt(owner, "failed")
	p := seo.NewProject(owner, at(1))
	p.Name = "taken.example"
	wantInvalid(t, "a project whose name is taken", c.CreateProject(t.Context(), &p, r), "project", nameTaken)
	wantNoReceipt(t, c, "the receipt of a project whose name is taken", r)
	k := account.Key{AccountID: owner, Name: "twin", Hash: account.HashSecret("taken"), Scopes: account.AllScopes(), CreatedAt: at(0)}
	wantInvalid(t, "a key whose secret is taken", c.CreateKey(t.Context(), &k, r), "key", secretTaken)
	wantNoReceipt(t, c, "the receipt of a key whose secret is taken", r)
	var w analytics.Website
	wantNotFound(t, "a website that is not in the trash", c.RestoreWebsite(t.Context(), owner, nowhere, &w, r))
	wantNotFound(t, "a project that is not in the trash", c.RestoreProject(t.Context(), owner, nowhere, &p, r))
	wantNoReceipt(t, c, "the receipt of a restore that failed", r)
	w = plainWebsite(nowhere)
	wantNotFound(t, "a website for no account", c.CreateWebsite(t.Context(), &w, newReceipt(nowhere, "failed")))
	wantNoReceipt(t, c, "the receipt of no account", newReceipt(nowhere, "failed"))
	same(t, "the catalog after all failures", before, stateOf(t, c))
	w = plainWebsite(owner)
	ok(t, c.CreateWebsite(t.Context(), &w, r))
}

func receiptIdentity(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	var all []*receipt.Receipt
	for _, owner := range []int64{ann, bob} {
		for _, operation := range []string{someOperation, "post /api/v1/websites", "POST /api/v1/projects", "POST /api/v1/websites/"} {
			for _, key := range []string{"key", "Key", "key ", "ke_", "ke%", "k\u00e9y", "ke\u0301y"} {
				r := newReceipt(owner, key)
				r.Operation = operation
				r.Request = sha256.Sum256(fmt.Append(nil, owner, operation, key))
				w := plainWebsite(owner)
				w.TrackingID = rand.Text()
				ok(t, c.CreateWebsite(t.Context(), &w, r))
				all = append(all, r)
			}
		}
	}
	for _, r := range all {
		same(t, "the receipt", kept(r), readReceipt(t, c, r))
	}
	for _, key := range []string{"", "KEY", "ke", "key\n", "k_y", "%"} {
		wantNoReceipt(t, c, "the receipt of key "+key, newReceipt(ann, key))
	}
}

func receiptCopies(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, r := plainWebsite(owner), newReceipt(owner, "key")
	ok(t, c.CreateWebsite(t.Context(), &w, r))
	want := kept(r)
	spoil := func(r *receipt.Receipt) { r.Answer[0], r.Header["Location"] = 'X', "elsewhere" }
	spoil(r)
	read := readReceipt(t, c, r)
	same(t, "the receipt after the caller's has changed", want, read)
	spoil(&read)
	w.TrackingID = "another"
	used := first(c.CreateWebsite(t.Context(), &w, newReceipt(owner, "key")))
	if used == nil {
		t.Fatal("the key can be used again")
	}
	same(t, "the receipt after one that was read has changed", want, *used)
	spoil(used)
	same(t, "the receipt after one in an error has changed", want, readReceipt(t, c, r))
}

func receiptErased(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	var all []*receipt.Receipt
	for i := range 10 {
		r := newReceipt([]int64{ann, bob}[i%2], numbered("key", i))
		r.CreatedAt = at(i)
		w := plainWebsite(r.AccountID)
		w.TrackingID = rand.Text()
		ok(t, c.CreateWebsite(t.Context(), &w, r))
		all = append(all, r)
	}
	before := stateOf(t, c)
	for _, step := range []struct{ before, limit, want, erased int }{{0, 9, 0, 0}, {4, 9, 4, 4}, {4, 9, 0, 4}, {5, 0, 0, 4}, {5, 1, 1, 5}, {10, 3, 3, 8}, {10, 2, 2, 10}, {10, 9, 0, 10}} {
		same(t, "the number erased", step.want, must(c.EraseReceipts(t.Context(), at(step.before), step.limit))(t))
		for i, r := range all {
			if i < step.erased {
				wantNoReceipt(t, c, "a receipt that was erased", r)
			} else {
				same(t, "a receipt that is left", kept(r), readReceipt(t, c, r))
			}
		}
	}
	same(t, "the catalog after that", before, stateOf(t, c))

	w, again := plainWebsite(all[3].AccountID), newReceipt(all[3].AccountID, all[3].Key)
	ok(t, c.CreateWebsite(t.Context(), &w, again))
	same(t, "the receipt of the key that is used again", kept(again), readReceipt(t, c, again))
}
