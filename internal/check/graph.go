package check

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"sightline/internal/seo"
)

// A graph is what the checks must know of the other pages. It holds some hundred bytes for a page that is well, and the answers
// of those addresses that are not.
type graph struct {
	site    seo.Site
	start   string            // the page on which checks of the host count
	answers map[string]answer // addresses that answered anything but a plain 200

	seed         maphash.Seed
	links        map[uint64]int // by address: how many other pages link there
	linksKnown   bool           // every internal link was seen, so a page that nothing links to is an orphan
	titles       groups
	descriptions groups
	bodies       groups
}

// An answer is what became of an address.
type answer struct {
	status   int
	failure  seo.Failure
	redirect bool
	broken   bool
	end      string // where redirects lead
}

// String says it in a few words.
func (a answer) String() string {
	if a.failure != "" {
		return string(a.failure)
	}
	return strconv.Itoa(a.status)
}

// newGraph reads the crawl once.
func newGraph(ctx context.Context, c seo.Crawl) (*graph, error) {
	g := &graph{
		site: c.Site(), answers: map[string]answer{}, seed: maphash.MakeSeed(), links: map[uint64]int{},
		titles: groups{}, descriptions: groups{}, bodies: groups{},
	}
	g.linksKnown = g.site.Complete
	seen := map[uint64]bool{}
	for p, err := range c.Pages(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the pages: %w", err)
		}
		seen[g.key(p.URL)] = true
		g.add(p)
	}
	for r, err := range c.Resources(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the links and images: %w", err)
		}
		if r.Broken() {
			g.answers[r.URL] = answer{status: r.Status, failure: r.Failure, broken: true}
		}
	}
	g.start = g.site.Start
	if end := g.answers[g.start].end; end != "" && seen[g.key(end)] {
		g.start = end
	}
	if !seen[g.key(g.start)] {
		return nil, fmt.Errorf("the crawl has no page for its start %s", g.start)
	}
	g.followRedirects()
	return g, nil
}

func (g *graph) key(url string) uint64 { return maphash.String(g.seed, url) }

// add takes in a page. What is kept is cloned: a page that was unpacked is one piece of memory.
func (g *graph) add(p *seo.Page) {
	url := strings.Clone(p.URL)
	if !p.OK() {
		failure := seo.Failure(strings.Clone(string(p.Failure)))
		g.answers[url] = answer{status: p.Status, failure: failure, redirect: p.IsRedirect(), broken: p.Broken(), end: strings.Clone(p.End)}
	}
	if g.linksKnown = g.linksKnown && !p.LinksCut && !p.Truncated; g.linksKnown {
		for _, l := range p.Links {
			if l.Internal && l.URL != p.URL {
				g.links[g.key(l.URL)]++
			}
		}
	}
	if !p.Indexable() {
		return
	}
	if title := first(p.Titles); title != "" {
		g.titles.add(maphash.String(g.seed, title), url)
	}
	if description := first(p.Descriptions); description != "" {
		g.descriptions.add(maphash.String(g.seed, description), url)
	}
	if hasText(p) {
		g.bodies.add(p.TextHash, url)
	}
}

// followRedirects counts a link to a redirect for the page where it leads.
func (g *graph) followRedirects() {
	more := map[uint64]int{}
	for url, a := range g.answers {
		if n := g.links[g.key(url)]; a.end != "" && a.end != url && n > 0 {
			more[g.key(a.end)] += n
		}
	}
	for target, n := range more {
		g.links[target] += n
	}
}

// inlinks is how many other pages link to one.
func (g *graph) inlinks(url string) int { return g.links[g.key(url)] }

// groups are pages that have something in common, by its hash.
type groups map[uint64]group

// A group is how many pages share something, with the first two of them by address.
type group struct {
	count         int
	first, second string
}

func (gs groups) add(hash uint64, url string) {
	was := gs[hash]
	was.count++
	switch {
	case was.first == "" || cmp.Less(url, was.first):
		was.first, was.second = url, was.first
	case was.second == "" || cmp.Less(url, was.second):
		was.second = url
	}
	gs[hash] = was
}

// shared is the hit of a page that has something in common with others.
func (gs groups) shared(hash uint64, p *seo.Page, evidence ...string) hit {
	all := gs[hash]
	if all.count < 2 {
		return hit{}
	}
	other := all.first
	if other == p.URL {
		other = all.second
	}
	return hit{value: "on " + number(all.count, "page"), count: 1, evidence: append(evidence, "same on "+other)}
}
