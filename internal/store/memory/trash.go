package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/trash"
)

// Trash implements trash.Trash.
func (db *DB) Trash(ctx context.Context, account int64, objects []trash.Object, r listing.Request) (listing.Page[trash.Item], error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return listing.Page[trash.Item]{}, err
	}
	defer unlock()
	var items []trash.Item
	for _, d := range db.deleted() {
		if d.account == account && slices.Contains(objects, d.Object) {
			items = append(items, d.Item)
		}
	}
	return onePage(items, listing.Request{Page: r.Page, PerPage: r.PerPage}, func(a, b trash.Item) int {
		return cmp.Or(b.DeletedAt.Compare(a.DeletedAt), cmp.Compare(a.Object, b.Object), cmp.Compare(b.ID, a.ID))
	}), nil
}

// Purge implements trash.Trash.
func (db *DB) Purge(ctx context.Context, account int64, object trash.Object, id int64, check func(version int64) error) (gone trash.Item, err error) {
	err = db.change(ctx, func() error {
		for _, d := range db.deleted() {
			if d.account == account && d.Object == object && d.ID == id {
				if err := check(d.version); err != nil {
					return err
				}
				gone = d.Item
				db.erase(gone)
				return nil
			}
		}
		return fmt.Errorf("%s %d in the trash: %w", object, id, fault.NotFound)
	})
	return gone, err
}

// PurgeOlder implements trash.Trash.
func (db *DB) PurgeOlder(ctx context.Context, before time.Time, limit int) (erased int, err error) {
	err = db.change(ctx, func() error {
		oldestFirst := slices.SortedFunc(slices.Values(db.deleted()), func(a, b owned) int {
			return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), cmp.Compare(a.Object, b.Object), cmp.Compare(a.ID, b.ID))
		})
		for _, d := range oldestFirst {
			if d.DeletedAt.Before(before) && erased < limit {
				db.erase(d.Item)
				erased++
			}
		}
		return nil
	})
	return erased, err
}

// owned is an item in the trash of an account.
type owned struct {
	account, version int64
	trash.Item
}

// deleted lists what is in the trash of all accounts.
func (db *DB) deleted() []owned {
	var all []owned
	for _, d := range db.deletedWebsites {
		all = append(all, owned{d.record.AccountID, d.record.Version, trash.Item{Object: trash.Website, ID: d.record.ID, Name: d.record.URL, DeletedAt: d.at}})
	}
	for _, d := range db.deletedProjects {
		all = append(all, owned{d.record.AccountID, d.record.Version, trash.Item{Object: trash.Project, ID: d.record.ID, Name: d.record.Name, DeletedAt: d.at}})
	}
	for _, r := range db.reports {
		if !r.there() && !r.withProject {
			all = append(all, owned{r.AccountID, r.Version, trash.Item{Object: trash.Report, ID: r.ID, Name: r.URL, DeletedAt: r.deletedAt}})
		}
	}
	return all
}

// erase takes an item out of the trash for good.
func (db *DB) erase(item trash.Item) {
	switch item.Object {
	case trash.Website:
		db.erasures[item.ID] = time.Now()
		db.deletedWebsites = slices.DeleteFunc(db.deletedWebsites, func(d deletedWebsite) bool { return d.record.ID == item.ID })
	case trash.Project:
		db.deletedProjects = slices.DeleteFunc(db.deletedProjects, func(d deletedProject) bool { return d.record.ID == item.ID })
		db.eraseReports(func(r *report) bool { return r.ProjectID == item.ID })
	case trash.Report:
		db.eraseReports(func(r *report) bool { return r.ID == item.ID })
	}
}

// checked asks a deletion whether a record of some version may go.
func checked(how trash.Deletion, version int64) error {
	if how.Check == nil {
		return nil
	}
	return how.Check(version)
}
