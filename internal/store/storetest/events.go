package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sightline/internal/analytics"
	"sightline/internal/store"
	"sightline/internal/store/memory"
)

// RunEvents holds an engine to the contract of store.Events. open makes an empty store on a clock.
func RunEvents(t *testing.T, open func(t *testing.T, now func() time.Time) store.Events) {
	fresh := func(t *testing.T) pair {
		clock := func() time.Time { return eventsNow }
		p := pair{engine: open(t, clock), oracle: memory.OpenEvents(clock)}
		t.Cleanup(func() {
			if err := p.engine.Close(); err != nil {
				t.Error(err)
			}
		})
		return p
	}
	t.Run("Questions", func(t *testing.T) { testQuestions(t, fresh(t)) })
	t.Run("Append", func(t *testing.T) { testAppend(t, fresh(t)) })
	t.Run("Stored", func(t *testing.T) { testStored(t, fresh(t)) })
	t.Run("Stream", func(t *testing.T) { testStream(t, fresh(t)) })
	t.Run("OpenVisits", func(t *testing.T) { testOpenVisits(t, fresh(t)) })
	t.Run("Exclusions", func(t *testing.T) { testExclusions(t, fresh(t)) })
	t.Run("Erase", func(t *testing.T) { testErase(t, fresh(t)) })
	t.Run("Compact", func(t *testing.T) { testCompact(t, fresh(t)) })
	t.Run("Closed", func(t *testing.T) { testEventsClosed(t, fresh(t)) })
}

// A pair is an engine and the oracle, to which the same happens.
type pair struct{ engine, oracle store.Events }

// append stores a batch in both.
func (p pair) append(t testing.TB, b analytics.Batch) {
	t.Helper()
	for _, events := range []store.Events{p.engine, p.oracle} {
		if err := events.Append(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// ask compares the answers to a question, and returns the engine's.
func (p pair) ask(t interface {
	Helper()
	Errorf(string, ...any)
}, q analytics.Query) analytics.Table {
	t.Helper()
	want, wantErr := p.oracle.Query(context.Background(), q)
	got, gotErr := p.engine.Query(context.Background(), q)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Errorf("the engine says %v, the oracle %v, to %+v", gotErr, wantErr, q)
	} else if !reflect.DeepEqual(want, got) { // much faster than what tells where
		t.Errorf("the engine differs from the oracle (-want +got) in %+v\n%s", q, cmp.Diff(want, got))
	}
	return got
}

// testQuestions asks an engine and the oracle everything about the same world.
func testQuestions(t *testing.T, p pair) {
	events := world()
	for part := range slices.Chunk(events, 300) {
		p.append(t, analytics.Batch{Events: part})
	}
	t.Run("Dimensions", func(t *testing.T) { testDimensions(t, p) })
	t.Run("Filters", func(t *testing.T) { testFilters(t, p) })
	t.Run("Series", func(t *testing.T) { testSeries(t, p) })
	t.Run("Pages", func(t *testing.T) { testPages(t, p) })
	t.Run("Metrics", func(t *testing.T) { testMetrics(t, p) })
	t.Run("Property", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { p.ask(t, drawQuery(t)) })
	})
}

func testDimensions(t *testing.T, p pair) {
	for _, by := range append(dimensions(), analytics.None) {
		q := season(true)
		q.By = by
		if table := p.ask(t, q); table.Total == 0 && by.KeepsEmpty() {
			t.Errorf("by %s there are no rows: the world should have some", by)
		}
	}
}

