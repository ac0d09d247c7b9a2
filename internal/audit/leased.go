package audit

import (
	"context"
	"fmt"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/seo"
)

// A leased is the Store of a run that was claimed from the queue.
type leased struct {
	audits seo.Audits
	lease  seo.Lease
}

// Save implements Store. What is more than can be stored at once goes in several steps: what was found before what is done, so
// that a page is done only when its links are known.
func (l leased) Save(ctx context.Context, s crawl.Step, learned Learned) (crawl.Totals, error) {
	found := make([]seo.Item, len(s.Found))
	for i, item := range s.Found {
		found[i] = seo.Item{URL: item.URL.URL, Kind: kinds[item.Kind], Depth: item.Depth, Unlinked: item.Unlinked, From: item.From}
	}
	done := make([]seo.ItemKey, len(s.Done))
	for i, key := range s.Done {
		done[i] = seo.ItemKey{URL: key.URL, Kind: kinds[key.Kind]}
	}
	for ; len(found) > seo.MaxStep; found = found[seo.MaxStep:] {
		if _, err := l.save(ctx, seo.Step{Found: found[:seo.MaxStep]}); err != nil {
			return crawl.Totals{}, err
		}
	}
	return l.save(ctx, seo.Step{Found: found, Done: done, Fetched: s.Fetched, Cut: string(s.Cut), Current: learned.Current,
		Pages: learned.Pages, Resources: learned.Resources, Site: learned.Site, Ratings: learned.Ratings})
}

func (l leased) save(ctx context.Context, s seo.Step) (crawl.Totals, error) {
	t, err := l.audits.SaveAudit(ctx, l.lease, s)
	return crawl.Totals{Pages: t.Pages, PagesDone: t.PagesDone, Checks: t.Checks, ChecksDone: t.ChecksDone, Fetched: t.Fetched, Cut: crawl.Reason(t.Cut)}, err
}

// Waiting implements Store.
func (l leased) Waiting(ctx context.Context, pages bool, most int) ([]crawl.Item, error) {
	stored, err := l.audits.WaitingItems(ctx, l.lease, pages, most)
	if err != nil {
		return nil, err
	}
	items := make([]crawl.Item, len(stored))
	for i, item := range stored {
		to, err := address.Restore(item.URL)
		if err != nil {
			return nil, fmt.Errorf("the stored address %q: %w", item.URL, err)
		}
		items[i] = crawl.Item{URL: to, Kind: crawlKind(item.Kind), Depth: item.Depth, Unlinked: item.Unlinked, From: item.From}
	}
	return items, nil
}

// Crawl implements Store.
func (l leased) Crawl(ctx context.Context) (seo.Crawl, error) {
	return l.audits.SavedCrawl(ctx, l.lease)
}

// Earlier implements Store.
func (l leased) Earlier(ctx context.Context, url string) (*seo.Page, error) {
	return l.audits.EarlierPage(ctx, l.lease, url)
}
