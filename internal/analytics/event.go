package analytics

import (
	"context"
	"errors"
	"iter"
	"time"
)

// The limits of an event's text, in bytes. Whoever makes an event cuts or refuses what is longer.
const (
	MaxPage      = 2048
	MaxText      = 2048 // of any other field
	MaxProps     = 30
	MaxPropName  = 300
	MaxPropValue = 2000
)

// An Event is something that a visitor did: one stored row.
type Event struct {
	Website  int64
	At       time.Time // UTC, to the millisecond
	Visitor  uint64    // a hash that lives one UTC day
	Visit    uint64    // random; the events of a visitor with gaps under 30 minutes
	Kind     Kind
	Name     string // of a custom event
	Page     string // path and the query that is kept
	Hostname string // of the page
	Origin
	Place
	Agent
	Value      float64           // of a custom event
	Unit       string            // of Value, such as a currency
	Props      map[string]string // free properties of the event; nil when there are none
	Engagement time.Duration     // how long the page was looked at since the last event about it, to the millisecond
	Depth      uint8             // how far the page was scrolled, in percent
}

// An Origin is where a visit came from. Every event of the visit carries it.
type Origin struct {
	Referrer    string // full address without query and fragment; empty when the visitor came directly
	Source      string // name of the search engine, network or site
	Channel     string // such as search, social, direct
	UTMSource   string
	UTMMedium   string
	UTMCampaign string
	UTMContent  string
	UTMTerm     string
}

// A Place is where a visitor is.
type Place struct {
	Country string // ISO 3166-1, two letters
	Region  string
	City    string
}

// An Agent is what a visitor browses with.
type Agent struct {
	Language       string
	Browser        string
	BrowserVersion string
	OS             string
	OSVersion      string
	Device         string // one of the device names
	Screen         string // "1920x1080", or a class of widths
}

// Kind says what an event is.
type Kind uint8

// The kinds of events.
const (
	PageView   Kind = 1 // a page was opened
	Custom     Kind = 2 // a named event of the site's own
	Engagement Kind = 3 // a page was looked at for a while, or scrolled
)

// The names of devices.
const (
	Desktop = "desktop"
	Mobile  = "mobile"
	Tablet  = "tablet"
	TV      = "tv"
	Bot     = "bot"
)

// A Drop is a hit that was left out, for the exclusion ledger.
type Drop struct {
	Website int64
	At      time.Time
	Reason  string // such as host, ip or bot
	Page    string
	Agent   string // the user agent as it was sent
}

// A Batch is stored as a whole or not at all.
type Batch struct {
	Events []Event
	Drops  []Drop
	// Position is how far the spool has been read with this batch. A batch at or below the stored position is already
	// stored and ignored. 0 is a batch that comes from no spool, such as an import: it is always stored.
	Position int64
}

// A Visit is what must be known of a visit to go on with it.
type Visit struct {
	Website int64
	Visitor uint64
	ID      uint64
	Last    time.Time // its newest event
	Origin  Origin    // of its newest event; all of them carry the same
}

// An Exclusion counts what was left out on one UTC day for one reason.
type Exclusion struct {
	Day    time.Time // midnight UTC
	Reason string
	Events int64
}

// Exclusions is the ledger of what was left out: counts by day and reason, and the newest samples.
type Exclusions struct {
	Days    []Exclusion // by day, then reason
	Samples []Drop      // the newest first
}

// How much of what was left out is kept as samples.
const (
	SampleTime  = 7 * 24 * time.Hour
	SampleCount = 20 // of each website and reason
)

// ErrEraseAll refuses to erase everything.
var ErrEraseAll = errors.New("name a website or a time before which events are erased")

// Events is where events rest. Failures that a caller can do something about are of the kinds in package fault.
type Events interface {
	// Append stores a batch, once: see Batch.Position.
	Append(ctx context.Context, b Batch) error
	// Position is that of the newest stored batch; 0 before the first.
	Position(ctx context.Context) (int64, error)
	// Query answers a question about one website.
	Query(ctx context.Context, q Query) (Table, error)
	// Events streams a website's events from one time until before another, by time, then in the order of arrival.
	Events(ctx context.Context, website int64, from, to time.Time) iter.Seq2[Event, error]
	// OpenVisits lists the visits with an event since a time, so that they can go on after a restart.
	OpenVisits(ctx context.Context, since time.Time) ([]Visit, error)
	// Exclusions reads a website's ledger for the UTC days from that of one time until before another time.
	Exclusions(ctx context.Context, website int64, from, to time.Time) (Exclusions, error)
	// Erase removes for good: one website, or all for 0, what lies before a time, or everything for the zero time.
	// Both zero is ErrEraseAll.
	Erase(ctx context.Context, website int64, before time.Time) error
}