// testFilters tries every operator on every dimension, with one value and with several.
func testFilters(t *testing.T, p pair) {
	values := map[analytics.Op][][]string{
		analytics.Is:       {{"", "/", "DE", "Firefox", "free"}, hostile},
		analytics.IsNot:    {{"", "/", "/a", "signup"}, hostile},
		analytics.Contains: {{"x", "a", "%", "'"}, {""}},
		analytics.Matches:  {{"/100_%sure", `*\`, "/100%_*", "a*b"}, {"*a*", "F*f*x", "**z", "*/"}},
	}
	for _, dimension := range dimensions()[:26] {
		for op, lists := range values {
			for _, list := range lists {
				q := season(false)
				q.Filters = []analytics.Filter{{Dimension: dimension, Op: op, Values: list}}
				p.ask(t, q)
			}
		}
	}
	q := season(false)
	q.By = analytics.ByPage
	q.Filters = []analytics.Filter{{Dimension: analytics.ByCountry, Op: analytics.Is, Values: []string{"DE", "US"}},
		{Dimension: analytics.ByEntryPage, Op: analytics.Matches, Values: []string{"/*"}}}
	p.ask(t, q)
}

// testSeries tries every interval in every zone, also over the moments at which clocks are changed.
func testSeries(t *testing.T, p pair) {
	for _, name := range zones {
		for _, interval := range analytics.Intervals {
			for _, spring := range []bool{true, false} {
				q := season(spring)
				q.By, q.Zone, q.Interval = analytics.ByTime, zone(t, name), interval
				if interval == analytics.Minute {
					q.To = q.From.AddDate(0, 0, 2)
				}
				whole := p.ask(t, q)
				views, i := 0.0, slices.Index(q.Metrics, analytics.Pageviews)
				for _, row := range whole.Rows {
					views += row.Metrics[i]
				}
				if len(whole.Totals) == 0 || views != whole.Totals[i] || views == 0 {
					t.Fatalf("%s, %s: the steps have %v page views, the whole range %v", name, interval, views, whole.Totals)
				}
			}
		}
	}
}

// testPages tries order, search and paging.
func testPages(t *testing.T, p pair) {
	for _, by := range []analytics.Dimension{analytics.ByPage, analytics.ByUTMCampaign, analytics.ByTime} {
		for _, metric := range []analytics.Metric{"", analytics.Visitors, analytics.BounceRate, analytics.EventValue} {
			for _, desc := range []bool{false, true} {
				q := season(true)
				q.By, q.Interval, q.Order = by, analytics.Day, analytics.Order{Metric: metric, Desc: desc}
				p.ask(t, q)
				q.Limit, q.Offset = 3, 2
				p.ask(t, q)
			}
		}
	}
	for _, search := range []string{"A", "ä", "Ä", "%", "b/C", "σ", "É", "no such", "'"} {
		for _, offset := range []int{0, 1, 500} {
			q := season(true)
			q.By, q.Search, q.Limit, q.Offset = analytics.ByPage, search, 2, offset
			p.ask(t, q)
		}
	}
	q := season(true)
	q.By, q.Offset = analytics.ByPage, 1000
	p.ask(t, q)
}

// testMetrics asks for each metric alone, so that none leans on what another one reads.
func testMetrics(t *testing.T, p pair) {
	for _, metric := range analytics.Metrics {
		for _, by := range []analytics.Dimension{analytics.None, analytics.ByPage, analytics.ByEntryPage, analytics.ByTime} {
			for _, filter := range [][]analytics.Filter{nil, {{Dimension: analytics.ByExitPage, Op: analytics.IsNot, Values: []string{"/a"}}}} {
				q := season(true)
				q.Metrics, q.By, q.Interval, q.Filters = []analytics.Metric{metric}, by, analytics.Week, filter
				p.ask(t, q)
			}
		}
		for _, empty := range []analytics.Dimension{analytics.None, analytics.ByPage} {
			q := season(true)
			q.Website, q.Metrics, q.By = 99, []analytics.Metric{metric}, empty
			p.ask(t, q)
		}
	}
}

// drawQuery is any question about the world, good or bad.
func drawQuery(t *rapid.T) analytics.Query {
	q := season(rapid.Bool().Draw(t, "spring"))
	q.Website = rapid.Int64Range(1, 3).Draw(t, "website")
	q.From = q.From.Add(time.Duration(rapid.Int64Range(0, int64(8*24*time.Hour)).Draw(t, "from")))
	q.To = q.From.Add(time.Duration(rapid.Int64Range(-1, int64(9*24*time.Hour)).Draw(t, "long")))
	location, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	q.Zone, q.Interval = location, rapid.SampledFrom(analytics.Intervals).Draw(t, "interval")
	q.By = rapid.SampledFrom(append(dimensions(), analytics.None, analytics.ByTime, "nonsense")).Draw(t, "by")
	q.Metrics = rapid.SliceOfNDistinct(rapid.SampledFrom(analytics.Metrics), 1, -1, rapid.ID).Draw(t, "metrics")
	q.Order = analytics.Order{Metric: rapid.SampledFrom(q.Metrics).Draw(t, "sort"), Desc: rapid.Bool().Draw(t, "desc")}
	q.Limit, q.Offset = rapid.IntRange(0, 5).Draw(t, "limit"), rapid.IntRange(0, 5).Draw(t, "offset")
	q.Search = rapid.SampledFrom([]string{"", "", "a", "É"}).Draw(t, "search")
	for range rapid.IntRange(0, 3).Draw(t, "filters") {
		q.Filters = append(q.Filters, analytics.Filter{
			Dimension: rapid.SampledFrom(dimensions()).Draw(t, "dimension"),
			Op:        rapid.SampledFrom(analytics.Ops).Draw(t, "op"),
			Values:    rapid.SliceOfN(rapid.SampledFrom(append(hostile, "", "/", "/a", "*", "/*", "DE", "Chrome", "free", "direct")), 1, 4).Draw(t, "values"),
		})
	}
	return q
}
