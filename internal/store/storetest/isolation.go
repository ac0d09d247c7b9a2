package storetest

import (
	"testing"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var isolationContracts = []contract{
	{"what another account owns is not found", strangersFindNothing},
	{"what another account deleted is not restored or purged", strangersRestoreNothing},
	{"what another account owns is not changed in bulk", strangersApplyNothing},
	{"lists show one account", strangersListNothing},
	{"two accounts do not disturb each other", strangersAreFree},
}

// filled is one record of every kind, of one account.
type filled struct {
	account account.Account
	key     account.Key
	website analytics.Website
	project seo.Project
	receipt receipt.Receipt

	deletedWebsite, forgotten analytics.Website // in the trash
	deletedProject            seo.Project       // too

	report, deletedReport seo.Report // of project; the first has run once, and runs again
	job                   seo.Job
}

// fill stores one record of every kind for a new account.
func fill(t *testing.T, c store.Catalog, name string) filled {
	t.Helper()
	f := filled{account: newAccount(t, c, name)}
	owner := f.account.ID
	f.key = newKey(t, c, owner, "secret of "+name)
	f.website, f.project = newWebsite(t, c, owner, "https://example.com", 0), newProject(t, c, owner, "example.com", 0)
	f.report, f.deletedReport = newReport(t, c, owner, "https://example.com/a", 0), newReport(t, c, owner, "https://example.com/b", 1)
	ok(t, c.DeleteReport(t.Context(), owner, f.deletedReport.ID, toTrash(1)))
	for f.job.Report.Run < 2 { // another account may have runs that wait
		f.job = runOnce(t, c, f.report)
	}
	f.report = readReport(t, c, f.report)
	f.project = projectOf(t, c, f.report)
	f.deletedProject = newProject(t, c, owner, "deleted.example", 0)
	must(c.DeleteProject(t.Context(), owner, seo.Ref{ID: f.deletedProject.ID}, toTrash(1)))(t)
	f.forgotten = newWebsite(t, c, owner, "https://forgotten.example", 0)
	ok(t, c.DeleteWebsite(t.Context(), owner, f.forgotten.ID, toTrash(2)))

	f.deletedWebsite = analytics.NewWebsite(owner, at(0))
	ok(t, f.deletedWebsite.SetURL("https://deleted.example"))
	r := newReceipt(owner, "fill")
	ok(t, c.CreateWebsite(t.Context(), &f.deletedWebsite, r))
	f.receipt = kept(r)
	ok(t, c.DeleteWebsite(t.Context(), owner, f.deletedWebsite.ID, toTrash(3)))
	return f
}

// runOnce ends a run of a report if it is under way, and claims the next.
func runOnce(t *testing.T, c store.Catalog, r seo.Report) seo.Job {
	t.Helper()
	job := must(c.ClaimAudit(t.Context(), "filler", at(0), at(1_000_000)))(t)
	if job.Report.ID != r.ID {
		t.Fatalf("report %d is claimed before report %d", job.Report.ID, r.ID)
	}
	must(c.SaveAudit(t.Context(), job.Lease, crawledSite(3)))(t)
	if job.Report.Run == 1 {
		ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, seo.Outcome{Score: score(50)}, at(2)))
		must(c.UpdateReport(t.Context(), r.AccountID, r.ID, func(r *seo.Report) error { r.Again(at(3)); return nil }))(t)
	}
	return job
}

// strangers are accounts that own nothing: one that exists and two that do not.
func strangers(t *testing.T, c store.Catalog) []int64 {
	t.Helper()
	return []int64{newAccount(t, c, "bob").ID, nowhere, 0}
}

func strangersFindNothing(t *testing.T, c store.Catalog) {
	mine, all, ctx := fill(t, c, "ann"), strangers(t, c), t.Context()
	before := stateOf(t, c)
	for _, stranger := range all {
		_, err := c.Website(ctx, stranger, mine.website.ID)
		wantNotFound(t, "Website", err)
		_, err = c.UpdateWebsite(ctx, stranger, mine.website.ID, func(*analytics.Website) error {
			t.Error("a stranger's edit sees the website")
			return nil
		})
		wantNotFound(t, "UpdateWebsite", err)
		never := trash.Deletion{Check: func(int64) error {
			t.Error("a stranger's deletion sees the version")
			return nil
		}}
		wantNotFound(t, "DeleteWebsite", c.DeleteWebsite(ctx, stranger, mine.website.ID, never))
		_, err = c.OldestWebsite(ctx, stranger, mine.website.Domain)
		wantNotFound(t, "OldestWebsite", err)
		for _, ref := range []seo.Ref{{ID: mine.project.ID}, {Name: mine.project.Name}} {
			_, err = c.Project(ctx, stranger, ref)
			wantNotFound(t, "Project", err)
			_, err = c.DeleteProject(ctx, stranger, ref, never)
			wantNotFound(t, "DeleteProject", err)
		}
		wantNotFound(t, "RevokeKey", c.RevokeKey(ctx, stranger, mine.key.ID, at(9)))
	}
	same(t, "the catalog after the calls of strangers", before, stateOf(t, c))
}

