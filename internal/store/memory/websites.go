package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/listing"
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
func (db *DB) CreateWebsite(ctx context.Context, w *analytics.Website) error {
	unlock, err := db.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := db.needAccount(w.AccountID); err != nil {
		return err
	}
	w.ID = next(&db.last.website)
	db.websites = append(db.websites, keptWebsite(*w))
	return nil
}

// UpdateWebsite implements analytics.Websites.
func (db *DB) UpdateWebsite(ctx context.Context, account, id int64, edit func(*analytics.Website) error) (analytics.Website, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return analytics.Website{}, err
	}
	defer unlock()
	i, err := db.findWebsite(account, id)
	if err != nil {
		return analytics.Website{}, err
	}
	edited := db.websites[i]
	if err := edit(&edited); err != nil {
		return analytics.Website{}, err
	}
	edited.ID, edited.AccountID = id, account
	db.websites[i] = keptWebsite(edited)
	return db.websites[i], nil
}

// DeleteWebsite implements analytics.Websites.
func (db *DB) DeleteWebsite(ctx context.Context, account, id int64) error {
	unlock, err := db.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	i, err := db.findWebsite(account, id)
	if err != nil {
		return err
	}
	db.websites = slices.Delete(db.websites, i, i+1)
	return nil
}

// OldestWebsite implements analytics.Websites.
func (db *DB) OldestWebsite(ctx context.Context, account int64, domain string) (int64, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for _, w := range db.websites {
		if w.AccountID == account && w.Domain == domain {
			return w.ID, nil
		}
	}
	return 0, fmt.Errorf("website of %s: %w", domain, fault.NotFound)
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
