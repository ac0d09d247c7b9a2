package timed

import (
	"context"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
)

// CreateAccount implements account.Accounts.
func (c *Catalog) CreateAccount(ctx context.Context, a *account.Account) (err error) {
	defer c.begin("CreateAccount").end(&err)
	return c.Catalog.CreateAccount(ctx, a)
}

// CreateOwner implements account.Accounts.
func (c *Catalog) CreateOwner(ctx context.Context, a *account.Account, k *account.Key) (_ bool, err error) {
	defer c.begin("CreateOwner").end(&err)
	return c.Catalog.CreateOwner(ctx, a, k)
}

// Accounts implements account.Accounts.
func (c *Catalog) Accounts(ctx context.Context) (_ []account.Account, err error) {
	defer c.begin("Accounts").end(&err)
	return c.Catalog.Accounts(ctx)
}

// Account implements account.Accounts.
func (c *Catalog) Account(ctx context.Context, id int64) (_ account.Account, err error) {
	defer c.begin("Account").end(&err)
	return c.Catalog.Account(ctx, id)
}

// CreateKey implements account.Keys.
func (c *Catalog) CreateKey(ctx context.Context, k *account.Key, r *receipt.Receipt) (err error) {
	defer c.begin("CreateKey").end(&err)
	return c.Catalog.CreateKey(ctx, k, r)
}

// KeyByHash implements account.Keys.
func (c *Catalog) KeyByHash(ctx context.Context, hash account.Hash) (_ account.Key, err error) {
	defer c.begin("KeyByHash").end(&err)
	return c.Catalog.KeyByHash(ctx, hash)
}

// Keys implements account.Keys.
func (c *Catalog) Keys(ctx context.Context, owner int64, r listing.Request) (_ listing.Page[account.Key], err error) {
	defer c.begin("Keys").end(&err)
	return c.Catalog.Keys(ctx, owner, r)
}

// AllKeys implements account.Keys.
func (c *Catalog) AllKeys(ctx context.Context) (_ []account.Key, err error) {
	defer c.begin("AllKeys").end(&err)
	return c.Catalog.AllKeys(ctx)
}

// RevokeKey implements account.Keys.
func (c *Catalog) RevokeKey(ctx context.Context, owner, id int64, at time.Time) (err error) {
	defer c.begin("RevokeKey").end(&err)
	return c.Catalog.RevokeKey(ctx, owner, id, at)
}

// TouchKeys implements account.Keys.
func (c *Catalog) TouchKeys(ctx context.Context, used map[int64]time.Time) (err error) {
	defer c.begin("TouchKeys").end(&err)
	return c.Catalog.TouchKeys(ctx, used)
}

// Websites implements analytics.Websites.
func (c *Catalog) Websites(ctx context.Context, account int64, r listing.Request) (_ listing.Page[analytics.Website], err error) {
	defer c.begin("Websites").end(&err)
	return c.Catalog.Websites(ctx, account, r)
}

// Website implements analytics.Websites.
func (c *Catalog) Website(ctx context.Context, account, id int64) (_ analytics.Website, err error) {
	defer c.begin("Website").end(&err)
	return c.Catalog.Website(ctx, account, id)
}

// CreateWebsite implements analytics.Websites.
func (c *Catalog) CreateWebsite(ctx context.Context, w *analytics.Website, r *receipt.Receipt) (err error) {
	defer c.begin("CreateWebsite").end(&err)
	return c.Catalog.CreateWebsite(ctx, w, r)
}

// UpdateWebsite implements analytics.Websites.
func (c *Catalog) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (_ analytics.Website, err error) {
	s := c.begin("UpdateWebsite")
	defer s.end(&err)
	return c.Catalog.UpdateWebsite(ctx, account, id, func(w *analytics.Website) error { return s.own(edit(w)) })
}

// DeleteWebsite implements analytics.Websites.
func (c *Catalog) DeleteWebsite(ctx context.Context, account, id int64, how trash.Deletion) (err error) {
	s := c.begin("DeleteWebsite")
	defer s.end(&err)
	return c.Catalog.DeleteWebsite(ctx, account, id, s.watch(how))
}

// RestoreWebsite implements analytics.Websites.
func (c *Catalog) RestoreWebsite(ctx context.Context, account, id int64, w *analytics.Website, r *receipt.Receipt) (err error) {
	defer c.begin("RestoreWebsite").end(&err)
	return c.Catalog.RestoreWebsite(ctx, account, id, w, r)
}