func strangersRestoreNothing(t *testing.T, c store.Catalog) {
	mine, all, ctx := fill(t, c, "ann"), strangers(t, c), t.Context()
	before := stateOf(t, c)
	for _, stranger := range all {
		var w analytics.Website
		wantNotFound(t, "RestoreWebsite", c.RestoreWebsite(ctx, stranger, mine.deletedWebsite.ID, &w, newReceipt(stranger, "a")))
		var p seo.Project
		wantNotFound(t, "RestoreProject", c.RestoreProject(ctx, stranger, mine.deletedProject.ID, &p, newReceipt(stranger, "b")))
		_, err := c.Purge(ctx, stranger, trash.Website, mine.deletedWebsite.ID, func(int64) error { t.Error("a stranger learns a version"); return nil })
		wantNotFound(t, "Purge of a website", err)
		_, err = c.Purge(ctx, stranger, trash.Project, mine.deletedProject.ID, anyVersion)
		wantNotFound(t, "Purge of a project", err)
		_, err = c.Receipt(ctx, stranger, mine.receipt.Operation, mine.receipt.Key)
		wantNotFound(t, "Receipt", err)
		for _, key := range []string{"a", "b"} {
			_, err := c.Receipt(ctx, stranger, mine.receipt.Operation, key)
			wantNotFound(t, "the receipt of a restore that failed", err)
		}
	}
	same(t, "the catalog after the calls of strangers", before, stateOf(t, c))
}

func strangersApplyNothing(t *testing.T, c store.Catalog) {
	mine, all, ctx := fill(t, c, "ann"), strangers(t, c), t.Context()
	before := stateOf(t, c)
	for _, stranger := range all {
		err := c.ApplyWebsites(ctx, stranger, []string{mine.website.Domain}, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
			same(t, "what a stranger finds", map[string]analytics.Website{}, found)
			changed := mine.website
			changed.Email = true
			return []*analytics.Website{&changed}, nil
		})
		if err == nil {
			t.Error("a stranger changed a website")
		}
	}
	same(t, "the catalog after the calls of strangers", before, stateOf(t, c))
}

func strangersListNothing(t *testing.T, c store.Catalog) {
	ann, bob := fill(t, c, "ann"), fill(t, c, "bob")
	empty := newAccount(t, c, "empty").ID
	for _, search := range []string{"", "example", "EXAMPLE.com"} {
		for id, want := range map[int64]filled{ann.account.ID: ann, bob.account.ID: bob} {
			r := websiteRequest()
			r.Search = search
			websites := must(c.Websites(t.Context(), id, r))(t)
			same(t, "the websites of "+want.account.Email, []analytics.Website{want.website}, websites.Items)
			r = projectRequest()
			r.Search = search
			projects := must(c.Projects(t.Context(), id, r))(t)
			same(t, "the projects of "+want.account.Email, []seo.Project{want.project}, projects.Items)
			same(t, "the totals", []int{1, 1}, []int{websites.Total, projects.Total})
		}
	}
	for _, f := range []filled{ann, bob} {
		keys := must(c.Keys(t.Context(), f.account.ID, pageRequest()))(t)
		same(t, "the keys of "+f.account.Email, []account.Key{f.key}, whole(t, "keys", keys))
		items := must(c.Trash(t.Context(), f.account.ID, bothKinds, pageRequest()))(t)
		want := []trash.Item{websiteItem(f.deletedWebsite, 3), websiteItem(f.forgotten, 2), projectItem(f.deletedProject, 1)}
		same(t, "the trash of "+f.account.Email, want, whole(t, "trash", items))
	}
	same(t, "the number of websites of an empty account", 0, must(c.Websites(t.Context(), empty, websiteRequest()))(t).Total)
	same(t, "the number of keys of an empty account", 0, must(c.Keys(t.Context(), empty, pageRequest()))(t).Total)
	same(t, "the size of the trash of an empty account", 0, must(c.Trash(t.Context(), empty, bothKinds, pageRequest()))(t).Total)
	same(t, "the number of projects of an empty account", 0, must(c.Projects(t.Context(), empty, projectRequest()))(t).Total)
}

func strangersAreFree(t *testing.T, c store.Catalog) {
	ann, bob, ctx := fill(t, c, "ann"), fill(t, c, "bob"), t.Context()
	same(t, "the oldest website of ann", ann.website.ID, must(c.OldestWebsite(ctx, ann.account.ID, "example.com"))(t))
	same(t, "the oldest website of bob", bob.website.ID, must(c.OldestWebsite(ctx, bob.account.ID, "example.com"))(t))
	same(t, "the project of bob", bob.project, must(c.Project(ctx, bob.account.ID, seo.Ref{Name: "example.com"}))(t))

	must(c.DeleteProject(ctx, ann.account.ID, seo.Ref{Name: "example.com"}, erase))(t)
	ok(t, c.DeleteWebsite(ctx, ann.account.ID, ann.website.ID, erase))
	for _, item := range inTrash(t, c, ann.account.ID) {
		must(c.Purge(ctx, ann.account.ID, item.Object, item.ID, anyVersion))(t)
	}
	ok(t, c.RevokeKey(ctx, ann.account.ID, ann.key.ID, at(1)))
	s := stateOf(t, c)
	same(t, "the number of records in the trash of bob", 4, len(s.Trash[bob.account.ID]))
	same(t, "the websites of bob", []analytics.Website{bob.website}, s.Websites[bob.account.ID])
	same(t, "the projects of bob", []seo.Project{bob.project}, s.Projects[bob.account.ID])
	ann.key.RevokedAt = at(1)
	same(t, "the keys", []account.Key{ann.key, bob.key}, s.Keys)
	same(t, "what ann has left", 0, len(s.Websites[ann.account.ID])+len(s.Projects[ann.account.ID])+len(s.Trash[ann.account.ID]))
}
