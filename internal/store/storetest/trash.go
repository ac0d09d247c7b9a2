package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var trashContracts = []contract{
	{"a deleted website is seen by nobody", trashHidesWebsite},
	{"a website comes back as it was", trashRestoresWebsite},
	{"a project comes back as it was", trashRestoresProject},
	{"the name of a deleted project is free", trashFreesName},
	{"only what is there comes back", trashRestoresOnce},
	{"is listed newest first", trashOrder},
	{"shows the kinds that are asked for", trashKinds},
	{"is paged", trashPages},
	{"what is erased at once is not in it", trashSkipped},
	{"a check may refuse a deletion", trashChecks},
}

// bothKinds are all the kinds of records that can be in the trash.
var bothKinds = []trash.Object{trash.Website, trash.Project}

// erase is a deletion that leaves nothing.
var erase = trash.Deletion{}

// toTrash is a deletion into the trash, some seconds after the beginning.
func toTrash(seconds int) trash.Deletion {
	return trash.Deletion{At: at(seconds)}
}

// websiteItem is a deleted website in the trash, projectItem a deleted project.
func websiteItem(w analytics.Website, seconds int) trash.Item {
	return trash.Item{Object: trash.Website, ID: w.ID, Name: w.URL, DeletedAt: at(seconds)}
}

func projectItem(p seo.Project, seconds int) trash.Item {
	return trash.Item{Object: trash.Project, ID: p.ID, Name: p.Name, DeletedAt: at(seconds)}
}

// inTrash is all that is in the trash of an account.
func inTrash(t *testing.T, c store.Catalog, owner int64) []trash.Item {
	t.Helper()
	return whole(t, "trash", must(c.Trash(t.Context(), owner, bothKinds, pageRequest()))(t))
}

// deleteWebsite moves a website into the trash, deleteProject a project.
func deleteWebsite(t *testing.T, c store.Catalog, w analytics.Website, seconds int) {
	t.Helper()
	ok(t, c.DeleteWebsite(t.Context(), w.AccountID, w.ID, toTrash(seconds)))
}

func deleteProject(t *testing.T, c store.Catalog, p seo.Project, seconds int) {
	t.Helper()
	must(c.DeleteProject(t.Context(), p.AccountID, seo.Ref{ID: p.ID}, toTrash(seconds)))(t)
}

// seen says where a website can be seen: alone, in lists, as the oldest of its domain, in bulk.
func seen(t *testing.T, c store.Catalog, w analytics.Website) []string {
	t.Helper()
	var places []string
	if got, err := c.Website(t.Context(), w.AccountID, w.ID); err == nil && got == w {
		places = append(places, "alone")
	}
	for _, search := range []string{"", w.Domain} {
		r := websiteRequest()
		r.Search, r.SortBy, r.SearchBy = search, analytics.SortByURL, analytics.SearchByDomain
		for _, listed := range whole(t, "websites", must(c.Websites(t.Context(), w.AccountID, r))(t)) {
			if listed == w {
				places = append(places, "in the list searched for "+search)
			}
		}
	}
	if id, err := c.OldestWebsite(t.Context(), w.AccountID, w.Domain); err == nil && id == w.ID {
		places = append(places, "as the oldest of its domain")
	}
	ok(t, c.ApplyWebsites(t.Context(), w.AccountID, []string{w.Domain}, func(found map[string]analytics.Website) ([]*analytics.Website, error) {
		if found[w.Domain] == w {
			places = append(places, "in bulk")
		}
		return nil, nil
	}))
	return places
}

func trashHidesWebsite(t *testing.T, c store.Catalog) {
	w := createAndRead(t, c, fullWebsite(newAccount(t, c, "ann").ID))
	younger := newWebsite(t, c, w.AccountID, "http://münchen.de:8080", 0)
	everywhere := []string{"alone", "in the list searched for ", "in the list searched for " + w.Domain, "as the oldest of its domain", "in bulk"}
	same(t, "where the website is seen", everywhere, seen(t, c, w))
	same(t, "where the younger one of its domain is seen", everywhere[:3], seen(t, c, younger))

	deleteWebsite(t, c, w, 9)
	same(t, "where the deleted website is seen", []string{}, seen(t, c, w))
	same(t, "where the younger one is seen now", everywhere, seen(t, c, younger))
	same(t, "the trash", []trash.Item{websiteItem(w, 9)}, inTrash(t, c, w.AccountID))

	var back analytics.Website
	ok(t, c.RestoreWebsite(t.Context(), w.AccountID, w.ID, &back, nil))
	same(t, "where the restored website is seen", everywhere, seen(t, c, w))
	same(t, "where the younger one is seen after that", everywhere[:3], seen(t, c, younger))
}

