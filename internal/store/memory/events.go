package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
)

// Events implements store.Events: slow and obviously right.
type Events struct {
	now      func() time.Time
	mu       sync.Mutex
	closed   bool
	events   []analytics.Event // in the order of arrival
	counts   map[exclusionKey]int64
	samples  []analytics.Drop // in the order of arrival
	position int64
}

type exclusionKey struct {
	website int64
	day     time.Time
	reason  string
}

// OpenEvents makes an empty store of events.
func OpenEvents(now func() time.Time) *Events {
	return &Events{now: now, counts: map[exclusionKey]int64{}}
}

// lock keeps all others out until unlock.
func (s *Events) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("the events are closed: %w", fault.Unavailable)
	}
	return s.mu.Unlock, nil
}

// Append implements analytics.Events.
func (s *Events) Append(ctx context.Context, b analytics.Batch) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if b.Position != 0 && b.Position <= s.position {
		return nil
	}
	s.position = max(s.position, b.Position)
	for _, event := range b.Events {
		s.events = append(s.events, event.Stored())
	}
	for _, drop := range b.Drops {
		drop = drop.Stored()
		s.counts[exclusionKey{drop.Website, drop.At.Truncate(24 * time.Hour), drop.Reason}]++
		s.samples = append(s.samples, drop)
	}
	return nil
}

// Position implements analytics.Events.
func (s *Events) Position(ctx context.Context) (int64, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return s.position, nil
}

// Events implements analytics.Events.
func (s *Events) Events(ctx context.Context, website int64, from, to time.Time) iter.Seq2[analytics.Event, error] {
	return func(yield func(analytics.Event, error) bool) {
		unlock, err := s.lock(ctx)
		if err != nil {
			yield(analytics.Event{}, err)
			return
		}
		list := slices.Collect(s.within(website, from, to))
		unlock()
		slices.SortStableFunc(list, func(a, b analytics.Event) int { return a.At.Compare(b.At) })
		for _, event := range list {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// within is a website's events from one time until before another, in the order of arrival.
func (s *Events) within(website int64, from, to time.Time) iter.Seq[analytics.Event] {
	return func(yield func(analytics.Event) bool) {
		for _, event := range s.events {
			if event.Website == website && !event.At.Before(from) && event.At.Before(to) && !yield(event) {
				return
			}
		}
	}
}

// OpenVisits implements analytics.Events.
func (s *Events) OpenVisits(ctx context.Context, since time.Time) ([]analytics.Visit, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	type key struct {
		website        int64
		visitor, visit uint64
	}
	newest := map[key]analytics.Visit{}
	for _, event := range s.events {
		k := key{event.Website, event.Visitor, event.Visit}
		if known, ok := newest[k]; event.At.Before(since) || ok && event.At.Before(known.Last) {
			continue
		}
		newest[k] = analytics.Visit{Website: event.Website, Visitor: event.Visitor, ID: event.Visit, Last: event.At, Origin: event.Origin}
	}
	var list []analytics.Visit
	for _, visit := range newest {
		list = append(list, visit)
	}
	slices.SortFunc(list, func(a, b analytics.Visit) int {
		return cmp.Or(cmp.Compare(a.Website, b.Website), a.Last.Compare(b.Last), cmp.Compare(a.Visitor, b.Visitor), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Exclusions implements analytics.Events.
func (s *Events) Exclusions(ctx context.Context, website int64, from, to time.Time) (analytics.Exclusions, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return analytics.Exclusions{}, err
	}
	defer unlock()
	var ledger analytics.Exclusions
	first := from.UTC().Truncate(24 * time.Hour)
	for key, count := range s.counts {
		if key.website == website && !key.day.Before(first) && key.day.Before(to) {
			ledger.Days = append(ledger.Days, analytics.Exclusion{Day: key.day, Reason: key.reason, Events: count})
		}
	}
	slices.SortFunc(ledger.Days, func(a, b analytics.Exclusion) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Reason, b.Reason))
	})
	samples := slices.Clone(s.samples)
	slices.Reverse(samples) // so that of those at the same time the newest arrival comes first
	slices.SortStableFunc(samples, func(a, b analytics.Drop) int { return b.At.Compare(a.At) })
	oldest, kept := s.now().Add(-analytics.SampleTime), map[string]int{}
	for _, drop := range samples {
		if drop.Website != website || drop.At.Before(oldest) || kept[drop.Reason] == analytics.SampleCount {
			continue
		}
		kept[drop.Reason]++
		if !drop.At.Before(first) && drop.At.Before(to) {
			ledger.Samples = append(ledger.Samples, drop)
		}
	}
	return ledger, nil
}

// Erase implements analytics.Events.
func (s *Events) Erase(ctx context.Context, website int64, before time.Time) error {
	if website == 0 && before.IsZero() {
		return analytics.ErrEraseAll
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	gone := func(of int64, at time.Time) bool {
		return (website == 0 || website == of) && (before.IsZero() || at.Before(before))
	}
	s.events = slices.DeleteFunc(s.events, func(e analytics.Event) bool { return gone(e.Website, e.At) })
	s.samples = slices.DeleteFunc(s.samples, func(d analytics.Drop) bool { return gone(d.Website, d.At) })
	for key := range s.counts {
		if gone(key.website, key.day.Add(24*time.Hour-1)) {
			delete(s.counts, key)
		}
	}
	return nil
}

// Compact implements store.Events.
func (s *Events) Compact(context.Context) error { return nil }

// Close implements store.Events.
func (s *Events) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
