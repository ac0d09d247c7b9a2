package storetest

import (
	"context"
	"slices"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

// A call is one call of a method, on records that exist.
type call struct {
	method string
	try    func(ctx context.Context) error
}

// The keys of the receipts that the calls leave, and the clock job whose turn they take.
var callKeys = []string{"CreateKey", "CreateWebsite", "RestoreWebsite", "CreateReport", "StopReport", "RestoreReport", "CreateProject", "RestoreProject"}

const callJob = "a job"

// everyCall has a call of each method.
func everyCall(c store.Catalog, f filled) []call {
	return slices.Concat(accountCalls(c, f), websiteCalls(c, f), resultCalls(c, f), auditCalls(c, f), reportCalls(c, f), projectCalls(c, f), []call{
		{"Trash", func(ctx context.Context) error {
			_, err := c.Trash(ctx, f.account.ID, bothKinds, pageRequest())
			return err
		}},
		{"Purge", func(ctx context.Context) error {
			_, err := c.Purge(ctx, f.account.ID, trash.Website, f.forgotten.ID, anyVersion)
			return err
		}},
		{"PurgeOlder", func(ctx context.Context) error { _, err := c.PurgeOlder(ctx, at(1_000), 10); return err }},
		{"Receipt", func(ctx context.Context) error {
			_, err := c.Receipt(ctx, f.account.ID, f.receipt.Operation, f.receipt.Key)
			return err
		}},
		{"EraseReceipts", func(ctx context.Context) error { _, err := c.EraseReceipts(ctx, at(1_000), 10); return err }},
		{"TakeTurn", func(ctx context.Context) error { _, err := c.TakeTurn(ctx, callJob, at(9), time.Minute); return err }},
		{"Salt", func(ctx context.Context) error { _, err := c.Salt(ctx, at(0), []byte("salt")); return err }},
		{"Erasures", func(ctx context.Context) error { _, err := c.Erasures(ctx, 0, 10); return err }},
		{"ForgetErasure", func(ctx context.Context) error { return c.ForgetErasure(ctx, f.forgotten.ID) }},
		{"EraseSalts", func(ctx context.Context) error { return c.EraseSalts(ctx, at(0)) }},
		{"Ping", c.Ping},
	})
}

func accountCalls(c store.Catalog, f filled) []call {
	owner := f.account.ID
	return []call{
		{"CreateAccount", func(ctx context.Context) error {
			a := account.New("new@example.com", at(1))
			return c.CreateAccount(ctx, &a)
		}},
		{"CreateOwner", func(ctx context.Context) error {
			a, k := account.New("owner@example.com", at(1)), account.Key{Name: "owner", Hash: account.HashSecret("owner"), CreatedAt: at(1)}
			_, err := c.CreateOwner(ctx, &a, &k)
			return err
		}},
		{"Accounts", func(ctx context.Context) error { _, err := c.Accounts(ctx); return err }},
		{"Account", func(ctx context.Context) error { _, err := c.Account(ctx, owner); return err }},
		{"CreateKey", func(ctx context.Context) error {
			k := account.Key{AccountID: owner, Name: "new", Hash: account.HashSecret("new"), CreatedAt: at(1)}
			return c.CreateKey(ctx, &k, newReceipt(owner, "CreateKey"))
		}},
		{"KeyByHash", func(ctx context.Context) error { _, err := c.KeyByHash(ctx, f.key.Hash); return err }},
		{"Keys", func(ctx context.Context) error { _, err := c.Keys(ctx, owner, pageRequest()); return err }},
		{"AllKeys", func(ctx context.Context) error { _, err := c.AllKeys(ctx); return err }},
		{"TouchKeys", func(ctx context.Context) error {
			return c.TouchKeys(ctx, map[int64]time.Time{f.key.ID: at(9)})
		}},
		{"RevokeKey", func(ctx context.Context) error { return c.RevokeKey(ctx, owner, f.key.ID, at(9)) }},
	}
}

func websiteCalls(c store.Catalog, f filled) []call {
	owner := f.account.ID
	edit := func(w *analytics.Website) error { return w.SetURL("https://changed.example") }
	return []call{
		{"Websites", func(ctx context.Context) error { _, err := c.Websites(ctx, owner, websiteRequest()); return err }},
		{"Website", func(ctx context.Context) error { _, err := c.Website(ctx, owner, f.website.ID); return err }},
		{"OldestWebsite", func(ctx context.Context) error { _, err := c.OldestWebsite(ctx, owner, "example.com"); return err }},
		{"TrackedWebsite", func(ctx context.Context) error { _, err := c.TrackedWebsite(ctx, f.website.TrackingID); return err }},
		{"TrackedDomain", func(ctx context.Context) error { _, err := c.TrackedDomain(ctx, f.website.Domain); return err }},
		{"CreateWebsite", func(ctx context.Context) error {
			w := plainWebsite(owner)
			return c.CreateWebsite(ctx, &w, newReceipt(owner, "CreateWebsite"))
		}},
		{"UpdateWebsite", func(ctx context.Context) error { _, err := c.UpdateWebsite(ctx, owner, f.website.ID, edit); return err }},
		{"ApplyWebsites", func(ctx context.Context) error {
			return c.ApplyWebsites(ctx, owner, []string{"bulk.example", "changed.example"}, emailAll(owner, "https://bulk.example"))
		}},
		{"DeleteWebsite", func(ctx context.Context) error { return c.DeleteWebsite(ctx, owner, f.website.ID, toTrash(9)) }},
		{"RestoreWebsite", func(ctx context.Context) error {
			var w analytics.Website
			return c.RestoreWebsite(ctx, owner, f.deletedWebsite.ID, &w, newReceipt(owner, "RestoreWebsite"))
		}},
	}
}

func projectCalls(c store.Catalog, f filled) []call {
	owner := f.account.ID
	return []call{
		{"Projects", func(ctx context.Context) error { _, err := c.Projects(ctx, owner, projectRequest()); return err }},
		{"Project", func(ctx context.Context) error {
			_, err := c.Project(ctx, owner, seo.Ref{ID: f.project.ID})
			return err
		}},
		{"CreateProject", func(ctx context.Context) error {
			p := seo.Project{AccountID: owner, Name: "new", Version: 1, CreatedAt: at(1), UpdatedAt: at(1)}
			return c.CreateProject(ctx, &p, newReceipt(owner, "CreateProject"))
		}},
		{"DeleteProject", func(ctx context.Context) error {
			_, err := c.DeleteProject(ctx, owner, seo.Ref{Name: f.project.Name}, toTrash(9))
			return err
		}},
		{"RestoreProject", func(ctx context.Context) error {
			var p seo.Project
			return c.RestoreProject(ctx, owner, f.deletedProject.ID, &p, newReceipt(owner, "RestoreProject"))
		}},
	}
}
