package analytics

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sightline/internal/listing"
)

// A Table is the answer to a query.
type Table struct {
	Rows   []Row
	Totals []float64 // the metrics over all matching events, when they were asked for
	Total  int       // how many rows there are on all pages together
}

// A Row is one value of a dimension, or one step of a series, with the metrics in the order of the query.
type Row struct {
	Value   string
	Time    time.Time // where the step begins, in the zone of the query
	Metrics []float64
}

// Found says whether the query's search finds a row with a value. The search is folded once: call it for many values.
func (q Query) Found() func(value string) bool {
	if q.Search == "" {
		return func(string) bool { return true }
	}
	search := listing.Fold(q.Search)
	return func(value string) bool { return strings.Contains(listing.Fold(value), search) }
}

// Rows is how many rows a page has at most.
func (q Query) Rows() int {
	if q.Limit == 0 {
		return MaxRows
	}
	return q.Limit
}

// Series makes the table of a query by time from the metrics of those steps that have events, by their index: every step
// gets a row.
func (q Query) Series(found map[int][]float64) Table {
	steps := q.Steps()
	rows := make([]Row, len(steps))
	for i, step := range steps {
		rows[i] = Row{Time: step, Metrics: found[i]}
		if rows[i].Metrics == nil {
			rows[i].Metrics = make([]float64, len(q.Metrics))
		}
	}
	return q.Page(rows)
}

// Page sorts all rows of a table and cuts the page out of them.
func (q Query) Page(rows []Row) Table {
	metric := slices.Index(q.Metrics, q.Order.Metric)
	slices.SortFunc(rows, func(a, b Row) int {
		first, second := a, b
		if q.Order.Desc {
			first, second = b, a
		}
		if metric < 0 {
			return cmp.Or(first.Time.Compare(second.Time), strings.Compare(first.Value, second.Value))
		}
		return cmp.Or(cmp.Compare(first.Metrics[metric], second.Metrics[metric]), a.Time.Compare(b.Time), strings.Compare(a.Value, b.Value))
	})
	from := min(q.Offset, len(rows))
	to := min(from+q.Rows(), len(rows))
	return Table{Rows: rows[from:to], Total: len(rows)}
}