func trashRestoresWebsite(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for _, w := range []analytics.Website{createAndRead(t, c, plainWebsite(owner)), createAndRead(t, c, fullWebsite(owner))} {
		for seconds := range 2 {
			deleteWebsite(t, c, w, 10+seconds)
			same(t, "the trash", []trash.Item{websiteItem(w, 10+seconds)}, inTrash(t, c, owner))
			back := fullWebsite(nowhere) // nothing of it may stay
			ok(t, c.RestoreWebsite(t.Context(), owner, w.ID, &back, nil))
			same(t, "the restored website", w, back)
			same(t, "the website read after that", w, must(c.Website(t.Context(), owner, w.ID))(t))
			same(t, "the trash after that", []trash.Item{}, inTrash(t, c, owner))
		}
	}
	next := newWebsite(t, c, owner, "https://next.example", 9)
	want := must(c.Websites(t.Context(), owner, websiteRequest()))(t)
	if len(want.Items) != 3 || next.ID <= want.Items[1].ID {
		t.Errorf("after all that there are %d websites, the last with id %d", len(want.Items), next.ID)
	}
	update(t, c, want.Items[0], func(w *analytics.Website) error { return w.SetURL("https://changed.example") })
}

func trashRestoresProject(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for _, p := range []seo.Project{
		{Name: "plain", Version: 1, CreatedAt: at(0), UpdatedAt: at(0)},
		{Name: awkward, Reports: 7, Score: score(0), LastReportAt: at(3), Version: 9, CreatedAt: at(1), UpdatedAt: at(2)},
	} {
		p.AccountID = owner
		ok(t, c.CreateProject(t.Context(), &p, nil))
		deleteProject(t, c, p, 10)
		same(t, "the trash", []trash.Item{projectItem(p, 10)}, inTrash(t, c, owner))
		back := seo.Project{ID: nowhere, Name: "old", Score: score(3), Reports: 8, LastReportAt: at(9)}
		ok(t, c.RestoreProject(t.Context(), owner, p.ID, &back, nil))
		same(t, "the restored project", p, back)
		same(t, "the project by id", p, must(c.Project(t.Context(), owner, seo.Ref{ID: p.ID}))(t))
		same(t, "the project by name", p, must(c.Project(t.Context(), owner, seo.Ref{Name: p.Name}))(t))
		r := projectRequest()
		r.Search = p.Name
		same(t, "the list searched for it", []seo.Project{p}, whole(t, "projects", must(c.Projects(t.Context(), owner, r))(t)))
		same(t, "the trash after that", []trash.Item{}, inTrash(t, c, owner))
	}
}

func trashFreesName(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	var gone []seo.Project
	for i := range 3 { // the trash may hold a name more than once
		p := newProject(t, c, owner, "example.com", i)
		deleteProject(t, c, p, i)
		gone = append(gone, p)
	}
	taken := newProject(t, c, owner, "example.com", 9)
	before := stateOf(t, c)
	var p seo.Project
	for _, one := range gone {
		wantInvalid(t, "restoring a project whose name is taken", c.RestoreProject(t.Context(), owner, one.ID, &p, nil), "project", nameTaken)
	}
	same(t, "the catalog after that", before, stateOf(t, c))

	must(c.DeleteProject(t.Context(), owner, seo.Ref{ID: taken.ID}, erase))(t)
	ok(t, c.RestoreProject(t.Context(), owner, gone[1].ID, &p, nil))
	same(t, "the restored project", gone[1], must(c.Project(t.Context(), owner, seo.Ref{Name: "example.com"}))(t))
	same(t, "the trash after that", []trash.Item{projectItem(gone[2], 2), projectItem(gone[0], 0)}, inTrash(t, c, owner))
	twin := seo.NewProject(owner, at(9))
	ok(t, twin.SetName("example.com"))
	wantInvalid(t, "creating a project with the name", c.CreateProject(t.Context(), &twin, nil), "project", nameTaken)
}

func trashRestoresOnce(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, p := newWebsite(t, c, owner, "https://a.example", 0), newProject(t, c, owner, "a.example", 0)
	gone, goneToo := newWebsite(t, c, owner, "https://b.example", 0), newProject(t, c, owner, "b.example", 0)
	deleteWebsite(t, c, gone, 1)
	deleteProject(t, c, goneToo, 1)
	var website analytics.Website
	var project seo.Project
	ok(t, c.RestoreWebsite(t.Context(), owner, gone.ID, &website, nil))
	ok(t, c.RestoreProject(t.Context(), owner, goneToo.ID, &project, nil))
	before := stateOf(t, c)
	for _, id := range []int64{w.ID, gone.ID, nowhere, 0, -1} {
		wantNotFound(t, numbered("restoring website", int(id)), c.RestoreWebsite(t.Context(), owner, id, &website, nil))
	}
	for _, id := range []int64{p.ID, goneToo.ID, nowhere, 0, -1} {
		wantNotFound(t, numbered("restoring project", int(id)), c.RestoreProject(t.Context(), owner, id, &project, nil))
	}
	same(t, "the catalog after that", before, stateOf(t, c))
}

