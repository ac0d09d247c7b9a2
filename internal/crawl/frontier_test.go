package crawl_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"sightline/internal/crawl"
	"sightline/internal/crawl/frontiertest"
)

func TestMemory(t *testing.T) {
	frontiertest.Run(t, func(*testing.T) crawl.Frontier { return crawl.NewMemory() })
}

// The suite compares others with Memory; this compares Memory with a list that is sorted anew for every question.
func TestMemoryAgainstAList(t *testing.T) {
	frontiertest.Run(t, func(*testing.T) crawl.Frontier { return &list{} })
}

// A list is a frontier that is slow and obviously right.
type list struct {
	items  []crawl.Item
	done   []bool
	totals crawl.Totals
}

func (l *list) Save(_ context.Context, s crawl.Step) (crawl.Totals, error) {
	for _, item := range s.Found {
		at := l.find(item.URL.URL, item.Kind)
		switch {
		case at < 0:
			l.items, l.done = append(l.items, item), append(l.done, false)
		case !l.done[at] && item.Kind == crawl.Page && closer(item, l.items[at]) < 0:
			l.items[at] = item
		}
	}
	for _, key := range s.Done {
		if at := l.find(key.URL, key.Kind); at >= 0 {
			l.done[at] = true
		}
	}
	totals := crawl.Totals{Fetched: l.totals.Fetched + s.Fetched, Cut: cmp.Or(s.Cut, l.totals.Cut)}
	for i, item := range l.items {
		known, done := &totals.Checks, &totals.ChecksDone
		if item.Kind == crawl.Page {
			known, done = &totals.Pages, &totals.PagesDone
		}
		*known++
		if l.done[i] {
			*done++
		}
	}
	l.totals = totals
	return totals, nil
}

func (l *list) find(url string, kind crawl.Kind) int {
	return slices.IndexFunc(l.items, func(i crawl.Item) bool { return i.URL.URL == url && i.Kind == kind })
}

// closer compares how near to the start page two items are.
func closer(a, b crawl.Item) int {
	if a.Unlinked != b.Unlinked {
		if b.Unlinked {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Depth, b.Depth)
}

func (l *list) Waiting(_ context.Context, pages bool, most int) ([]crawl.Item, error) {
	var at []int
	for i, item := range l.items {
		if !l.done[i] && (item.Kind == crawl.Page) == pages {
			at = append(at, i)
		}
	}
	if pages {
		slices.SortStableFunc(at, func(a, b int) int { return closer(l.items[a], l.items[b]) })
	}
	var items []crawl.Item
	for _, i := range at[:min(len(at), most)] {
		items = append(items, l.items[i])
	}
	return items, nil
}
