package analyticsapi

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"sightline/internal/analytics"
)

// An object is a JSON object whose fields keep their order; nil is null.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	for i, m := range o {
		buffer.WriteByte("{,"[min(i, 1)])
		if err := encoder.Encode(m.name); err != nil {
			return nil, err
		}
		buffer.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}

// row is a row of a table as answers show it: what it is about, if that is wanted, and its metrics.
func (q *question) row(row analytics.Row, named bool) object {
	var o object
	if named && q.by != "" {
		o = append(o, member{q.by, q.value(row)})
	}
	for i, metric := range q.query.Metrics {
		o = append(o, member{string(metric), shown(metric, row.Metrics[i])})
	}
	return o
}

// value is what a row is about. A step of hours or less is shown with its offset, so that none is shown twice.
func (q *question) value(row analytics.Row) string {
	switch {
	case q.query.By != analytics.ByTime:
		return row.Value
	case q.query.Interval == analytics.Hour || q.query.Interval == analytics.Minute:
		return row.Time.Format(time.RFC3339)
	default:
		return row.Time.Format(time.DateOnly)
	}
}

func (q *question) rows(rows []analytics.Row) []object {
	list := make([]object, len(rows))
	for i, row := range rows {
		list[i] = q.row(row, true)
	}
	return list
}

// shown is a metric with as many digits as mean something; always one that JSON can carry.
func shown(metric analytics.Metric, value float64) float64 {
	digits := 1e2
	if metric == analytics.EventValue {
		digits = 1e6
	}
	switch {
	case math.IsNaN(value):
		return 0
	case math.Abs(value) < 1e9:
		return math.Round(value*digits) / digits
	default:
		return max(-math.MaxFloat64, min(value, math.MaxFloat64))
	}
}
