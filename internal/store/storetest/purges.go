package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"sightline/internal/analytics"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var purgeContracts = []contract{
	{"one record goes for good", purgeOne},
	{"a website is not a project", purgeKind},
	{"only what is in the trash", purgeUnknown},
	{"only in the version that is asked for", purgeVersion},
	{"what is older than a moment", purgeOlder},
	{"the oldest first, up to a limit", purgeLimit},
	{"of all accounts", purgeAccounts},
}

// anyVersion lets any version of a record be purged.
func anyVersion(int64) error { return nil }

// wantNotPurged fails the test unless there is no such record in the trash.
func wantNotPurged(t *testing.T, c store.Catalog, owner int64, object trash.Object, id int64) {
	t.Helper()
	_, err := c.Purge(t.Context(), owner, object, id, anyVersion)
	wantNotFound(t, fmt.Sprintf("purging %s %d", object, id), err)
}

func purgeOne(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	items := mixedTrash(t, c, owner)
	for len(items) > 0 {
		i := len(items) / 2
		gone := items[i]
		items = slices.Delete(items, i, i+1)
		same(t, "what the purge returns", gone, must(c.Purge(t.Context(), owner, gone.Object, gone.ID, anyVersion))(t))
		same(t, "the trash after a purge", items, inTrash(t, c, owner))
		wantNotPurged(t, c, owner, gone.Object, gone.ID)
		var w analytics.Website
		var p seo.Project
		if gone.Object == trash.Website {
			wantNotFound(t, "restoring a purged website", c.RestoreWebsite(t.Context(), owner, gone.ID, &w, nil))
		} else {
			wantNotFound(t, "restoring a purged project", c.RestoreProject(t.Context(), owner, gone.ID, &p, nil))
		}
	}
}

// purgeKind purges a website and a project with the same id, if the engine gives them the same.
func purgeKind(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, p := newWebsite(t, c, owner, "https://a.example", 0), newProject(t, c, owner, "a.example", 0)
	deleteWebsite(t, c, w, 1)
	deleteProject(t, c, p, 2)
	same(t, "what the purge returns", websiteItem(w, 1), must(c.Purge(t.Context(), owner, trash.Website, w.ID, anyVersion))(t))
	same(t, "the trash after the website", []trash.Item{projectItem(p, 2)}, inTrash(t, c, owner))
	wantNotFound(t, "restoring the website", c.RestoreWebsite(t.Context(), owner, w.ID, &w, nil))
	same(t, "what the purge returns", projectItem(p, 2), must(c.Purge(t.Context(), owner, trash.Project, p.ID, anyVersion))(t))
	same(t, "the trash after the project", []trash.Item{}, inTrash(t, c, owner))

	w, p = newWebsite(t, c, owner, "https://a.example", 0), newProject(t, c, owner, "a.example", 0)
	deleteProject(t, c, p, 2)
	wantNotPurged(t, c, owner, trash.Website, p.ID)
	ok(t, c.RestoreProject(t.Context(), owner, p.ID, &p, nil))
	deleteWebsite(t, c, w, 1)
	wantNotPurged(t, c, owner, trash.Project, w.ID)
	wantNotFound(t, "restoring a project with the id of a website", c.RestoreProject(t.Context(), owner, w.ID, &p, nil))
	ok(t, c.RestoreWebsite(t.Context(), owner, w.ID, &w, nil))
}

func purgeUnknown(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, p := newWebsite(t, c, owner, "https://a.example", 0), newProject(t, c, owner, "a.example", 0)
	before := stateOf(t, c)
	for _, item := range []trash.Item{
		{Object: trash.Website, ID: w.ID}, {Object: trash.Project, ID: p.ID}, {Object: trash.Website, ID: nowhere}, {Object: trash.Project, ID: 0},
		{Object: trash.Website, ID: -1}, {Object: "report", ID: w.ID}, {Object: "", ID: w.ID}, {Object: "Website", ID: w.ID},
	} {
		wantNotPurged(t, c, owner, item.Object, item.ID)
	}
	same(t, "the number purged", 0, must(c.PurgeOlder(t.Context(), at(1_000_000), 100))(t))
	same(t, "the catalog after that", before, stateOf(t, c))
}

