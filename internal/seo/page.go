package seo

import (
	"slices"
	"strings"
	"time"
)

// A Page is what an audit knows of one address of the site: how it answered and what its HTML says. It holds facts alone,
// no text of the body, so that many thousands can be kept.
type Page struct {
	URL       string // in the normal form of the crawl, without fragment
	Depth     int    // clicks from the start
	FoundFrom string // the page whose link led here; empty for the start and for what only a sitemap lists
	Listed    string // the sitemap that lists the page; empty: none
	FetchedAt time.Time

	Hops      []Hop         // the redirects that were followed; a page with hops is a redirect and has no HTML facts
	End       string        // where they lead, in normal form; empty: there are none, or they lead nowhere
	Status    int           // of the last answer; 0: there was none
	Failure   Failure       // why there was no usable answer; empty: there was one
	Reason    string        // the failure in a person's words
	FirstByte time.Duration // from the request to the first byte of the answer
	Size      int           // bytes of the body, decompressed
	Truncated bool          // the body was longer than the crawl reads
	MediaType string        // such as text/html
	Header    []string      // the header lines that say something about the page, as written

	IsHTML       bool
	Base         string // what relative references are resolved against, when a base element changes it
	Root         string // the html tag as written
	Lang         string // its lang attribute
	Titles       []Element
	Descriptions []Element
	Viewports    []Element
	Headings     []Element // of the first level
	Canonicals   []Canonical
	Robots       []RobotsRule
	Words        int    // of visible text
	TextHash     uint64 // of visible text and image addresses: equal for equal bodies
	Links        []Link // one for each target
	LinksCut     bool   // there were more links than are kept
	Images       []Image
	ImagesCut    bool   // there were more images than are kept
	NoAlt        Sample // images without alt attribute
	Insecure     Sample // what an https page loads over http
	HasData      bool   // there is structured data
	BadData      Sample // structured data that cannot be read
}

// A Hop is one redirect on the way to an answer.
type Hop struct {
	URL      string
	Status   int
	Location string // as the header gives it
}

// A Failure is the kind of trouble that kept an address from answering, as the crawl names it. Any kind that is not among those
// below, such as tls_expired, means that there was no usable answer.
type Failure string

// Kinds of trouble.
const (
	FailedName    Failure = "no_such_host"
	FailedReset   Failure = "reset" // the server cut the connection
	FailedTLS     Failure = "tls"
	FailedTimeout Failure = "timeout"
	FailedBusy    Failure = "overloaded"         // not asked for: the host kept answering 429 or 503
	FailedAddress Failure = "blocked_address"    // the auditor may not connect there
	FailedPort    Failure = "blocked_port"       // nor there
	FailedLoop    Failure = "redirect_loop"      // a redirect leads back to where it came from
	FailedHops    Failure = "too_many_redirects" // more than are followed
	FailedRobots  Failure = "robots"             // not asked for: robots.txt disallows it
)

// Unanswered says that there was no usable answer, for a reason that is neither a redirect nor robots.txt.
func (f Failure) Unanswered() bool {
	switch f {
	case "", FailedLoop, FailedHops, FailedRobots:
		return false
	}
	return true
}

// An Element is a piece of a page with its text.
type Element struct {
	Text   string // white space collapsed, cut where it is very long
	Length int    // of the whole text, in characters
	Raw    string // as written, cut where it is very long
}

// A Canonical is an address that a page calls its own.
type Canonical struct {
	URL      string // in normal form; empty: not an address
	Internal bool   // within the site under audit
	Raw      string // the element or header line as written
	Header   bool   // from the Link header
}

// A RobotsRule is one directive of a robots meta element or an X-Robots-Tag header.
type RobotsRule struct {
	Agent string    // in lower case; empty: for everyone
	Name  string    // in lower case, such as noindex
	Until time.Time // of unavailable_after; zero: no date that could be read
	Raw   string    // the element or header line as written
}

