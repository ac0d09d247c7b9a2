package memory

import (
	"context"
	"slices"
	"time"

	"sightline/internal/analytics"
)

// Query implements analytics.Events.
func (s *Events) Query(ctx context.Context, q analytics.Query) (analytics.Table, error) {
	if err := q.Check(); err != nil {
		return analytics.Table{}, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return analytics.Table{}, err
	}
	defer unlock()
	a := answer{query: q, events: slices.Collect(s.within(q.Website, q.From, q.To))}
	slices.SortStableFunc(a.events, func(x, y analytics.Event) int { return x.At.Compare(y.At) })
	a.visits = visitsOf(a.events)
	a.keepMatching()
	table := a.table()
	if q.Totals {
		table.Totals = a.metrics(a.events)
	}
	return table, nil
}

// A visit is how a visit went in the range.
type visit struct {
	views, customs int
	first, last    time.Time
	engagement     time.Duration
	entry, exit    string
}

func (v *visit) bounced() bool {
	return v.views == 1 && v.customs == 0 && v.engagement < analytics.BounceEngagement
}

// visitsOf reads the visits from events in the order of time.
func visitsOf(events []analytics.Event) map[uint64]*visit {
	visits := map[uint64]*visit{}
	for _, event := range events {
		v := visits[event.Visit]
		if v == nil {
			v = &visit{first: event.At}
			visits[event.Visit] = v
		}
		v.last = event.At
		v.engagement += event.Engagement
		switch event.Kind {
		case analytics.PageView:
			if v.views == 0 {
				v.entry = event.Page
			}
			v.views++
			v.exit = event.Page
		case analytics.Custom:
			v.customs++
		}
	}
	return visits
}

// An answer is on its way from events to a table.
type answer struct {
	query  analytics.Query
	events []analytics.Event // in the order of time
	visits map[uint64]*visit
}

// value is what an event has in a dimension.
func (a *answer) value(d analytics.Dimension, e *analytics.Event) string {
	switch d {
	case analytics.ByEntryPage:
		return a.visits[e.Visit].entry
	case analytics.ByExitPage:
		return a.visits[e.Visit].exit
	}
	return d.Value(e)
}

// keepMatching leaves out the events that do not pass the filters.
func (a *answer) keepMatching() {
	a.events = slices.DeleteFunc(a.events, func(e analytics.Event) bool {
		return slices.ContainsFunc(a.query.Filters, func(f analytics.Filter) bool { return !f.Holds(a.value(f.Dimension, &e)) })
	})
}

func (a *answer) table() analytics.Table {
	q := a.query
	if q.By == analytics.None {
		return analytics.Table{Rows: []analytics.Row{{Metrics: a.metrics(a.events)}}, Total: 1}
	}
	if q.By == analytics.ByTime {
		return a.series()
	}
	groups, found := map[string][]analytics.Event{}, q.Found()
	for _, event := range a.events {
		value := a.value(q.By, &event)
		if value != "" || q.By.KeepsEmpty() {
			groups[value] = append(groups[value], event)
		}
	}
	rows := []analytics.Row{}
	for value, events := range groups {
		if slices.ContainsFunc(events, counts) && found(value) {
			rows = append(rows, analytics.Row{Value: value, Metrics: a.metrics(events)})
		}
	}
	return q.Page(rows)
}

func (a *answer) series() analytics.Table {
	steps := a.query.Steps()
	groups := map[int][]analytics.Event{}
	for _, event := range a.events {
		i := len(steps) - 1
		for steps[i].After(event.At) {
			i--
		}
		groups[i] = append(groups[i], event)
	}
	found := map[int][]float64{}
	for i, events := range groups {
		if slices.ContainsFunc(events, counts) {
			found[i] = a.metrics(events)
		}
	}
	return a.query.Series(found)
}

// counts says whether an event counts by itself.
func counts(e analytics.Event) bool { return e.Kind != analytics.Engagement }

// metrics is what the query asks of some events.
func (a *answer) metrics(events []analytics.Event) []float64 {
	all := a.sums(events)
	list := make([]float64, len(a.query.Metrics))
	for i, metric := range a.query.Metrics {
		list[i] = all[metric]
	}
	return list
}

// sums is every metric of some events.
func (a *answer) sums(events []analytics.Event) map[analytics.Metric]float64 {
	type visitPage struct {
		visit uint64
		page  string
	}
	all := map[analytics.Metric]float64{}
	visitors, visits, depths := map[uint64]bool{}, map[uint64]bool{}, map[visitPage]uint8{}
	for _, e := range events {
		if counts(e) {
			visitors[e.Visitor], visits[e.Visit] = true, true
		}
		switch e.Kind {
		case analytics.PageView:
			all[analytics.Pageviews]++
		case analytics.Custom:
			all[analytics.CustomEvents]++
			all[analytics.EventValue] += e.Value
		}
		if e.Depth > 0 {
			key := visitPage{e.Visit, e.Page}
			depths[key] = max(depths[key], e.Depth)
		}
	}
	all[analytics.Visitors], all[analytics.Visits] = float64(len(visitors)), float64(len(visits))
	if n := float64(len(visits)); n > 0 {
		views, bounces, length := a.sumVisits(visits)
		all[analytics.ViewsPerVisit] = float64(views) / n
		all[analytics.BounceRate] = float64(bounces) * 100 / n
		all[analytics.VisitDuration] = float64(length.Milliseconds()) / n / 1000
	}
	if n := float64(len(depths)); n > 0 {
		sum := 0
		for _, depth := range depths {
			sum += int(depth)
		}
		all[analytics.ScrollDepth] = float64(sum) / n
	}
	return all
}

// sumVisits adds up how some visits went.
func (a *answer) sumVisits(ids map[uint64]bool) (views, bounces int, length time.Duration) {
	for id := range ids {
		v := a.visits[id]
		views += v.views
		length += v.last.Sub(v.first)
		if v.bounced() {
			bounces++
		}
	}
	return views, bounces, length
}
