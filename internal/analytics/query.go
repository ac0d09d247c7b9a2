package analytics

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/internal/fault"
	"sightline/internal/listing"
)

// A Query is a question about one website's events. Every engine renders it in its own language.
//
// An event matches when it lies in the range and passes every filter. Page views and custom events count; engagement
// events only tell how a visit and a page went on, so alone they make no row.
type Query struct {
	Website  int64
	From, To time.Time      // instants, To excluded
	Zone     *time.Location // of the steps of a series
	Interval Interval       // of a series
	Metrics  []Metric
	By       Dimension // none: one row over everything
	Filters  []Filter  // all must hold
	Search   string    // keeps the rows whose value contains it in any case; says nothing about totals
	Order    Order
	Limit    int // of the rows; 0 is MaxRows
	Offset   int
	Totals   bool // whether the metrics over all matching events are wanted too
}

// The limits of a query.
const (
	MaxRows    = 10_000
	MaxOffset  = 10_000_000
	MaxSteps   = 10_000
	MaxFilters = 20
	MaxValues  = 100 // of a filter
)

// A Metric is a number about a set of events.
type Metric string

// The metrics. Those of visits are about the visits with a matching page view or custom event; how such a visit went is
// read from all of its events in the range, whether they match or not. Where there is nothing to take a mean of it is 0.
const (
	Visitors      Metric = "visitors"        // different visitors of page views and custom events
	Visits        Metric = "visits"          // different visits of page views and custom events
	Pageviews     Metric = "pageviews"       // page views
	ViewsPerVisit Metric = "views_per_visit" // page views of a visit, mean
	BounceRate    Metric = "bounce_rate"     // visits, in percent, with one page view, no custom event and under ten seconds of engagement
	VisitDuration Metric = "visit_duration"  // seconds from a visit's first to its last event, mean
	CustomEvents  Metric = "events"          // custom events
	EventValue    Metric = "event_value"     // sum of the values of custom events
	ScrollDepth   Metric = "scroll_depth"    // greatest depth, in percent, of each visit on each page that was scrolled, mean
)

// Metrics lists all of them.
var Metrics = []Metric{Visitors, Visits, Pageviews, ViewsPerVisit, BounceRate, VisitDuration, CustomEvents, EventValue, ScrollDepth}

// BounceEngagement is how much engagement makes a visit of one page more than a bounce.
const BounceEngagement = 10 * time.Second

// A Filter keeps the events whose dimension has one of the values; for IsNot, none of them.
type Filter struct {
	Dimension Dimension
	Op        Op
	Values    []string
}

// Op is how a filter compares. All of them compare bytes: case matters.
type Op string

// The operators of filters.
const (
	Is       Op = "is"
	IsNot    Op = "is_not"
	Contains Op = "contains"
	Matches  Op = "matches" // the whole value; a * stands for any characters, also none
)

// Ops lists all of them.
var Ops = []Op{Is, IsNot, Contains, Matches}

// An Order sorts rows by a metric, or by the value (a series by time) when there is none. Rows that are equal follow the
// bytes of their values.
type Order struct {
	Metric Metric
	Desc   bool
}

// Check reports every part of the query that breaks a rule, under the name that callers know it by.
func (q Query) Check() error {
	bad := fault.Invalid{}
	if len(q.Metrics) == 0 {
		bad.Add("metrics", "must name at least one of "+names(Metrics))
	}
	for i, metric := range q.Metrics {
		if !slices.Contains(Metrics, metric) {
			bad.Add("metrics", fmt.Sprintf("has %q, which is none of %s", short(string(metric)), names(Metrics)))
		} else if slices.Contains(q.Metrics[:i], metric) {
			bad.Add("metrics", fmt.Sprintf("has %s twice", metric))
		}
	}
	if q.By != None && q.By != ByTime && !q.By.known() {
		bad.Add("by", fmt.Sprintf("is %q, which is none of time, %s, prop:NAME", short(string(q.By)), names(Dimensions())))
	}
	q.checkRange(bad)
	q.checkFilters(bad)
	if utf8.RuneCountInString(q.Search) > listing.MaxSearch {
		bad.Add("search", fmt.Sprintf("must be at most %d characters", listing.MaxSearch))
	}
	if q.Order.Metric != "" && !slices.Contains(q.Metrics, q.Order.Metric) {
		bad.Add("sort", "must be one of the metrics asked for")
	}
	if q.Limit < 0 || q.Limit > MaxRows {
		bad.Add("limit", fmt.Sprintf("must be at most %d", MaxRows))
	}
	if q.Offset < 0 || q.Offset > MaxOffset {
		bad.Add("page", fmt.Sprintf("must lie within the first %d rows", MaxOffset))
	}
	return bad.OrNil()
}

func (q Query) checkRange(bad fault.Invalid) {
	switch {
	case q.From.Before(oldest) || q.To.After(newest):
		bad.Add("from", "must lie with to between the years 1970 and 2200")
	case !q.From.Before(q.To):
		bad.Add("to", "must be after from")
	case q.By == ByTime && q.Zone == nil:
		bad.Add("timezone", "is required")
	case q.By == ByTime && !slices.Contains(Intervals, q.Interval):
		bad.Add("interval", "must be one of "+names(Intervals))
	case q.By == ByTime && len(q.Steps()) > MaxSteps:
		bad.Add("interval", fmt.Sprintf("gives more than %d rows: choose a longer one or a shorter range", MaxSteps))
	}
}

// What lies outside of these times is no event of ours.
var (
	oldest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	newest = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func (q Query) checkFilters(bad fault.Invalid) {
	if len(q.Filters) > MaxFilters {
		bad.Add("filter", fmt.Sprintf("must be given at most %d times", MaxFilters))
	}
	for _, filter := range q.Filters {
		if !filter.Dimension.known() {
			bad.Add("filter", fmt.Sprintf("has the dimension %q, which is none of %s, prop:NAME", short(string(filter.Dimension)), names(Dimensions())))
		}
		if !slices.Contains(Ops, filter.Op) {
			bad.Add("filter", fmt.Sprintf("has the operator %q, which is none of %s", short(string(filter.Op)), names(Ops)))
		}
		if len(filter.Values) < 1 || len(filter.Values) > MaxValues {
			bad.Add("filter", fmt.Sprintf("must have 1 to %d values", MaxValues))
		}
		for _, value := range filter.Values {
			if len(value) > MaxText || !utf8.ValidString(value) {
				bad.Add("filter", fmt.Sprintf("has a value that is no text of at most %d bytes", MaxText))
			}
		}
	}
}

// Holds says whether a value of the filter's dimension passes.
func (f Filter) Holds(value string) bool {
	switch f.Op {
	case Is:
		return slices.Contains(f.Values, value)
	case IsNot:
		return !slices.Contains(f.Values, value)
	case Contains:
		return slices.ContainsFunc(f.Values, func(part string) bool { return strings.Contains(value, part) })
	default:
		return slices.ContainsFunc(f.Values, func(pattern string) bool { return matches(pattern, value) })
	}
}

// matches says whether a pattern, in which * stands for any characters, is the whole value.
func matches(pattern, value string) bool {
	first, rest, stars := strings.Cut(pattern, "*")
	if !stars {
		return value == pattern
	}
	value, ok := strings.CutPrefix(value, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		_, after, found := strings.Cut(value, part)
		if !found {
			return false
		}
		value = after
	}
	return strings.HasSuffix(value, last)
}

// names writes a list for a sentence.
func names[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, name := range list {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

// short is the beginning of a text that a caller sent.
func short(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}
