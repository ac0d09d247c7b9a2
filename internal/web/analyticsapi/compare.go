package analyticsapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/web/apikit"
)

const (
	previousPeriod = "previous_period"
	previousYear   = "previous_year"
	compareWords   = "must be previous_period, previous_year, or two days such as 2026-10-01..2026-10-31"
)

// readCompare reads with which period to compare.
func (q *question) readCompare(query apikit.Fields) {
	q.compare = query.Text("compare")
	switch q.compare {
	case "":
		return
	case previousPeriod:
		q.other = q.period.shift(func(day time.Time) time.Time { return day.AddDate(0, 0, -q.period.days()) })
	case previousYear:
		q.other = q.period.shift(yearBefore)
	default:
		from, to, _ := strings.Cut(q.compare, "..")
		first, err := parseDay(from)
		last, wrong := parseDay(to)
		if err != nil || wrong != nil || last.Before(first) {
			query.Bad["compare"] = []string{compareWords}
			return
		}
		q.other = period{first, last, q.period.zone}
	}
	if other := q.otherQuery(); q.query.Check() == nil && other.Check() != nil {
		query.Bad["compare"] = []string{"leads to too many steps, or to days before 1970"}
	}
}

// otherQuery is the query about the other period, all of its rows in their natural order.
func (q *question) otherQuery() analytics.Query {
	other := q.query
	other.From, other.To = q.other.start(), q.other.end()
	other.Search, other.Order, other.Limit, other.Offset = "", analytics.Order{}, 0, 0
	return other
}

// compared is another period: its totals, and for each row of the answer the values there.
type compared struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Totals object   `json:"totals"`
	Data   []object `json:"data"` // null for a step that the other period does not have
}

// comparison asks about the other period; nil when none is wanted.
func (a *API) comparison(ctx context.Context, q *question, rows []analytics.Row) (*compared, error) {
	if q.compare == "" {
		return nil, nil
	}
	c := &compared{From: q.other.first.Format(time.DateOnly), To: q.other.last.Format(time.DateOnly), Data: make([]object, len(rows))}
	other := q.otherQuery()
	if q.query.By != analytics.None && q.query.By != analytics.ByTime {
		other.By = analytics.None
	}
	table, err := a.Events.Query(ctx, other)
	if err != nil {
		return nil, err
	}
	c.Totals = q.row(analytics.Row{Metrics: table.Totals}, false)
	switch q.query.By {
	case analytics.None:
		c.Data = q.rows(table.Rows)
	case analytics.ByTime:
		q.matchSteps(c.Data, rows, table.Rows)
	default:
		err = a.matchValues(ctx, q, c.Data, rows)
	}
	return c, err
}

// matchSteps puts beside each step the one with the same number in the other period.
func (q *question) matchSteps(list []object, rows, others []analytics.Row) {
	number := map[int64]int{}
	for i, step := range q.query.Steps() {
		number[step.UnixMilli()] = i
	}
	for i, row := range rows {
		if n := number[row.Time.UnixMilli()]; n < len(others) {
			list[i] = q.row(others[n], true)
		}
	}
}

// matchValues puts beside each row the one with the same value in the other period; zeros when there is none.
func (a *API) matchValues(ctx context.Context, q *question, list []object, rows []analytics.Row) error {
	values := make([]string, len(rows))
	for i, row := range rows {
		values[i] = row.Value
	}
	found := map[string]analytics.Row{}
	if len(values) > 0 {
		other := q.otherQuery()
		other.Totals = false
		other.Filters = append(slices.Clone(other.Filters), analytics.Filter{Dimension: other.By, Op: analytics.Is, Values: values})
		table, err := a.Events.Query(ctx, other)
		if err != nil {
			return err
		}
		for _, row := range table.Rows {
			found[row.Value] = row
		}
	}
	for i, value := range values {
		row, there := found[value]
		if !there {
			row = analytics.Row{Value: value, Metrics: make([]float64, len(q.query.Metrics))}
		}
		list[i] = q.row(row, true)
	}
	return nil
}
