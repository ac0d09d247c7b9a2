package storetest

import (
	"testing"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var totalContracts = []contract{
	{"follow every kind of write", totalsFollow},
	{"are not moved by what fails", totalsOfFailures},
	{"are right after many writes at once", totalsAtOnce},
}

// totals are how many rows the lists of an account have.
type totals struct{ websites, projects, deletedWebsites, deletedProjects int }

// checkTotals fails the test unless each list has a number of rows and all of its pages say so.
func checkTotals(t *testing.T, c store.Catalog, what string, owner int64, want totals) {
	t.Helper()
	r := websiteRequest()
	r.PerPage = 1_000
	websites := func(r listing.Request) (listing.Page[analytics.Website], error) {
		return c.Websites(t.Context(), owner, r)
	}
	projects := func(r listing.Request) (listing.Page[seo.Project], error) { return c.Projects(t.Context(), owner, r) }
	for _, r.Search = range []string{"", "EXAMPLE"} { // which all of them have in their names
		for _, r.SortBy = range []string{"created_at", "url"} {
			checkPages(t, what+": websites", want.websites, r, websites)
		}
		for _, r.SortBy = range []string{"created_at", "project"} {
			r := r
			r.SearchBy = seo.SearchByProject
			checkPages(t, what+": projects", want.projects, r, projects)
		}
	}
	for object, total := range map[trash.Object]int{trash.Website: want.deletedWebsites, trash.Project: want.deletedProjects} {
		checkPages(t, what+": trash", total, r, func(r listing.Request) (listing.Page[trash.Item], error) {
			return c.Trash(t.Context(), owner, []trash.Object{object}, r)
		})
	}
}

// totalsFollow makes each kind of write for one account, beside another whose totals stay.
func totalsFollow(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	var w []analytics.Website
	var p []seo.Project
	for i := range 24 {
		w = append(w, newWebsite(t, c, ann, numbered("https://site", i)+".example", 0))
		p = append(p, newProject(t, c, ann, numbered("project", i)+".example", 0))
	}
	newWebsite(t, c, bob, "https://bob.example", 0)
	deleteProject(t, c, newProject(t, c, bob, "bob.example", 0), 0)
	check := func(what string, websites, projects, deletedWebsites, deletedProjects int) {
		t.Helper()
		checkTotals(t, c, what, ann, totals{websites, projects, deletedWebsites, deletedProjects})
		checkTotals(t, c, what+": the other account", bob, totals{1, 0, 0, 1})
	}
	check("created", 24, 24, 0, 0)
	for i := range 9 {
		deleteWebsite(t, c, w[i], i)
		deleteProject(t, c, p[i], i)
	}
	check("deleted", 15, 15, 9, 9)
	ok(t, c.DeleteWebsite(t.Context(), ann, w[9].ID, erase))
	must(c.DeleteProject(t.Context(), ann, seo.Ref{Name: p[9].Name}, erase))(t)
	check("erased", 14, 14, 9, 9)
	for i := range 2 {
		ok(t, c.RestoreWebsite(t.Context(), ann, w[i].ID, &w[i], nil))
		ok(t, c.RestoreProject(t.Context(), ann, p[i].ID, &p[i], newReceipt(ann, numbered("restore", i))))
	}
	check("restored", 16, 16, 7, 7)
	must(c.Purge(t.Context(), ann, trash.Website, w[2].ID, anyVersion))(t)
	must(c.Purge(t.Context(), ann, trash.Project, p[2].ID, anyVersion))(t)
	check("purged", 16, 16, 6, 6)
	update(t, c, w[20], func(w *analytics.Website) error { return w.SetURL("https://changed.example") })
	check("updated", 16, 16, 6, 6)
	urls, domains := someSites(30) // 15 of them are there: 0, 1 and 10 to 23 without 20
	apply(t, c, ann, domains, emailAll(ann, urls...))
	check("applied", 31, 16, 6, 6)
	created := analytics.NewWebsite(ann, at(0))
	ok(t, created.SetURL("https://receipt.example"))
	ok(t, c.CreateWebsite(t.Context(), &created, newReceipt(ann, "create")))
	check("created with a receipt", 32, 16, 6, 6)
	same(t, "the number purged", 5, must(c.PurgeOlder(t.Context(), at(5), 100))(t)) // one of bob's
	checkTotals(t, c, "purged by age", ann, totals{32, 16, 4, 4})
	checkTotals(t, c, "purged by age: the other account", bob, totals{1, 0, 0, 0})
}

func totalsOfFailures(t *testing.T, c store.Catalog) {
	f := fill(t, c, "ann")
	owner := f.account.ID
	want := totals{1, 1, 2, 1}
	checkTotals(t, c, "before", owner, want)
	used := func() *receipt.Receipt { return newReceipt(owner, f.receipt.Key) }
	refuse := trash.Deletion{At: at(9), Check: func(int64) error { return errRefused }}
	var w analytics.Website
	var p seo.Project
	for i, call := range []func() error{
		func() error { w = plainWebsite(owner); return c.CreateWebsite(t.Context(), &w, used()) },
		func() error { p = f.deletedProject; return c.CreateProject(t.Context(), &p, used()) },
		func() error { return c.RestoreWebsite(t.Context(), owner, f.deletedWebsite.ID, &w, used()) },
		func() error { return c.RestoreProject(t.Context(), owner, f.deletedProject.ID, &p, used()) },
		func() error { return c.DeleteWebsite(t.Context(), owner, f.website.ID, refuse) },
		func() error {
			_, err := c.DeleteProject(t.Context(), owner, seo.Ref{ID: f.project.ID}, refuse)
			return err
		},
		func() error { p = f.project; return c.CreateProject(t.Context(), &p, nil) },
		func() error {
			return c.ApplyWebsites(t.Context(), owner, nil, func(map[string]analytics.Website) ([]*analytics.Website, error) {
				created, stranger := plainWebsite(owner), plainWebsite(owner)
				stranger.ID = nowhere
				return []*analytics.Website{&created, &stranger}, nil
			})
		},
	} {
		if err := call(); err == nil {
			t.Errorf("call %d succeeds", i)
		}
		checkTotals(t, c, numbered("after the failed call", i), owner, want)
	}
}

// totalsAtOnce creates, deletes, restores and purges at once.
func totalsAtOnce(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 40
	allSucceed(t, n, func(i int) error {
		w, p := analytics.NewWebsite(owner, at(i)), seo.NewProject(owner, at(i))
		p.Name = numbered("project", i) + ".example"
		if err := w.SetURL(numbered("https://site", i) + ".example"); err != nil {
			return err
		}
		var r *receipt.Receipt
		if i%8 >= 4 {
			r = newReceipt(owner, numbered("key", i))
		}
		steps := []func() error{
			func() error { return c.CreateWebsite(t.Context(), &w, r) },
			func() error { return c.DeleteWebsite(t.Context(), owner, w.ID, toTrash(i)) },
			func() error { return c.RestoreWebsite(t.Context(), owner, w.ID, &w, nil) },
			func() error { return c.DeleteWebsite(t.Context(), owner, w.ID, toTrash(i)) },
			func() error { _, err := c.Purge(t.Context(), owner, trash.Website, w.ID, anyVersion); return err },
			func() error { return c.CreateProject(t.Context(), &p, nil) },
			func() error {
				_, err := c.DeleteProject(t.Context(), owner, seo.Ref{Name: p.Name}, toTrash(i))
				return err
			},
			func() error { return c.RestoreProject(t.Context(), owner, p.ID, &p, nil) },
		}
		for _, step := range steps[:1+i%8] { // 5 of each length
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	// Websites end after step 1 and 3, deleted ones after 2 and 4, purged ones after 5; projects after 6 and 8, deleted after 7.
	checkTotals(t, c, "after all that", owner, totals{websites: 10, projects: 10, deletedWebsites: 10, deletedProjects: 5})
}
