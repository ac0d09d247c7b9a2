package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"
)

// An Event is one thing that a visitor did, as exports and imports carry it.
type Event struct {
	At       time.Time `json:"at"`
	Kind     string    `json:"kind"`           // pageview, event or engagement
	Name     string    `json:"name,omitempty"` // of an event
	Page     string    `json:"page,omitempty"`
	Hostname string    `json:"hostname,omitempty"`
	Visitor  string    `json:"visitor"` // 16 hexadecimal digits
	Visit    string    `json:"visit"`   // likewise

	Referrer    string `json:"referrer,omitempty"`
	Source      string `json:"source,omitempty"`
	Channel     string `json:"channel,omitempty"`
	UTMSource   string `json:"utm_source,omitempty"`
	UTMMedium   string `json:"utm_medium,omitempty"`
	UTMCampaign string `json:"utm_campaign,omitempty"`
	UTMContent  string `json:"utm_content,omitempty"`
	UTMTerm     string `json:"utm_term,omitempty"`

	Country string `json:"country,omitempty"` // two letters
	Region  string `json:"region,omitempty"`
	City    string `json:"city,omitempty"`

	Language       string `json:"language,omitempty"`
	Browser        string `json:"browser,omitempty"`
	BrowserVersion string `json:"browser_version,omitempty"`
	OS             string `json:"os,omitempty"`
	OSVersion      string `json:"os_version,omitempty"`
	Device         string `json:"device,omitempty"`
	Screen         string `json:"screen,omitempty"`

	Value        float64           `json:"value,omitempty"`
	Unit         string            `json:"unit,omitempty"`
	Props        map[string]string `json:"props,omitempty"`
	EngagementMS int64             `json:"engagement_ms,omitempty"`
	ScrollDepth  int               `json:"scroll_depth,omitempty"` // percent
}

// ExportOptions say which events to export. What is empty is left out: all of them.
type ExportOptions struct {
	From, To string // days, as in StatsQuery
	Timezone string
}

// The formats of an export.
const (
	CSV    = "csv"
	NDJSON = "ndjson" // one Event as JSON in each line
)

// exportTime is longer than the server lets an export take.
const exportTime = 7 * time.Hour

// Export opens the events of a website as a file, the oldest first. It comes as it is read: an error while reading means that the
// rest is missing. The caller closes it.
func (c *Client) Export(ctx context.Context, website int64, format string, o ExportOptions) (io.ReadCloser, error) {
	query := StatsQuery{From: o.From, To: o.To, Timezone: o.Timezone}.values()
	query.Set("format", format)
	return c.stream(ctx, call{area: Analytics, method: http.MethodGet, path: websitePath(website) + "/export", query: query, long: exportTime})
}

// longestLine is more than a line of an export can have.
const longestLine = 4 << 20

// Events lists the events of a website, the oldest first. An error ends it.
func (c *Client) Events(ctx context.Context, website int64, o ExportOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		file, err := c.Export(ctx, website, NDJSON, o)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, longestLine)
		for lines.Scan() {
			var event Event
			if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
				yield(Event{}, fmt.Errorf("client: read an event: %w", err))
				return
			}
			if !yield(event, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, err)
		}
	}
}

// MaxImport is how large the lines of one import may be in all, in bytes.
const MaxImport = 4 << 20

// Imported is what became of the events of an import.
type Imported struct {
	Stored int `json:"stored"`
	Known  int `json:"known"` // were there already
}

// importTime is longer than the server takes for an import.
const importTime = 90 * time.Second

// ImportLines stores events in the lines of an export: all that are not there yet, or none. What is wrong with a line is in the
// Fields of an *Error, such as "3.at": EntryField splits them. The same lines can be sent again.
func (c *Client) ImportLines(ctx context.Context, website int64, lines []byte) (Imported, error) {
	var body Imported
	_, err := c.do(ctx, call{area: Analytics, method: http.MethodPost, path: websitePath(website) + "/import", lines: lines, long: importTime}, &body)
	return body, err
}

// ImportEvents stores events, as ImportLines does.
func (c *Client) ImportEvents(ctx context.Context, website int64, events []Event) (Imported, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, event := range events {
		if err := encoder.Encode(event); err != nil {
			return Imported{}, fmt.Errorf("client: %w", err)
		}
	}
	return c.ImportLines(ctx, website, lines.Bytes())
}

// compactTime is longer than the server lets a rewrite take.
const compactTime = 70 * time.Minute

// CompactEvents rewrites the events of the server, so that they take less room, and waits until that is done.
func (c *Client) CompactEvents(ctx context.Context) error {
	_, err := c.do(ctx, call{area: Analytics, method: http.MethodPost, path: "/api/v1/events/compact", long: compactTime}, &struct{}{})
	return err
}
