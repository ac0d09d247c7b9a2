package storetest

import (
	"errors"
	"testing"

	"sightline/internal/analytics"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var trashRaceContracts = []contract{
	{"one of many restores wins", restoreRace},
	{"a restore or a purge wins", restoreOrPurge},
	{"a restore or a creation gets the name", restoreOrCreate},
	{"one of many restores gets the name", restoreNameRace},
	{"deletions and restores keep one record", deleteAndRestore},
	{"purges erase each record once", purgeRace},
}

func restoreRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	w, p := newWebsite(t, c, owner, "https://a.example", 0), newProject(t, c, owner, "a.example", 0)
	deleteWebsite(t, c, w, 1)
	deleteProject(t, c, p, 1)
	oneWins(t, 20, isNotFound, func(int) error {
		var back analytics.Website
		return c.RestoreWebsite(t.Context(), owner, w.ID, &back, nil)
	})
	oneWins(t, 20, isNotFound, func(int) error {
		var back seo.Project
		return c.RestoreProject(t.Context(), owner, p.ID, &back, nil)
	})
	s := stateOf(t, c)
	same(t, "the websites", []analytics.Website{w}, s.Websites[owner])
	same(t, "the projects", []seo.Project{p}, s.Projects[owner])
	same(t, "the trash", []trash.Item{}, s.Trash[owner])
}

func restoreOrPurge(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for range 10 {
		w := newWebsite(t, c, owner, "https://a.example", 0)
		deleteWebsite(t, c, w, 1)
		errs := atOnce(2, func(i int) error {
			if i == 0 {
				var back analytics.Website
				return c.RestoreWebsite(t.Context(), owner, w.ID, &back, nil)
			}
			_, err := c.Purge(t.Context(), owner, trash.Website, w.ID, anyVersion)
			return err
		})
		_, err := c.Website(t.Context(), owner, w.ID)
		switch {
		case errs[0] == nil && isNotFound(errs[1]):
			ok(t, err)
		case isNotFound(errs[0]) && errs[1] == nil:
			wantNotFound(t, "the website that was purged", err)
		default:
			t.Errorf("the restore answers %v, the purge %v: want one success, one not found", errs[0], errs[1])
		}
		same(t, "the trash", []trash.Item{}, inTrash(t, c, owner))
	}
}

func restoreOrCreate(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	lost := func(err error) bool { return invalid(err, "project", nameTaken) }
	for i := range 10 {
		p := newProject(t, c, owner, numbered("project", i), 0)
		deleteProject(t, c, p, 1)
		oneWins(t, 2, lost, func(i int) error {
			if i == 0 {
				var back seo.Project
				return c.RestoreProject(t.Context(), owner, p.ID, &back, nil)
			}
			twin := seo.NewProject(owner, at(9))
			twin.Name = p.Name
			return c.CreateProject(t.Context(), &twin, nil)
		})
	}
	s := stateOf(t, c)
	if len(s.Projects[owner]) != 10 {
		t.Errorf("there are %d projects with 10 names", len(s.Projects[owner]))
	}
}

func restoreNameRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 10
	var ids []int64
	for range n {
		p := newProject(t, c, owner, "example.com", 0)
		deleteProject(t, c, p, 1)
		ids = append(ids, p.ID)
	}
	lost := func(err error) bool { return invalid(err, "project", nameTaken) }
	oneWins(t, n, lost, func(i int) error {
		var back seo.Project
		return c.RestoreProject(t.Context(), owner, ids[i], &back, nil)
	})
	s := stateOf(t, c)
	same(t, "how many are there, and in the trash", []int{1, n - 1}, []int{len(s.Projects[owner]), len(s.Trash[owner])})
}

// deleteAndRestore deletes and restores one website over and over, beside updates of it.
func deleteAndRestore(t *testing.T, c store.Catalog) {
	w := newWebsite(t, c, newAccount(t, c, "ann").ID, "https://a.example", 0)
	const n, rounds = 12, 5
	updates := make([]int, n)
	errs := atOnce(n, func(i int) error {
		for range rounds {
			var err error
			switch i % 3 {
			case 0:
				err = c.DeleteWebsite(t.Context(), w.AccountID, w.ID, toTrash(i))
			case 1:
				var back analytics.Website
				err = c.RestoreWebsite(t.Context(), w.AccountID, w.ID, &back, nil)
			default:
				_, err = c.UpdateWebsite(t.Context(), w.AccountID, w.ID, func(w *analytics.Website) error {
					w.Version++
					return nil
				})
				if err == nil {
					updates[i]++
				}
			}
			if err != nil && !isNotFound(err) {
				return err
			}
		}
		return nil
	})
	ok(t, errors.Join(errs...))
	for _, more := range updates {
		w.Version += int64(more)
	}
	s := stateOf(t, c)
	if len(s.Trash[w.AccountID]) == 1 {
		same(t, "the websites beside one in the trash", []analytics.Website{}, s.Websites[w.AccountID])
		var back analytics.Website
		ok(t, c.RestoreWebsite(t.Context(), w.AccountID, w.ID, &back, nil))
		s = stateOf(t, c)
	}
	same(t, "the trash in the end", []trash.Item{}, s.Trash[w.AccountID])
	same(t, "the websites in the end", []analytics.Website{w}, s.Websites[w.AccountID])
}

func purgeRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	const n = 40
	for i := range n / 2 {
		deleteWebsite(t, c, newWebsite(t, c, owner, "https://a.example", 0), i%7)
		deleteProject(t, c, newProject(t, c, owner, "a.example", 0), i%5)
	}
	erased := make([]int, 8)
	allSucceed(t, len(erased), func(i int) (err error) {
		erased[i], err = c.PurgeOlder(t.Context(), at(100), 3)
		return err
	})
	sum := 0
	for _, some := range erased {
		if some < 0 || some > 3 {
			t.Errorf("a purge of up to 3 erased %d", some)
		}
		sum += some
	}
	if left := len(inTrash(t, c, owner)); sum == 0 || left != n-sum {
		t.Errorf("purges at once say that they erased %d of %d, and %d are left", sum, n, left)
	}
}
