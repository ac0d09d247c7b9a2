package checktest

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"sightline/internal/check/facts"
	"sightline/internal/seo"
)

// Now is when the sites are crawled.
var Now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// maxHops is how many redirects are followed.
const maxHops = 10

// A Crawl is a crawl as values.
type Crawl struct {
	About seo.Site
	All   []*seo.Page
	Rest  []seo.Resource
}

// Site implements seo.Crawl.
func (c *Crawl) Site() seo.Site { return c.About }

// Pages implements seo.Crawl.
func (c *Crawl) Pages(ctx context.Context) iter.Seq2[*seo.Page, error] { return stream(ctx, c.All) }

// Resources implements seo.Crawl.
func (c *Crawl) Resources(ctx context.Context) iter.Seq2[seo.Resource, error] {
	return stream(ctx, c.Rest)
}

func stream[T any](ctx context.Context, list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range list {
			if !yield(item, ctx.Err()) {
				return
			}
		}
	}
}

// Crawl is what a whole crawl of the site gives, found without a network: breadth first, then in the order of the addresses.
func (s *Site) Crawl() *Crawl {
	start, err := url.Parse(s.Start)
	if err != nil {
		panic(err) // the sites are constants of the tests
	}
	c := crawler{site: s, where: Addresses{start.Host}, seen: map[string]bool{}, listed: map[string]string{}}
	c.about = seo.Site{Start: s.Start, Complete: true}
	root := start.Scheme + "://" + start.Host
	c.readRobots(root + "/robots.txt")
	c.readSitemap(root + "/sitemap.xml")
	c.about.Plain = c.probe("http://" + start.Host + "/")
	c.about.Random = c.probe(root + "/a-page-that-cannot-exist-7d2f")
	c.ask(seo.Target{URL: s.Start, Kind: seo.KindPage}, "", 0)
	for _, address := range slices.Sorted(maps.Keys(c.listed)) {
		c.ask(seo.Target{URL: address, Kind: seo.KindPage}, "", 0)
	}
	for i := 0; i < len(c.pages); i++ {
		p := c.pages[i]
		for _, target := range p.Targets() {
			c.ask(target, p.URL, p.Depth+1)
		}
	}
	slices.SortFunc(c.pages, func(a, b *seo.Page) int { return cmp.Compare(a.URL, b.URL) })
	return &Crawl{About: c.about, All: c.pages, Rest: c.resources}
}

type crawler struct {
	site      *Site
	where     Addresses
	about     seo.Site
	closed    bool     // robots.txt is out of reach
	disallow  []string // prefixes of paths
	listed    map[string]string
	seen      map[string]bool
	pages     []*seo.Page
	resources []seo.Resource
}

// ask fetches an address the first time that it is met. A link from a page counts even when a sitemap led there first.
func (c *crawler) ask(target seo.Target, from string, depth int) {
	if !target.Linked {
		from = ""
	}
	if c.seen[target.URL] {
		for _, p := range c.pages {
			if p.URL == target.URL && p.FoundFrom == "" && p.URL != c.about.Start {
				p.FoundFrom = from
			}
		}
		return
	}
	c.seen[target.URL] = true
	f := c.fetch(target.URL)
	if target.Kind != seo.KindPage {
		r := seo.Resource{URL: target.URL, Internal: c.internal(target.URL), Status: f.Status, Failure: f.Failure, Reason: f.Reason}
		c.resources = append(c.resources, r)
		return
	}
	f.FoundFrom, f.Depth, f.Listed = from, depth, c.listed[target.URL]
	c.pages = append(c.pages, facts.Read(f, c.where.From))
	if f.End != "" && c.internal(f.End) {
		c.ask(seo.Target{URL: f.End, Kind: seo.KindPage}, "", depth)
	}
}

