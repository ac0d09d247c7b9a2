package storetest

import (
	"strings"
	"testing"
	"time"

	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var projectContracts = []contract{
	{"every field comes back", projectFields},
	{"need an account", projectNeedsAccount},
	{"are found by id and by name", projectRefs},
	{"a name belongs to one project of an account", projectUnique},
	{"one of fifty at once gets a name", projectRace},
	{"are erased by id and by name", projectDeleted(erase)},
	{"go into the trash by id and by name", projectDeleted(toTrash(9))},
	{"one of many erasures at once wins", projectDeletedRace(erase)},
	{"one of many deletions at once wins", projectDeletedRace(toTrash(9))},
	{"ids grow and are never reused", projectIDs},
}

const nameTaken = "exists already"

func score(n int) *int { return &n }

func projectFields(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for _, want := range []seo.Project{
		{Name: "example.com"},
		{Name: "zero", Reports: 1, Score: score(0), LastReportAt: at(3)},
		{Name: "full", Reports: 1_000_000, Score: score(100), LastReportAt: time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC), Version: 99},
		{Name: awkward, Score: score(50)},
		{Name: strings.Repeat("👩", seo.MaxProjectName)},
		{Name: noise(seo.MaxProjectName)},
	} {
		want.AccountID, want.CreatedAt, want.UpdatedAt, want.Version = owner, at(1), at(2), want.Version+1
		p := want
		ok(t, c.CreateProject(t.Context(), &p, nil))
		want.ID = p.ID
		same(t, "the project after its creation", want, p)
		same(t, "the project by id", want, must(c.Project(t.Context(), owner, seo.Ref{ID: p.ID}))(t))
		same(t, "the project by name", want, must(c.Project(t.Context(), owner, seo.Ref{Name: p.Name}))(t))
		r := projectRequest()
		r.Desc, r.PerPage = true, 1
		same(t, "the newest project in the list", []seo.Project{want}, must(c.Projects(t.Context(), owner, r))(t).Items)
	}
}

func projectNeedsAccount(t *testing.T, c store.Catalog) {
	newAccount(t, c, "ann")
	p := seo.Project{AccountID: nowhere, Name: "lost", Version: 1, CreatedAt: at(0), UpdatedAt: at(0)}
	wantNotFound(t, "a project for no account", c.CreateProject(t.Context(), &p, nil))
	if page := must(c.Projects(t.Context(), nowhere, projectRequest()))(t); page.Total != 0 || len(page.Items) != 0 {
		t.Errorf("the list of an account that does not exist has %d rows of %d", len(page.Items), page.Total)
	}
}

func projectRefs(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b := newProject(t, c, owner, "a.example", 0), newProject(t, c, owner, "b.example", 0)
	for _, test := range []struct {
		ref  seo.Ref
		want seo.Project
	}{
		{seo.Ref{ID: a.ID}, a},
		{seo.Ref{Name: "a.example"}, a},
		{seo.Ref{ID: b.ID, Name: "a.example"}, b},
		{seo.Ref{ID: b.ID, Name: "unknown"}, b},
	} {
		same(t, "the project read", test.want, must(c.Project(t.Context(), owner, test.ref))(t))
	}
	before := stateOf(t, c)
	for _, ref := range []seo.Ref{
		{}, {ID: nowhere}, {ID: -1}, {ID: nowhere, Name: "a.example"}, {Name: "A.example"}, {Name: "a.exampl_"}, {Name: "%"}, {Name: "a.example "}, {Name: "a"},
	} {
		_, err := c.Project(t.Context(), owner, ref)
		wantNotFound(t, "reading "+ref.Name, err)
		_, err = c.DeleteProject(t.Context(), owner, ref, erase)
		wantNotFound(t, "deleting "+ref.Name, err)
	}
	same(t, "the catalog after reading and deleting what is not there", before, stateOf(t, c))
}

