package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/trash"
)

// Websites implements analytics.Websites.
func (db *DB) Websites(ctx context.Context, account int64, r listing.Request) (listing.Page[analytics.Website], error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return listing.Page[analytics.Website]{}, err
	}
	defer unlock()
	var rows []analytics.Website
	for _, w := range db.websites {
		text := w.SearchURL()
		if r.SearchBy == analytics.SearchByDomain {
			text = w.SearchDomain()
		}
		if w.AccountID == account && contains(text, r) {
			rows = append(rows, w)
		}
	}
	return onePage(rows, r, func(a, b analytics.Website) int {
		if r.SortBy == analytics.SortByCreated {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.URL, b.URL), cmp.Compare(a.ID, b.ID))
	}), nil
}

// Website implements analytics.Websites.
func (db *DB) Website(ctx context.Context, account, id int64) (analytics.Website, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return analytics.Website{}, err
	}
	defer unlock()
	i, err := db.findWebsite(account, id)
	if err != nil {
		return analytics.Website{}, err
	}
	return db.websites[i], nil
}

// CreateWebsite implements analytics.Websites.
func (db *DB) CreateWebsite(ctx context.Context, w *analytics.Website, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func() error { return db.addWebsite(w) })
}

// UpdateWebsite implements analytics.Websites.
func (db *DB) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (edited analytics.Website, err error) {
	err = db.change(ctx, func() error {
		i, err := db.findWebsite(account, id)
		if err != nil {
			return err
		}
		changed := db.websites[i]
		if err := edit(&changed); err != nil {
			return err
		}
		changed.ID, changed.AccountID = id, account
		db.websites[i] = keptWebsite(changed)
		edited = db.websites[i]
		return nil
	})
	return edited, err
}

// DeleteWebsite implements analytics.Websites.
func (db *DB) DeleteWebsite(ctx context.Context, account, id int64, how trash.Deletion) error {
	return db.change(ctx, func() error {
		i, err := db.findWebsite(account, id)
		if err != nil {
			return err
		}
		w := db.websites[i]
		if err := checked(how, w.Version); err != nil {
			return err
		}
		db.websites = slices.Delete(db.websites, i, i+1)
		if how.At.IsZero() {
			db.erasures[id] = time.Now()
		} else {
			db.deletedWebsites = append(db.deletedWebsites, deletedWebsite{w, second(how.At)})
		}
		return nil
	})
}

// RestoreWebsite implements analytics.Websites.
func (db *DB) RestoreWebsite(ctx context.Context, account, id int64, w *analytics.Website, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func() error {
		i := slices.IndexFunc(db.deletedWebsites, func(d deletedWebsite) bool { return d.record.AccountID == account && d.record.ID == id })
		if i < 0 {
			return fmt.Errorf("website %d in the trash: %w", id, fault.NotFound)
		}
		*w = db.deletedWebsites[i].record
		db.deletedWebsites = slices.Delete(db.deletedWebsites, i, i+1)
		db.websites = append(db.websites, *w)
		slices.SortFunc(db.websites, func(a, b analytics.Website) int { return cmp.Compare(a.ID, b.ID) })
		return nil
	})
}

// OldestWebsite implements analytics.Websites.
func (db *DB) OldestWebsite(ctx context.Context, account int64, domain string) (int64, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	oldest, err := db.oldestWebsite(account, domain)
	return oldest.ID, err
}

// addWebsite stores a new website.
func (db *DB) addWebsite(w *analytics.Website) error {
	if err := db.needAccount(w.AccountID); err != nil {
		return err
	}
	w.ID = next(&db.last.website)
	db.websites = append(db.websites, keptWebsite(*w))
	return nil
}

// oldestWebsite is the website of a domain with the lowest id.
func (db *DB) oldestWebsite(account int64, domain string) (analytics.Website, error) {
	for _, w := range db.websites {
		if w.AccountID == account && w.Domain == domain {
			return w, nil
		}
	}
	return analytics.Website{}, fmt.Errorf("website of %s: %w", domain, fault.NotFound)
}

// findWebsite is the index of a website.
func (db *DB) findWebsite(account, id int64) (int, error) {
	for i, w := range db.websites {
		if w.AccountID == account && w.ID == id {
			return i, nil
		}
	}
	return 0, fmt.Errorf("website %d: %w", id, fault.NotFound)
}

// keptWebsite is a website as it is kept.
func keptWebsite(w analytics.Website) analytics.Website {
	w.CreatedAt, w.UpdatedAt = second(w.CreatedAt), second(w.UpdatedAt)
	return w
}