// OldestWebsite implements analytics.Websites.
func (c *Catalog) OldestWebsite(ctx context.Context, account int64, domain string) (_ int64, err error) {
	defer c.begin("OldestWebsite").end(&err)
	return c.Catalog.OldestWebsite(ctx, account, domain)
}

// ApplyWebsites implements analytics.BulkWebsites.
func (c *Catalog) ApplyWebsites(ctx context.Context, account int64, domains []string, edit func(map[string]analytics.Website) ([]*analytics.Website, error)) (err error) {
	s := c.begin("ApplyWebsites")
	defer s.end(&err)
	return c.Catalog.ApplyWebsites(ctx, account, domains, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		wanted, err := edit(found)
		return wanted, s.own(err)
	})
}

// Projects implements seo.Projects.
func (c *Catalog) Projects(ctx context.Context, account int64, r listing.Request) (_ listing.Page[seo.Project], err error) {
	defer c.begin("Projects").end(&err)
	return c.Catalog.Projects(ctx, account, r)
}

// Project implements seo.Projects.
func (c *Catalog) Project(ctx context.Context, account int64, ref seo.Ref) (_ seo.Project, err error) {
	defer c.begin("Project").end(&err)
	return c.Catalog.Project(ctx, account, ref)
}

// CreateProject implements seo.Projects.
func (c *Catalog) CreateProject(ctx context.Context, p *seo.Project, r *receipt.Receipt) (err error) {
	defer c.begin("CreateProject").end(&err)
	return c.Catalog.CreateProject(ctx, p, r)
}

// DeleteProject implements seo.Projects.
func (c *Catalog) DeleteProject(ctx context.Context, account int64, ref seo.Ref, how trash.Deletion) (_ seo.Project, err error) {
	s := c.begin("DeleteProject")
	defer s.end(&err)
	return c.Catalog.DeleteProject(ctx, account, ref, s.watch(how))
}

// RestoreProject implements seo.Projects.
func (c *Catalog) RestoreProject(ctx context.Context, account, id int64, p *seo.Project, r *receipt.Receipt) (err error) {
	defer c.begin("RestoreProject").end(&err)
	return c.Catalog.RestoreProject(ctx, account, id, p, r)
}

// Receipt implements receipt.Receipts.
func (c *Catalog) Receipt(ctx context.Context, account int64, operation, key string) (_ receipt.Receipt, err error) {
	defer c.begin("Receipt").end(&err)
	return c.Catalog.Receipt(ctx, account, operation, key)
}

// EraseReceipts implements receipt.Receipts.
func (c *Catalog) EraseReceipts(ctx context.Context, before time.Time, limit int) (_ int, err error) {
	defer c.begin("EraseReceipts").end(&err)
	return c.Catalog.EraseReceipts(ctx, before, limit)
}

// Trash implements trash.Trash.
func (c *Catalog) Trash(ctx context.Context, account int64, objects []trash.Object, r listing.Request) (_ listing.Page[trash.Item], err error) {
	defer c.begin("Trash").end(&err)
	return c.Catalog.Trash(ctx, account, objects, r)
}

// Purge implements trash.Trash.
func (c *Catalog) Purge(ctx context.Context, account int64, object trash.Object, id int64, check func(int64) error) (_ trash.Item, err error) {
	s := c.begin("Purge")
	defer s.end(&err)
	return c.Catalog.Purge(ctx, account, object, id, func(version int64) error { return s.own(check(version)) })
}

// PurgeOlder implements trash.Trash.
func (c *Catalog) PurgeOlder(ctx context.Context, before time.Time, limit int) (_ int, err error) {
	defer c.begin("PurgeOlder").end(&err)
	return c.Catalog.PurgeOlder(ctx, before, limit)
}

// TakeTurn implements schedule.Turns.
func (c *Catalog) TakeTurn(ctx context.Context, job string, now time.Time, every time.Duration) (_ bool, err error) {
	defer c.begin("TakeTurn").end(&err)
	return c.Catalog.TakeTurn(ctx, job, now, every)
}

// Ping implements store.Catalog.
func (c *Catalog) Ping(ctx context.Context) (err error) {
	defer c.begin("Ping").end(&err)
	return c.Catalog.Ping(ctx)
}