func projectUnique(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	names := []string{"Blog", "blog", "BLOG", "blog_", "blo%", "é", "É", "straße", "strasse", "blog b", "blog  b"}
	for _, name := range names {
		newProject(t, c, ann, name, 0)
	}
	before := stateOf(t, c)
	for _, name := range names {
		twin := seo.NewProject(ann, at(1))
		twin.Name = name
		wantInvalid(t, "a second project "+name, c.CreateProject(t.Context(), &twin, nil), "project", nameTaken)
	}
	same(t, "the catalog after refused projects", before, stateOf(t, c))
	for _, name := range names {
		newProject(t, c, bob, name, 0)
	}
}

func projectRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	lost := func(err error) bool { return invalid(err, "project", nameTaken) }
	oneWins(t, 50, lost, func(i int) error {
		p := seo.NewProject(owner, at(i))
		p.Name = "example.com"
		return c.CreateProject(t.Context(), &p, nil)
	})
	if page := must(c.Projects(t.Context(), owner, projectRequest()))(t); page.Total != 1 || len(page.Items) != 1 {
		t.Errorf("there are %d rows of %d with one name, want 1", len(page.Items), page.Total)
	}
}

func projectDeleted(how trash.Deletion) func(*testing.T, store.Catalog) {
	return func(t *testing.T, c store.Catalog) {
		owner := newAccount(t, c, "ann").ID
		kept := newProject(t, c, owner, "kept.example", 0)
		for _, refOf := range []func(p seo.Project) seo.Ref{
			func(p seo.Project) seo.Ref { return seo.Ref{ID: p.ID} },
			func(p seo.Project) seo.Ref { return seo.Ref{Name: p.Name} },
			func(p seo.Project) seo.Ref { return seo.Ref{ID: p.ID, Name: kept.Name} },
		} {
			p := seo.Project{AccountID: owner, Name: "gone.example", Reports: 3, Score: score(70), LastReportAt: at(5), Version: 4, CreatedAt: at(1), UpdatedAt: at(2)}
			ok(t, c.CreateProject(t.Context(), &p, nil))
			same(t, "what the deletion returns", p, must(c.DeleteProject(t.Context(), owner, refOf(p), how))(t))
			for _, ref := range []seo.Ref{{ID: p.ID}, {Name: p.Name}} {
				_, err := c.Project(t.Context(), owner, ref)
				wantNotFound(t, "reading a deleted project", err)
				_, err = c.DeleteProject(t.Context(), owner, ref, how)
				wantNotFound(t, "deleting a deleted project", err)
			}
			again := newProject(t, c, owner, "gone.example", 9)
			if again.ID <= p.ID {
				t.Errorf("the name is used again with id %d, want one above %d", again.ID, p.ID)
			}
			same(t, "the project that used the name again", again, must(c.DeleteProject(t.Context(), owner, seo.Ref{Name: "gone.example"}, how))(t))
		}
		page := must(c.Projects(t.Context(), owner, projectRequest()))(t)
		same(t, "the list after the deletions", []seo.Project{kept}, whole(t, "projects", page))
	}
}

func projectDeletedRace(how trash.Deletion) func(*testing.T, store.Catalog) {
	return func(t *testing.T, c store.Catalog) {
		owner := newAccount(t, c, "ann").ID
		p, other := newProject(t, c, owner, "a.example", 0), newProject(t, c, owner, "b.example", 0)
		oneWins(t, 20, isNotFound, func(i int) error {
			ref := seo.Ref{Name: p.Name}
			if i%2 == 0 {
				ref = seo.Ref{ID: p.ID}
			}
			_, err := c.DeleteProject(t.Context(), owner, ref, how)
			return err
		})
		page := must(c.Projects(t.Context(), owner, projectRequest()))(t)
		same(t, "the list", []seo.Project{other}, whole(t, "projects", page))
	}
}

func projectIDs(t *testing.T, c store.Catalog) {
	ann, bob := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	last := int64(0)
	for i := range 10 {
		owner := []int64{ann, bob}[i%2]
		p := newProject(t, c, owner, numbered("project", i), 0)
		if p.ID <= last {
			t.Errorf("a project has id %d after id %d, want ids that grow", p.ID, last)
		}
		last = p.ID
		if i%3 > 0 {
			must(c.DeleteProject(t.Context(), owner, seo.Ref{ID: p.ID}, erase))(t)
		}
	}
}