func purgeVersion(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	refused := errors.New("another version")
	for _, item := range mixedTrash(t, c, owner) {
		var version int64
		before := stateOf(t, c)
		_, err := c.Purge(t.Context(), owner, item.Object, item.ID, func(v int64) error { version = v; return refused })
		if !errors.Is(err, refused) {
			t.Errorf("a purge that the check refuses: %v", err)
		}
		same(t, "the catalog after that", before, stateOf(t, c))
		same(t, "the version", int64(1), version)
		same(t, "what the purge returns", item, must(c.Purge(t.Context(), owner, item.Object, item.ID, anyVersion))(t))
		wantNotPurged(t, c, owner, item.Object, item.ID)
	}
	_, err := c.Purge(t.Context(), owner, "report", 1, anyVersion)
	wantNotFound(t, "purging what is no kind of record", err)
	same(t, "the trash", []trash.Item{}, inTrash(t, c, owner))
}

func purgeOlder(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	kept, keptToo := newWebsite(t, c, owner, "https://kept.example", 0), newProject(t, c, owner, "kept.example", 0)
	items := mixedTrash(t, c, owner)
	for _, step := range []struct{ before, want int }{{0, 0}, {5, 0}, {6, 4}, {7, 0}, {8, 1}, {60, 1}, {60, 0}, {3600, 1}, {3601, 1}, {3601, 0}} {
		same(t, numbered("the number purged before second", step.before), step.want, must(c.PurgeOlder(t.Context(), at(step.before), 100))(t))
		items = items[:len(items)-step.want]
		same(t, "the trash after that", items, inTrash(t, c, owner))
	}
	s := stateOf(t, c)
	same(t, "the websites", []analytics.Website{kept}, s.Websites[owner])
	same(t, "the projects", []seo.Project{keptToo}, s.Projects[owner])
}

func purgeLimit(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	var items []trash.Item
	for i := range 14 { // in another order than by age, and both kinds mixed
		seconds := i * 5 % 14
		if i%2 == 0 {
			p := newProject(t, c, owner, numbered("p", i), 0)
			deleteProject(t, c, p, seconds)
			items = append(items, projectItem(p, seconds))
		} else {
			w := newWebsite(t, c, owner, "https://a.example", 0)
			deleteWebsite(t, c, w, seconds)
			items = append(items, websiteItem(w, seconds))
		}
	}
	slices.SortFunc(items, func(a, b trash.Item) int { return b.DeletedAt.Compare(a.DeletedAt) })
	same(t, "the trash", items, inTrash(t, c, owner))
	for _, step := range []struct{ limit, want int }{{0, 0}, {1, 1}, {1, 1}, {3, 3}, {5, 5}, {100, 2}, {1, 0}} {
		same(t, numbered("the number purged with the limit", step.limit), step.want, must(c.PurgeOlder(t.Context(), at(12), step.limit))(t))
		items = items[:len(items)-step.want]
		same(t, "the trash after that", items, inTrash(t, c, owner))
	}
}

func purgeAccounts(t *testing.T, c store.Catalog) {
	var owners []int64
	for i := range 3 {
		owner := newAccount(t, c, numbered("user", i)).ID
		owners = append(owners, owner)
		for _, seconds := range []int{i, 10 + i, 20} {
			deleteWebsite(t, c, newWebsite(t, c, owner, "https://a.example", 0), seconds)
			deleteProject(t, c, newProject(t, c, owner, "a.example", 0), seconds)
		}
	}
	left := func() []int {
		var sizes []int
		for _, owner := range owners {
			sizes = append(sizes, len(inTrash(t, c, owner)))
		}
		return sizes
	}
	same(t, "the number purged", 4, must(c.PurgeOlder(t.Context(), at(20), 4))(t))
	same(t, "what is left of each account", []int{4, 4, 6}, left())
	same(t, "the number purged then", 8, must(c.PurgeOlder(t.Context(), at(20), 100))(t))
	same(t, "what is left of each account then", []int{2, 2, 2}, left())
}
