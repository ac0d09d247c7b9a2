package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A StatsQuery is a question about the visits to a website. What is empty is left to the server.
type StatsQuery struct {
	Metrics  []string // such as visitors, visits, pageviews, bounce_rate
	By       string   // time, hour, day, week, month, or a dimension such as page, country, prop:NAME
	Interval string   // with By "time": hour, day, week or month
	Filters  []string // such as country:is:DE|AT; all must hold. See FilterValue
	From, To string   // days such as 2026-11-30; From also today, 7d, 12mo, without To
	Timezone string   // such as Europe/Berlin
	Compare  string   // previous_period, previous_year, or two days such as 2026-10-01..2026-10-31
	Sort     string   // such as visitors:desc
	Search   string   // a part of the value of rows; any case
	Limit    int      // rows on a page
	Page     int      // from 1
}

// FilterValue writes a value so that a filter takes it literally.
func FilterValue(value string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(value)
}

func (q StatsQuery) values() url.Values {
	query := PageOptions{0, q.Page}.values()
	for name, value := range map[string]string{"metrics": strings.Join(q.Metrics, ","), "by": q.By, "interval": q.Interval, "from": q.From, "to": q.To,
		"timezone": q.Timezone, "compare": q.Compare, "sort": q.Sort, "search": q.Search} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.Limit != 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	query["filter"] = slices.Clone(q.Filters)
	return query
}

// Stats is the answer to a question.
type Stats struct {
	Page[StatsRow]
	Totals   Metrics
	Compared *Comparison // nil: nothing was compared
	From, To string      // the days that it is about
	Timezone string
	Metrics  []string // the metrics in the order of the question
	By       string   // as in the question
	Interval string   // of a series

	Raw json.RawMessage // the answer as the server sent it
}

// Metrics are numbers by the names of their metrics.
type Metrics map[string]float64

// A StatsRow is one value of a dimension, or one step of a series, with its metrics.
type StatsRow struct {
	Value   string // empty when there is one row about everything, and for direct visits and the like
	Metrics Metrics
}

// A Comparison is what the metrics are in another period.
type Comparison struct {
	From, To string
	Totals   Metrics
	Rows     []*StatsRow // as those of the answer; nil for a step that the other period does not have
}

// Stats asks about the visits to a website.
func (c *Client) Stats(ctx context.Context, website int64, q StatsQuery) (Stats, error) {
	var raw json.RawMessage
	if _, err := c.do(ctx, call{area: Analytics, method: http.MethodGet, path: websitePath(website) + "/stats", query: q.values()}, &raw); err != nil {
		return Stats{}, err
	}
	var body struct {
		Data    []map[string]any `json:"data"`
		Totals  Metrics          `json:"totals"`
		Compare *struct {
			From   string           `json:"from"`
			To     string           `json:"to"`
			Totals Metrics          `json:"totals"`
			Data   []map[string]any `json:"data"`
		} `json:"compare"`
		Query struct {
			From     string   `json:"from"`
			To       string   `json:"to"`
			Timezone string   `json:"timezone"`
			Metrics  []string `json:"metrics"`
			By       string   `json:"by"`
			Interval string   `json:"interval"`
		} `json:"query"`
		Meta struct {
			CurrentPage int `json:"current_page"`
			LastPage    int `json:"last_page"`
			PerPage     int `json:"per_page"`
			Total       int `json:"total"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return Stats{}, fmt.Errorf("client: read the stats: %w", err)
	}
	s := Stats{Page: Page[StatsRow]{nil, body.Meta.CurrentPage, body.Meta.LastPage, body.Meta.PerPage, body.Meta.Total}, Totals: body.Totals,
		From: body.Query.From, To: body.Query.To, Timezone: body.Query.Timezone, Metrics: body.Query.Metrics, By: body.Query.By, Interval: body.Query.Interval,
		Raw: bytes.TrimSpace(raw)}
	for _, row := range body.Data {
		s.Items = append(s.Items, *statsRow(row, s.By))
	}
	if other := body.Compare; other != nil {
		s.Compared = &Comparison{From: other.From, To: other.To, Totals: other.Totals}
		for _, row := range other.Data {
			s.Compared.Rows = append(s.Compared.Rows, statsRow(row, s.By))
		}
	}
	return s, nil
}

// statsRow reads a row; nil stays nil.
func statsRow(fields map[string]any, by string) *StatsRow {
	if fields == nil {
		return nil
	}
	row := &StatsRow{Metrics: Metrics{}}
	for name, value := range fields {
		switch v := value.(type) {
		case string:
			if name == by {
				row.Value = v
			}
		case float64:
			row.Metrics[name] = v
		}
	}
	return row
}

// A Count is a value of a list, with how often it occurs.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// CountOptions say what ListStats shall list. What is empty is left to the server.
type CountOptions struct {
	From, To string // days, as in StatsQuery
	Timezone string
	ListOptions
}

// ListStats lists values of one name, such as page, country or visitors_hour, in the way of the older interface.
func (c *Client) ListStats(ctx context.Context, website int64, name string, o CountOptions) (Page[Count], error) {
	query := o.ListOptions.values()
	for name, value := range map[string]string{"name": name, "from": o.From, "to": o.To, "timezone": o.Timezone} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var body struct {
		Data        []Count `json:"data"`
		CurrentPage int     `json:"current_page"`
		LastPage    int     `json:"last_page"`
		PerPage     int     `json:"per_page"`
		Total       int     `json:"total"`
	}
	path := "/api/v1/stats/" + strconv.FormatInt(website, 10)
	_, err := c.do(ctx, call{area: Analytics, method: http.MethodGet, path: path, query: query}, &body)
	return Page[Count]{body.Data, body.CurrentPage, body.LastPage, body.PerPage, body.Total}, err
}

// Realtime is what takes place on a website now.
type Realtime struct {
	Visitors int `json:"visitors"` // in the last 5 minutes
	Minutes  []struct {
		Minute    time.Time `json:"minute"`
		Pageviews int       `json:"pageviews"`
	} `json:"minutes"` // the last 30
	Pages []struct {
		Page      string `json:"page"`
		Visitors  int    `json:"visitors"`
		Pageviews int    `json:"pageviews"`
	} `json:"pages"` // of the last 5 minutes
	Sources []struct {
		Source   string `json:"source"` // empty: direct
		Visitors int    `json:"visitors"`
	} `json:"sources"` // likewise
}

// Realtime sees who is on a website now.
func (c *Client) Realtime(ctx context.Context, website int64) (Realtime, error) {
	var body struct {
		Data Realtime `json:"data"`
	}
	_, err := c.do(ctx, call{area: Analytics, method: http.MethodGet, path: websitePath(website) + "/realtime"}, &body)
	return body.Data, err
}

// Exclusions is what was left out of the count.
type Exclusions struct {
	Days []struct {
		Date   string `json:"date"` // of UTC
		Reason string `json:"reason"`
		Events int64  `json:"events"`
	} `json:"data"`
	Samples []struct {
		At     time.Time `json:"at"`
		Reason string    `json:"reason"`
		Page   string    `json:"page"`
		Agent  string    `json:"agent"`
	} `json:"samples"` // the newest first
}

// Exclusions reads what was left out from one day to another; empty texts leave that to the server.
func (c *Client) Exclusions(ctx context.Context, website int64, from, to string) (Exclusions, error) {
	var body Exclusions
	_, err := c.do(ctx, call{area: Analytics, method: http.MethodGet, path: websitePath(website) + "/exclusions", query: StatsQuery{From: from, To: to}.values()}, &body)
	return body, err
}
