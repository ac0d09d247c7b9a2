// Package crawl goes through a site politely, page by page, and hands what it fetches to its caller. It knows hosts, links
// and limits, and nothing of what a page should be like.
package crawl

import (
	"context"
	"time"

	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
	"sightline/internal/crawl/robots"
	"sightline/internal/crawl/sitemap"
)

// Agent is the name by which robots.txt may address the crawler.
const Agent = "SightlineBot"

// A Fetcher makes requests; a guard.Client does.
type Fetcher interface {
	Fetch(ctx context.Context, r guard.Request) guard.Answer
}

// Manners are how politely hosts are treated. Zero fields have the defaults.
type Manners struct {
	Connections     int           // at once to one host: 2
	PerSecond       float64       // requests to a host of the site: 5; negative for as many as it takes
	ChecksPerSecond float64       // requests to any other host: 1; negative for as many as it takes
	MaxPause        time.Duration // the longest that a host can have us wait with 429, 503 and Retry-After: 1 minute
}

// A Crawler crawls sites. One serves a whole program: crawls that meet at a host share its pace.
type Crawler struct {
	fetcher Fetcher
	manners Manners
	hosts   *hosts
}

// New makes a crawler.
func New(fetcher Fetcher, manners Manners) *Crawler {
	if manners.Connections == 0 {
		manners.Connections = 2
	}
	if manners.PerSecond == 0 {
		manners.PerSecond = 5
	}
	if manners.ChecksPerSecond == 0 {
		manners.ChecksPerSecond = 1
	}
	if manners.MaxPause == 0 {
		manners.MaxPause = time.Minute
	}
	return &Crawler{fetcher: fetcher, manners: manners, hosts: newHosts(manners)}
}

// A Job is a site to crawl.
type Job struct {
	Start        address.Address
	Subdomains   bool              // pages of subdomains belong to the site too
	IgnoreRobots bool              // fetch what robots.txt disallows; what it says is still told
	NoSitemaps   bool              // do not look for sitemaps
	Sitemaps     []address.Address // read besides those that the site names
	NoChecks     bool              // do not check external links, images and assets
	Limits       Limits
	Handler      Handler
	Frontier     Frontier // where the crawl remembers what is left to do; in memory if nil
	// Validators are the ETag and Last-Modified of a page at its last crawl, so that it need not be sent again; may be nil.
	Validators func(url string) (etag, modified string)
}

// Limits end a crawl. Zero fields have the defaults.
type Limits struct {
	Pages    int           // pages fetched: 500
	Depth    int           // clicks from the start page: as many as there are
	Time     time.Duration // for the whole crawl: no limit
	Links    int           // links followed from one page: 5,000
	Known    int           // addresses remembered: 20 for each page, at least 20,000
	Sitemaps int           // sitemap files read: 200
	Fetch    guard.Limits  // for each page
}

func (l Limits) withDefaults() Limits {
	pick := func(a *int, b int) {
		if *a == 0 {
			*a = b
		}
	}
	pick(&l.Pages, 500)
	pick(&l.Links, 5000)
	pick(&l.Known, max(20*l.Pages, 20_000))
	pick(&l.Sitemaps, 200)
	return l
}

// A Handler receives what a crawl fetches. After a crawl is resumed it may receive again what it received shortly before
// the interruption. Its methods are called by several goroutines at once. An error ends the crawl.
type Handler interface {
	// Fetched is told how an address was fetched, and returns the links of a page. The fetch is valid until it returns.
	Fetched(ctx context.Context, f *Fetch) ([]Link, error)
	// Robots is told of the robots.txt of each host of the site.
	Robots(ctx context.Context, f *RobotsFile) error
	// Sitemap is told of each sitemap.
	Sitemap(ctx context.Context, f *SitemapFile) error
	// Progress is told how far the crawl is, after each fetch and by one goroutine only. It should be quick.
	Progress(p Progress)
}

// A Kind is why an address is fetched.
type Kind uint8

// The kinds of addresses. Pages are fetched whole; of the others it is only seen whether they are there.
const (
	Page     Kind = 1
	Image    Kind = 2
	Asset    Kind = 3 // a script, a stylesheet and the like
	External Kind = 4 // a link that is not followed; a Page outside of the site becomes one
)

// A Link is an address that a page refers to.
type Link struct {
	To   address.Address
	Kind Kind
}

// A Fetch is an address that was asked for, and how that went. Every address comes once for each kind. One that redirects
// comes without body; where it leads comes as a fetch of its own, if it belongs to the site.
type Fetch struct {
	Item
	Hops      []guard.Hop    // from the address itself to where its redirects end; none if it was not asked for
	Err       *guard.Failure // nil if there was a whole answer, whatever its status
	Status    int            // of the last hop, also if its body failed; zero if no answer came
	MediaType string         // such as text/html, in lower case; empty if not told
	Body      []byte         // decoded; of pages of text without redirect, and as far as it came
	Unchanged bool           // a page is as it was when its Validators were stored, and has no body
	Rule      robots.Rule    // the line of robots.txt that decides about it; the zero Rule if none does
}

// Last is the hop at which the fetch ended, nil if there was none.
func (f *Fetch) Last() *guard.Hop {
	if len(f.Hops) == 0 {
		return nil
	}
	return &f.Hops[len(f.Hops)-1]
}

// Redirected says that the address led elsewhere.
func (f *Fetch) Redirected() bool {
	return len(f.Hops) > 1 || len(f.Hops) == 1 && f.Hops[0].Location != ""
}

// A RobotsFile is the robots.txt of a host.
type RobotsFile struct {
	URL    string
	Answer guard.Answer
	File   *robots.File   // without any rules if there is no such file
	Closed *guard.Failure // why all of the host counts as disallowed; nil if it does not
}

// A SitemapFile is a sitemap that was looked for.
type SitemapFile struct {
	URL     string
	From    string // the robots.txt or index that names it
	Guessed bool   // nothing names it: it was looked for in the usual place
	Answer  guard.Answer
	File    *sitemap.File // nil if there was none to read
}

// Progress is how far a crawl is.
type Progress struct {
	Totals
	Current string // the address that was fetched last
}

// A Reason is what ended a crawl.
type Reason string

// The reasons. Complete means that all that was found has been fetched.
const (
	Complete     Reason = ""
	StopPages    Reason = "pages"       // the limit of pages
	StopDepth    Reason = "depth"       // the limit of depth kept pages out
	StopKnown    Reason = "known"       // the limit of remembered addresses kept pages out
	StopTime     Reason = "time"        // the limit of time
	StopDown     Reason = "unreachable" // the site stopped answering
	StopCanceled Reason = "canceled"    // the caller stopped it
)

// An Outcome is how a crawl ended.
type Outcome struct {
	Totals
	StoppedBy Reason
}
