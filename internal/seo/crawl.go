package seo

import (
	"context"
	"iter"
)

// A Crawl is a finished crawl as the checks read it: a store streams it, twice, so nobody has to hold it all.
type Crawl interface {
	// Site is what was learned of the host as a whole.
	Site() Site
	// Pages streams every internal address that was asked for or that robots.txt kept from being asked for, each once.
	Pages(ctx context.Context) iter.Seq2[*Page, error]
	// Resources streams every other address that was asked for: targets of external links, and images. Those that
	// answered well may be left out.
	Resources(ctx context.Context) iter.Seq2[Resource, error]
}

// A Resource is the answer of an address that is not a page of the site.
type Resource struct {
	URL      string
	Internal bool // on the site under audit
	Status   int  // after all redirects; 0: there was none
	Failure  Failure
	Reason   string // the failure in a person's words
}

// Broken says that a visitor would end at an error, or nowhere. What only turns a robot away, or was not asked, is not broken.
func (r *Resource) Broken() bool {
	switch r.Failure {
	case "":
		return r.Status >= 400 && (r.Internal || !turnsRobotsAway(r.Status))
	case FailedAddress, FailedPort, FailedRobots, FailedBusy:
		return false
	}
	return true
}

// turnsRobotsAway are the answers that foreign hosts give to programs, though a browser may get the page.
func turnsRobotsAway(status int) bool {
	switch status {
	case 401, 403, 407, 429, 999:
		return true
	}
	return false
}

// A Site is what an audit learned of the host as a whole.
type Site struct {
	Start    string // where the crawl began, in normal form
	Complete bool   // the whole site was crawled: no limit, stop or single-page scope ended it early
	Robots   Robots
	Sitemaps []Sitemap // every place that was asked, also where there was none
	Plain    *Probe    // the answer of the host over http; nil: not asked
	Random   *Probe    // the answer of a path that cannot exist; nil: not asked
}

// Robots is what became of robots.txt.
type Robots struct {
	URL      string
	Status   int
	Failure  Failure
	Reason   string    // the failure in a person's words
	Problems []Problem // in the order of their lines
}

// A Sitemap is what became of one sitemap.
type Sitemap struct {
	URL      string
	Named    bool // robots.txt or another sitemap names it; otherwise its place was guessed
	Status   int
	Failure  Failure
	Reason   string // the failure in a person's words
	Problems []Problem
}

// A Problem is something in a file that cannot be right.
type Problem struct {
	Line int    // from 1; 0: the file as a whole
	Text string // the line or value as written
	What string // what is wrong with it, in a person's words
}

// A Probe is the answer of an address that is asked only to see what the host does.
type Probe struct {
	URL     string
	Hops    []Hop
	End     string // the address after all redirects
	Status  int    // there
	Failure Failure
}