// mixedTrash deletes websites and projects in many orders and returns the trash as it must be listed.
func mixedTrash(t *testing.T, c store.Catalog, owner int64) []trash.Item {
	t.Helper()
	var w []analytics.Website
	var p []seo.Project
	for i := range 4 {
		w = append(w, newWebsite(t, c, owner, numbered("https://w", i)+".example", 3-i))
		p = append(p, newProject(t, c, owner, numbered("p", i)+".example", 3-i))
	}
	deleteWebsite(t, c, w[2], 5)
	deleteProject(t, c, p[0], 7)
	deleteProject(t, c, p[3], 5)
	deleteWebsite(t, c, w[3], 3600)
	deleteWebsite(t, c, w[0], 5)
	deleteProject(t, c, p[1], 5)
	deleteWebsite(t, c, w[1], 59)
	deleteProject(t, c, p[2], 60)
	return []trash.Item{websiteItem(w[3], 3600), projectItem(p[2], 60), websiteItem(w[1], 59), projectItem(p[0], 7),
		projectItem(p[3], 5), projectItem(p[1], 5), websiteItem(w[2], 5), websiteItem(w[0], 5)}
}

func trashOrder(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	want := mixedTrash(t, c, owner)
	same(t, "the trash", want, inTrash(t, c, owner))
	r := listing.Request{Search: "nothing", SearchBy: "url", SortBy: "url", Desc: true, Page: 1, PerPage: 100}
	for range 2 {
		same(t, "the trash, for a request that says more than the page", want, whole(t, "trash", must(c.Trash(t.Context(), owner, bothKinds, r))(t)))
		r.Desc, r.SortBy = false, "created_at"
	}
}

func trashKinds(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	all := mixedTrash(t, c, owner)
	for _, objects := range [][]trash.Object{nil, {trash.Website}, {trash.Project}, {trash.Website, trash.Project}, {trash.Project, trash.Website}} {
		var want []trash.Item
		for _, item := range all {
			for _, object := range objects {
				if item.Object == object {
					want = append(want, item)
				}
			}
		}
		page := must(c.Trash(t.Context(), owner, objects, pageRequest()))(t)
		same(t, "what is in the trash of the kinds asked for", want, whole(t, "trash", page))
	}
}

func trashPages(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for i := range 13 {
		deleteWebsite(t, c, newWebsite(t, c, owner, "https://a.example", 0), i%3)
		deleteProject(t, c, newProject(t, c, owner, "a.example", 0), i%4)
	}
	for _, objects := range [][]trash.Object{bothKinds, {trash.Website}, {trash.Project}} {
		checkPages(t, "the trash", 13*len(objects), pageRequest(), func(r listing.Request) (listing.Page[trash.Item], error) {
			return c.Trash(t.Context(), owner, objects, r)
		})
	}
}

func trashSkipped(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, p := newWebsite(t, c, owner, "https://a.example", 0), newProject(t, c, owner, "a.example", 0)
	ok(t, c.DeleteWebsite(t.Context(), owner, w.ID, erase))
	must(c.DeleteProject(t.Context(), owner, seo.Ref{ID: p.ID}, erase))(t)
	same(t, "the trash", []trash.Item{}, inTrash(t, c, owner))
	wantNotFound(t, "restoring an erased website", c.RestoreWebsite(t.Context(), owner, w.ID, &w, nil))
	wantNotFound(t, "restoring an erased project", c.RestoreProject(t.Context(), owner, p.ID, &p, nil))
	wantNotPurged(t, c, owner, trash.Website, w.ID)
	wantNotPurged(t, c, owner, trash.Project, p.ID)
}

func trashChecks(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, p := createAndRead(t, c, fullWebsite(owner)), seo.Project{AccountID: owner, Name: "a.example", Version: 12, CreatedAt: at(0), UpdatedAt: at(0)}
	ok(t, c.CreateProject(t.Context(), &p, nil))
	before := stateOf(t, c)
	for _, when := range []time.Time{{}, at(9)} {
		for _, want := range []error{errors.New("no"), fault.Field("version", "is old"), fault.NotFound} {
			var versions []int64
			refuse := trash.Deletion{At: when, Check: func(version int64) error {
				versions = append(versions, version)
				return want
			}}
			err := c.DeleteWebsite(t.Context(), owner, w.ID, refuse)
			_, projectErr := c.DeleteProject(t.Context(), owner, seo.Ref{Name: p.Name}, refuse)
			if !reflect.DeepEqual(err, want) || !reflect.DeepEqual(projectErr, want) {
				t.Errorf("the error of the check is answered as %#v and %#v, want %#v", err, projectErr, want)
			}
			same(t, "the versions that were checked", []int64{w.Version, p.Version}, versions)
		}
	}
	same(t, "the catalog after refused deletions", before, stateOf(t, c))

	allow := trash.Deletion{At: at(9), Check: func(int64) error { return nil }}
	ok(t, c.DeleteWebsite(t.Context(), owner, w.ID, allow))
	must(c.DeleteProject(t.Context(), owner, seo.Ref{ID: p.ID}, allow))(t)
	same(t, "the trash", []trash.Item{projectItem(p, 9), websiteItem(w, 9)}, inTrash(t, c, owner))
}
