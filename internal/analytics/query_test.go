package analytics

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sightline/internal/fault"
)

func TestQueryCheck(t *testing.T) {
	good := Query{Website: 1, From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Zone: time.UTC,
		Interval: Day, Metrics: []Metric{Visitors, Pageviews}, By: ByPage, Order: Order{Metric: Visitors}, Limit: 10,
		Filters: []Filter{{ByCountry, Is, []string{"DE"}}, {Prop("plan"), Matches, []string{"*"}}}}
	tests := []struct {
		name   string
		change func(q *Query)
		field  string // the bad one; empty for none
		says   string
	}{
		{"as it is", func(q *Query) {}, "", ""},
		{"no dimension", func(q *Query) { q.By = None }, "", ""},
		{"a property", func(q *Query) { q.By = Prop("plan") }, "", ""},
		{"a year of hours", func(q *Query) { q.By, q.Interval, q.To = ByTime, Hour, q.From.AddDate(1, 0, 0) }, "", ""},
		{"no metric", func(q *Query) { q.Metrics, q.Order = nil, Order{} }, "metrics", "visitors, visits, pageviews"},
		{"an unknown metric", func(q *Query) { q.Metrics = []Metric{"visitors", "clicks"} }, "metrics", `"clicks", which is none of visitors`},
		{"a metric twice", func(q *Query) { q.Metrics = []Metric{Visitors, Visitors} }, "metrics", "twice"},
		{"an unknown dimension", func(q *Query) { q.By = "colour" }, "by", `"colour", which is none of time, page, entry_page`},
		{"a property without a name", func(q *Query) { q.By = Prop("") }, "by", "prop:NAME"},
		{"a property that is no text", func(q *Query) { q.By = Prop("\xff") }, "by", "prop:NAME"},
		{"a range that ends before it begins", func(q *Query) { q.To = q.From }, "to", "after from"},
		{"no range", func(q *Query) { q.From, q.To = time.Time{}, time.Time{} }, "from", "1970"},
		{"a series without a zone", func(q *Query) { q.By, q.Zone = ByTime, nil }, "timezone", "required"},
		{"an unknown interval", func(q *Query) { q.By, q.Interval = ByTime, "year" }, "interval", "minute, hour, day, week, month"},
		{"too many steps", func(q *Query) { q.By, q.Interval = ByTime, Minute }, "interval", "10000 rows"},
		{"a filter by time", func(q *Query) { q.Filters[0].Dimension = ByTime }, "filter", `"time", which is none of`},
		{"an unknown operator", func(q *Query) { q.Filters[0].Op = "like" }, "filter", `"like", which is none of is, is_not, contains, matches`},
		{"a filter without values", func(q *Query) { q.Filters[0].Values = nil }, "filter", "1 to 100 values"},
		{"a value that is no text", func(q *Query) { q.Filters[0].Values = []string{"\xff"} }, "filter", "no text"},
		{"too many filters", func(q *Query) { q.Filters = slices.Repeat(q.Filters, 11) }, "filter", "at most 20"},
		{"a long search", func(q *Query) { q.Search = strings.Repeat("a", 201) }, "search", "200 characters"},
		{"sorted by what is not asked for", func(q *Query) { q.Order.Metric = BounceRate }, "sort", "one of the metrics"},
		{"too many rows", func(q *Query) { q.Limit = MaxRows + 1 }, "limit", "10000"},
		{"a page far away", func(q *Query) { q.Offset = -1 }, "page", "first"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := good
			q.Filters = slices.Clone(good.Filters)
			test.change(&q)
			err := q.Check()
			var bad fault.Invalid
			if test.field == "" && err == nil {
				return
			}
			if !errors.As(err, &bad) || len(bad) != 1 || !strings.Contains(strings.Join(bad[test.field], " "), test.says) {
				t.Errorf("got %v, want %s … %s", err, test.field, test.says)
			}
		})
	}
}

// TestDimensions holds the table to the rule of each dimension.
func TestDimensions(t *testing.T) {
	full := &Event{Kind: Custom, Name: "signup", Page: "/a", Hostname: "example.com", Place: Place{"US", "Texas", "Austin"},
		Origin: Origin{"https://r.example/", "R", "referral", "s", "m", "c", "n", "t"},
		Agent:  Agent{"en", "Firefox", "144", "Android", "16", Mobile, "360x800"}, Props: map[string]string{"plan": "free"}}
	want := map[Dimension]string{ByPage: "/a", ByHostname: "example.com", ByReferrer: "https://r.example/", BySource: "R", ByChannel: "referral",
		ByUTMSource: "s", ByUTMMedium: "m", ByUTMCampaign: "c", ByUTMContent: "n", ByUTMTerm: "t", ByCountry: "US", ByRegion: "US:Texas", ByCity: "US:Austin, Texas",
		ByContinent: "NA", ByLanguage: "en", ByBrowser: "Firefox", ByBrowserVersion: "Firefox 144", ByOS: "Android", ByOSVersion: "Android 16", ByDevice: "mobile",
		ByScreen: "360x800", ByEvent: "signup", ByEntryPage: "", ByExitPage: "", Prop("plan"): "free", Prop("other"): ""}
	for _, dimension := range append(Dimensions(), Prop("plan"), Prop("other")) {
		value, known := want[dimension]
		if got := dimension.Value(full); !known || got != value {
			t.Errorf("%s is %q, want %q", dimension, got, value)
		}
		if got := dimension.Value(&Event{Kind: PageView, Name: "no custom event"}); got != "" {
			t.Errorf("%s of an empty event is %q", dimension, got)
		}
	}
}

func FuzzMatches(f *testing.F) {
	for _, seed := range [][2]string{{"/blog/*", "/blog/a"}, {"*", ""}, {"a*b*c", "a-b-b-c"}, {"*a", "ba"}, {"**", "x"}, {"a*a", "a"}, {"", ""}, {"%_\\", "%_\\"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		if len(pattern) > 100 || !utf8.ValidString(pattern) || !utf8.ValidString(value) {
			return
		}
		parts := strings.Split(pattern, "*")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		want := regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(value)
		if got := (Filter{Op: Matches, Values: []string{pattern}}).Holds(value); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, value, got, want)
		}
	})
}
