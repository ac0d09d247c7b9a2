package collect

import (
	"net/netip"
	"time"
)

// Names of hits that are not custom events.
const (
	Pageview   = "pageview"   // the same as no name
	Engagement = "engagement" // time spent on a page, and how far it was read
)

// A Hit is what a client reports, in whatever format it came.
type Hit struct {
	Site        string            // tracking id; empty: the website is found by Domain, or by the host of URL
	Domain      string            // a domain that the client names instead of a tracking id
	Name        string            // Pageview, Engagement, or the name of a custom event
	URL         string            // of the page
	Referrer    string            // of the page
	Screen      string            // its resolution such as 1920x1080, or its width
	Language    string            // as browsers write it, such as en-US
	Props       map[string]string // what a custom event carries
	Value       float64           // what a custom event is worth
	Unit        string            // of Value
	Engagement  time.Duration     // how long the page was in view
	Depth       int               // how far the page was read, in percent
	HashMode    bool              // the fragment is part of the page
	Address     netip.Addr        // of the client; used, never stored
	Agent       string            // what the client says it is
	Speculative bool              // fetched ahead by the browser, not opened by a person
	At          time.Time         // when it arrived; zero: now
}

// A Reason says why a hit was not counted. Its text is what the exclusion ledger shows.
type Reason string

// The reasons.
const (
	Unknown  Reason = "site" // no website has that tracking id or domain; it is in nobody's ledger
	WrongURL Reason = "host" // the page is of another site
	Address  Reason = "ip"   // the website's exclude_ips
	Bot      Reason = "bot"  // the website's exclude_bots
)

// An Outcome is what became of a hit: it is stored when there is no reason against it.
type Outcome struct {
	Dropped Reason
}

// Stored reports whether the hit counts.
func (o Outcome) Stored() bool { return o.Dropped == "" }

// NoWebsite reports whether no website was found for the hit.
func (o Outcome) NoWebsite() bool { return o.Dropped == Unknown }
