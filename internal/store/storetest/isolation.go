package storetest

import (
	"testing"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/seo"
	"sightline/internal/store"
)

var isolationContracts = []contract{
	{"what another account owns is not found", strangersFindNothing},
	{"lists show one account", strangersListNothing},
	{"two accounts do not disturb each other", strangersAreFree},
}

// filled is one record of every kind, of one account.
type filled struct {
	account account.Account
	key     account.Key
	website analytics.Website
	project seo.Project
}

// fill stores one record of every kind for a new account.
func fill(t *testing.T, c store.Catalog, name string) filled {
	t.Helper()
	a := newAccount(t, c, name)
	return filled{a, newKey(t, c, a.ID, "secret of "+name), newWebsite(t, c, a.ID, "https://example.com", 0), newProject(t, c, a.ID, "example.com", 0)}
}

func strangersFindNothing(t *testing.T, c store.Catalog) {
	mine, ctx := fill(t, c, "ann"), t.Context()
	before := stateOf(t, c)
	bob := newAccount(t, c, "bob")
	before.Accounts = append(before.Accounts, bob)
	before.Websites[bob.ID], before.Projects[bob.ID] = nil, nil
	for _, stranger := range []int64{bob.ID, nowhere, 0} {
		_, err := c.Website(ctx, stranger, mine.website.ID)
		wantNotFound(t, "Website", err)
		_, err = c.UpdateWebsite(ctx, stranger, mine.website.ID, func(*analytics.Website) error {
			t.Error("a stranger's edit sees the website")
			return nil
		})
		wantNotFound(t, "UpdateWebsite", err)
		wantNotFound(t, "DeleteWebsite", c.DeleteWebsite(ctx, stranger, mine.website.ID))
		_, err = c.OldestWebsite(ctx, stranger, mine.website.Domain)
		wantNotFound(t, "OldestWebsite", err)
		for _, ref := range []seo.Ref{{ID: mine.project.ID}, {Name: mine.project.Name}} {
			_, err = c.Project(ctx, stranger, ref)
			wantNotFound(t, "Project", err)
			_, err = c.DeleteProject(ctx, stranger, ref)
			wantNotFound(t, "DeleteProject", err)
		}
		wantNotFound(t, "RevokeKey", c.RevokeKey(ctx, stranger, mine.key.ID, at(9)))
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
	same(t, "the number of websites of an empty account", 0, must(c.Websites(t.Context(), empty, websiteRequest()))(t).Total)
	same(t, "the number of projects of an empty account", 0, must(c.Projects(t.Context(), empty, projectRequest()))(t).Total)
}

func strangersAreFree(t *testing.T, c store.Catalog) {
	ann, bob, ctx := fill(t, c, "ann"), fill(t, c, "bob"), t.Context()
	same(t, "the oldest website of ann", ann.website.ID, must(c.OldestWebsite(ctx, ann.account.ID, "example.com"))(t))
	same(t, "the oldest website of bob", bob.website.ID, must(c.OldestWebsite(ctx, bob.account.ID, "example.com"))(t))
	same(t, "the project of bob", bob.project, must(c.Project(ctx, bob.account.ID, seo.Ref{Name: "example.com"}))(t))

	must(c.DeleteProject(ctx, ann.account.ID, seo.Ref{Name: "example.com"}))(t)
	ok(t, c.DeleteWebsite(ctx, ann.account.ID, ann.website.ID))
	ok(t, c.RevokeKey(ctx, ann.account.ID, ann.key.ID, at(1)))
	s := stateOf(t, c)
	same(t, "the websites of bob", []analytics.Website{bob.website}, s.Websites[bob.account.ID])
	same(t, "the projects of bob", []seo.Project{bob.project}, s.Projects[bob.account.ID])
	ann.key.RevokedAt = at(1)
	same(t, "the keys", []account.Key{ann.key, bob.key}, s.Keys)
	same(t, "what ann has left", 0, len(s.Websites[ann.account.ID])+len(s.Projects[ann.account.ID]))
}
