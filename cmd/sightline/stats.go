package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/client"
)

// StatsCmd is sightline stats.
type StatsCmd struct {
	RemoteFlags
	ID       int64    `arg:"" help:"The website's number in sightline websites list."`
	By       string   `placeholder:"WHAT" help:"time, hour, day, week or month; or page, entry_page, exit_page, referrer, source, channel, country, city, browser, os, device, event, prop:NAME and others."`
	Metrics  []string `placeholder:"NAMES" help:"visitors, visits, pageviews, views_per_visit, bounce_rate, visit_duration, events, event_value, scroll_depth."`
	Filter   []string `sep:"none" placeholder:"FILTER" help:"Only what has a value, such as 'country:is:DE|AT' or page:contains:/blog (is, is_not, contains, matches). Can be repeated."`
	From     string   `placeholder:"DAY" help:"The first day such as 2026-11-01, or today, 7d, 30d, 12mo."`
	To       string   `placeholder:"DAY" help:"The last day."`
	Interval string   `placeholder:"STEP" help:"With --by time: hour, day, week or month."`
	Timezone string   `placeholder:"ZONE" help:"Where days begin, such as Europe/Berlin."`
	Compare  string   `placeholder:"WITH" help:"previous_period, previous_year, or two days such as 2026-10-01..2026-10-31."`
	Search   string   `placeholder:"TEXT" help:"Only rows that contain a text, in any case."`
	Sort     string   `placeholder:"ORDER" help:"A metric, or what --by names; :asc or :desc behind it turns it round."`
	Limit    int      `placeholder:"N" help:"How many rows."`
	Page     int      `placeholder:"N" help:"Which page of rows, from 1."`
}

// Run shows stats.
func (c *StatsCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		stats, err := api.Stats(ctx, c.ID, client.StatsQuery{Metrics: c.Metrics, By: c.By, Interval: c.Interval, Filters: c.Filter, From: c.From, To: c.To,
			Timezone: c.Timezone, Compare: c.Compare, Sort: c.Sort, Search: c.Search, Limit: c.Limit, Page: c.Page})
		if err != nil {
			return fmt.Errorf("website %d: %w", c.ID, err)
		}
		if c.JSON {
			return writeJSON(term.stdout, stats.Raw)
		}
		if err := writeStats(term.stdout, stats); err != nil {
			return err
		}
		_, err = io.WriteString(term.stderr, statsNote(stats))
		return err
	})
}

// writeStats draws an answer: a row for each row, with a bar for the first metric, and the totals.
func writeStats(w io.Writer, stats client.Stats) error {
	if stats.Interval != "" && len(stats.Items) > 1 {
		if _, err := fmt.Fprintf(w, "%s  %s\n\n", stats.Metrics[0], sparkline(stats)); err != nil {
			return err
		}
	}
	heads := append([]string{strings.ToUpper(printable(stats.By))}, upper(stats.Metrics)...)
	if stats.Compared != nil {
		heads = append(heads, "CHANGE")
	}
	table, most := [][]string{heads}, 0.0
	for _, row := range stats.Items {
		most = max(most, row.Metrics[stats.Metrics[0]])
	}
	for i, row := range stats.Items {
		cells := append([]string{valueText(row.Value)}, metricTexts(stats.Metrics, row.Metrics)...)
		if stats.Compared != nil {
			cells = append(cells, changeText(stats.Metrics[0], row.Metrics, stats.Compared.Rows[i]))
		}
		if stats.By == "" {
			cells[0] = ""
		} else {
			cells = append(cells, bar(row.Metrics[stats.Metrics[0]], most))
		}
		table = append(table, cells)
	}
	if stats.By != "" {
		cells := append([]string{"total"}, metricTexts(stats.Metrics, stats.Totals)...)
		if stats.Compared != nil {
			cells = append(cells, changeText(stats.Metrics[0], stats.Totals, &client.StatsRow{Metrics: stats.Compared.Totals}))
		}
		table = append(table, cells)
	} else {
		for i := range table {
			table[i] = table[i][1:]
		}
	}
	alignNumbers(table, len(heads))
	return writeTable(w, table)
}

// statsNote says what the table is about and what it leaves out.
func statsNote(stats client.Stats) string {
	note := fmt.Sprintf("%s to %s, %s.", printable(stats.From), printable(stats.To), printable(stats.Timezone))
	if stats.Compared != nil {
		note += fmt.Sprintf(" The change is from %s to %s.", printable(stats.Compared.From), printable(stats.Compared.To))
	}
	if stats.Last > 1 {
		note += fmt.Sprintf(" Page %d of %d, %d rows in all: --page N shows another, --limit N more at once.", stats.Number, stats.Last, stats.Total)
	}
	return note + "\n"
}

func upper(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.ToUpper(strings.ReplaceAll(printable(name), "_", " "))
	}
	return out
}

// valueText shows what a row is about.
func valueText(value string) string {
	if value == "" {
		return "(none)"
	}
	return printable(value)
}

func metricTexts(names []string, metrics client.Metrics) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = metricText(name, metrics[name])
	}
	return out
}

// metricText shows a number with its unit.
func metricText(name string, value float64) string {
	text := strconv.FormatFloat(value, 'f', -1, 64)
	switch name {
	case "bounce_rate", "scroll_depth":
		return text + " %"
	case "visit_duration":
		return (time.Duration(value) * time.Second).String()
	}
	return text
}

// changeText is by how much a metric differs from what it was.
func changeText(name string, metrics client.Metrics, before *client.StatsRow) string {
	switch {
	case before == nil:
		return "-"
	case before.Metrics[name] == metrics[name]:
		return "="
	case before.Metrics[name] == 0:
		return "new"
	}
	return fmt.Sprintf("%+.0f %%", math.Round(100*(metrics[name]/before.Metrics[name]-1)))
}

// alignNumbers moves what stands in the columns of numbers to their right ends. The last of so many heads has no bars behind it.
func alignNumbers(table [][]string, heads int) {
	first := 1
	if len(table[0]) < heads { // there is no column of values
		first, heads = 0, heads-1
	}
	for column := first; column < heads; column++ {
		width := 0
		for _, row := range table {
			width = max(width, utf8.RuneCountInString(row[column]))
		}
		for _, row := range table {
			row[column] = strings.Repeat(" ", width-utf8.RuneCountInString(row[column])) + row[column]
		}
	}
}

// barSize is how many characters the longest bar has.
const barSize = 24

var eighths = []rune("▏▎▍▌▋▊▉█")

// bar is a value as a line of its length.
func bar(value, most float64) string {
	if value <= 0 || most <= 0 {
		return ""
	}
	parts := max(int(math.Round(value/most*barSize*8)), 1)
	text := strings.Repeat("█", parts/8)
	if rest := parts % 8; rest > 0 {
		text += string(eighths[rest-1])
	}
	return text
}

var heights = []rune("▁▂▃▄▅▆▇█")

// sparkSize is how many characters a sparkline has at most.
const sparkSize = 60

// sparkline draws the first metric of a series in one line; of several steps in one character it shows the highest.
func sparkline(stats client.Stats) string {
	values := make([]float64, min(len(stats.Items), sparkSize))
	most := 0.0
	for i, row := range stats.Items {
		at := i * len(values) / len(stats.Items)
		values[at] = max(values[at], row.Metrics[stats.Metrics[0]])
		most = max(most, values[at])
	}
	line := make([]rune, len(values))
	for i, value := range values {
		height := 0
		if most > 0 && value > 0 {
			height = int(math.Ceil(value/most*float64(len(heights)))) - 1
		}
		line[i] = heights[height]
	}
	return string(line)
}
