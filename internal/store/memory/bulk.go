package memory

import (
	"context"
	"fmt"

	"sightline/internal/analytics"
)

// ApplyWebsites implements analytics.BulkWebsites.
func (db *DB) ApplyWebsites(ctx context.Context, account int64, domains []string, edit func(found map[string]analytics.Website) ([]*analytics.Website, error)) error {
	return db.change(ctx, func() error {
		found, ids := map[string]analytics.Website{}, map[int64]bool{}
		for _, domain := range domains {
			if w, err := db.oldestWebsite(account, domain); err == nil {
				found[domain], ids[w.ID] = w, true
			}
		}
		edited, err := edit(found)
		if err != nil {
			return err
		}
		for _, w := range edited {
			if err := db.applyWebsite(account, w, ids); err != nil {
				return err
			}
		}
		return nil
	})
}

// applyWebsite stores one website of a bulk change that found those with some ids.
func (db *DB) applyWebsite(account int64, w *analytics.Website, found map[int64]bool) error {
	w.AccountID = account
	if w.ID == 0 {
		return db.addWebsite(w)
	}
	if !found[w.ID] {
		return fmt.Errorf("website %d was not among those found", w.ID)
	}
	i, err := db.findWebsite(account, w.ID)
	if err != nil {
		return err
	}
	db.websites[i] = keptWebsite(*w)
	return nil
}