// fetch follows redirects from an address to its end.
func (c *crawler) fetch(address string) facts.Fetch {
	f := facts.Fetch{URL: address, At: Now}
	visited := map[string]bool{}
	for at := address; ; {
		if c.disallowed(at) {
			f.Failure, f.Reason = seo.FailedRobots, "disallowed by robots.txt"
			return f
		}
		if visited[at] {
			f.Failure, f.Reason, f.End = seo.FailedLoop, "the redirects form a loop", ""
			return f
		}
		visited[at] = true
		if u, err := url.Parse(at); err != nil || !slices.Contains(c.site.Hosts(), u.Host) {
			f.Failure, f.Reason = seo.FailedName, "the host has no address"
			return f
		}
		a := c.site.answer(at)
		if a.Drop {
			f.Failure, f.Reason = seo.FailedReset, "the server closed the connection"
			return f
		}
		f.Status, f.Header, f.Body, f.FirstByte = a.Status, a.header(), []byte(a.Body), a.Wait
		if a.Location == "" {
			return f
		}
		if len(f.Hops) == maxHops {
			f.Failure, f.Reason = seo.FailedHops, "more than 10 redirects"
			return f
		}
		f.Hops = append(f.Hops, seo.Hop{URL: at, Status: a.Status, Location: a.Location})
		at, _, _ = c.where.From(at)(a.Location)
		f.End = at
	}
}

func (c *crawler) internal(address string) bool {
	_, internal, _ := c.where.From(address)(address)
	return internal
}

func (c *crawler) disallowed(address string) bool {
	u, err := url.Parse(address)
	if err != nil || !c.internal(address) {
		return false
	}
	return c.closed || slices.ContainsFunc(c.disallow, func(prefix string) bool { return strings.HasPrefix(u.Path, prefix) })
}

// readRobots knows only what the sites use.
func (c *crawler) readRobots(address string) {
	a := c.site.answer(address)
	c.about.Robots = seo.Robots{URL: address, Status: a.Status}
	c.closed = a.Status >= 500
	if a.Status != 200 || a.Type != "text/plain" {
		return
	}
	number := 0
	for line := range strings.Lines(a.Body) {
		number++
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch {
		case found && name == "User-agent", strings.TrimSpace(line) == "":
		case found && name == "Disallow":
			c.disallow = append(c.disallow, value)
		default:
			c.about.Robots.Problems = append(c.about.Robots.Problems, seo.Problem{Line: number, Text: strings.TrimSpace(line), What: "unknown directive"})
		}
	}
}

func (c *crawler) readSitemap(address string) {
	a := c.site.answer(address)
	if c.closed {
		return
	}
	m := seo.Sitemap{URL: address, Status: a.Status}
	if a.Type == "application/xml" {
		m.Problems = c.list(address, a.Body)
	} else if a.Status == 200 {
		m.Status = 404 // the page that answers every unknown address is no sitemap
	}
	c.about.Sitemaps = []seo.Sitemap{m}
}

// list takes the addresses of a sitemap and says what is wrong with it.
func (c *crawler) list(sitemap, body string) (problems []seo.Problem) {
	decoder := xml.NewDecoder(strings.NewReader(body))
	for {
		token, err := decoder.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				problems = append(problems, seo.Problem{What: err.Error()})
			}
			return problems
		}
		element, isStart := token.(xml.StartElement)
		if !isStart || element.Name.Local != "loc" {
			continue
		}
		line, _ := decoder.InputPos()
		var loc string
		if err := decoder.DecodeElement(&loc, &element); err != nil {
			return append(problems, seo.Problem{Line: line, What: err.Error()})
		}
		if u, err := url.Parse(loc); err != nil || u.Host == "" {
			problems = append(problems, seo.Problem{Line: line, Text: loc, What: "not an address"})
			continue
		}
		c.listed[loc] = sitemap
	}
}

func (c *crawler) probe(address string) *seo.Probe {
	f := c.fetch(address)
	if f.End == "" {
		f.End = address
	}
	return &seo.Probe{URL: address, Hops: f.Hops, End: f.End, Status: f.Status, Failure: f.Failure}
}