// A Link leads from a page to another address.
type Link struct {
	URL      string // in normal form
	Internal bool   // within the site under audit
	Rel      string
	Text     string // cut where it is very long
	Raw      string // the tag as written
}

// An Image is an address that a page shows as an image.
type Image struct {
	URL string
	Raw string // the tag as written
}

// A Kind says what an address is to the page that names it.
type Kind string

// What an address can be to a page.
const (
	KindPage     Kind = "page"     // another page of the site
	KindExternal Kind = "external" // a page of another site
	KindImage    Kind = "image"
)

// A Target is an address that a page leads to.
type Target struct {
	URL    string
	Kind   Kind
	Linked bool // by a link; otherwise it is a canonical or an image
}

// Targets are the addresses that an audit should ask for after the page: its links, canonicals and images.
func (p *Page) Targets() []Target {
	targets := make([]Target, 0, len(p.Links)+len(p.Canonicals)+len(p.Images))
	for i := range p.Links {
		targets = append(targets, Target{p.Links[i].URL, kindOf(p.Links[i].Internal), true})
	}
	for i := range p.Canonicals {
		if c := &p.Canonicals[i]; c.URL != "" && c.URL != p.URL {
			targets = append(targets, Target{c.URL, kindOf(c.Internal), false})
		}
	}
	for i := range p.Images {
		targets = append(targets, Target{p.Images[i].URL, KindImage, false})
	}
	return targets
}

func kindOf(internal bool) Kind {
	if internal {
		return KindPage
	}
	return KindExternal
}

// A Sample counts something and keeps the first few as written.
type Sample struct {
	Count int
	First []string
}

// maxSample is how many examples are kept; the count goes on.
const maxSample = 10

// Add counts one more. It keeps the text of the first few.
func (s *Sample) Add(raw string) {
	if s.Count++; len(s.First) < maxSample {
		s.First = append(s.First, raw)
	}
}

// IsRedirect says that the address leads elsewhere.
func (p *Page) IsRedirect() bool { return len(p.Hops) > 0 }

// Disallowed says that robots.txt keeps crawlers away from the address itself.
func (p *Page) Disallowed() bool { return p.Failure == FailedRobots && !p.IsRedirect() }

// OK says that the address itself answered with 200.
func (p *Page) OK() bool { return p.Status == 200 && p.Failure == "" && !p.IsRedirect() }

// Broken says that whoever opens the address ends at an error, or nowhere.
func (p *Page) Broken() bool {
	return p.Status >= 400 || p.Failure.Unanswered() || p.Failure == FailedLoop || p.Failure == FailedHops
}

// Shown says that visitors see the page: HTML that answered with 200.
func (p *Page) Shown() bool { return p.OK() && p.IsHTML }

// Indexable says that a search engine may show the page under its own address.
func (p *Page) Indexable() bool {
	target := p.Canonical()
	return p.Shown() && !p.NoIndex() && (target == "" || target == p.URL)
}

// Canonical is the address that the page calls its own; empty where it names none, or several.
func (p *Page) Canonical() string {
	target := ""
	for _, c := range p.Canonicals {
		switch {
		case c.URL == "" || c.URL == target:
		case target != "":
			return ""
		default:
			target = c.URL
		}
	}
	return target
}

// NoIndex says that the page asks every search engine to leave it out.
func (p *Page) NoIndex() bool {
	return slices.ContainsFunc(p.Robots, func(r RobotsRule) bool { return r.Agent == "" && r.Excludes(p.FetchedAt) })
}

// Excludes says that the rule keeps a page out of search results at a time.
func (r RobotsRule) Excludes(now time.Time) bool {
	switch r.Name {
	case "noindex", "none":
		return true
	case "unavailable_after":
		return !r.Until.IsZero() && r.Until.Before(now)
	}
	return false
}

// IsHTTPS says that an address is a secure one.
func IsHTTPS(url string) bool { return strings.HasPrefix(url, "https://") }
