package check

import (
	"cmp"
	"strconv"

	"sightline/internal/seo"
)

// To which pages checks apply.
var (
	everywhere   = where{"every page that may be asked for", func(p *seo.Page) bool { return !p.Disallowed() }}
	linked       = where{"pages that a link leads to", func(p *seo.Page) bool { return p.FoundFrom != "" }}
	answered     = where{"pages that answer with 200", (*seo.Page).OK}
	redirects    = where{"redirects", (*seo.Page).IsRedirect}
	listed       = where{"pages that a sitemap lists", func(p *seo.Page) bool { return p.Listed != "" }}
	shown        = where{"HTML pages", (*seo.Page).Shown}
	indexable    = where{"indexable pages", (*seo.Page).Indexable}
	startPage    = where{"the host, counted on the start page", func(*seo.Page) bool { return true }}
	securePages  = where{"HTML pages over https", func(p *seo.Page) bool { return p.Shown() && seo.IsHTTPS(p.URL) }}
	withTitle    = where{"indexable pages with a title", func(p *seo.Page) bool { return p.Indexable() && first(p.Titles) != "" }}
	withDesc     = where{"indexable pages with a description", func(p *seo.Page) bool { return p.Indexable() && first(p.Descriptions) != "" }}
	withText     = where{"indexable pages with text that was read to its end", func(p *seo.Page) bool { return p.Indexable() && hasText(p) }}
	wholePages   = where{"indexable pages that were read to their end", func(p *seo.Page) bool { return p.Indexable() && !p.Truncated }}
	withData     = where{"HTML pages with structured data", func(p *seo.Page) bool { return p.Shown() && p.HasData }}
	withHeading  = where{"HTML pages with an h1", func(p *seo.Page) bool { return p.Shown() && len(p.Headings) > 0 }}
	withImages   = where{"HTML pages with images", func(p *seo.Page) bool { return p.Shown() && (len(p.Images) > 0 || p.NoAlt.Count > 0) }}
	withOwnLinks = where{"HTML pages with internal links", func(p *seo.Page) bool { return p.Shown() && hasLink(p, true) }}
	withForeign  = where{"HTML pages with external links", func(p *seo.Page) bool { return p.Shown() && hasLink(p, false) }}
	withTarget   = where{"HTML pages with a canonical, noindex ones aside", hasTarget}
)

func hasLink(p *seo.Page, internal bool) bool {
	for i := range p.Links {
		if p.Links[i].Internal == internal {
			return true
		}
	}
	return false
}

func hasTarget(p *seo.Page) bool { return p.Shown() && !p.NoIndex() && len(p.Canonicals) > 0 }

func hasText(p *seo.Page) bool { return p.Words > 0 && !p.Truncated }

// first is the text of the first element, the one that counts; empty where there is none.
func first(elements []seo.Element) string {
	if len(elements) == 0 {
		return ""
	}
	return elements[0].Text
}

// raws are elements as written.
func raws(elements []seo.Element) hit {
	var h hit
	for _, e := range elements {
		h.add(e.Raw)
	}
	return h
}

// absent is the hit of a page without an element, or with an empty one.
func absent(elements []seo.Element, name string) hit {
	if len(elements) == 0 {
		return fail("missing", "no "+name)
	}
	return fail("empty", elements[0].Raw)
}

// outside is the hit of a text whose length is not within the limits of the row.
func outside(e seo.Element, r *Row) hit {
	if e.Length >= r.Min && e.Length <= r.Max {
		return hit{}
	}
	return fail(number(e.Length, "character"), e.Raw)
}

// sample is a hit of things that were counted while reading.
func sample(s seo.Sample, noun string) hit {
	if s.Count == 0 {
		return hit{}
	}
	return hit{value: number(s.Count, noun), count: s.Count, evidence: s.First}
}

// number is a count with its noun.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// hopLines shows redirects as they happened.
func hopLines(hops []seo.Hop) hit {
	var h hit
	for _, hop := range hops {
		h.add(hop.URL + " → " + strconv.Itoa(hop.Status) + " Location: " + hop.Location)
	}
	return h
}

// reason is a failure in words, where there are any.
func reason(f seo.Failure, words string) string { return cmp.Or(words, string(f)) }

// asked says how an address was met and what it answered.
func asked(p *seo.Page, answer string) []string {
	evidence := []string{p.URL + " → " + answer}
	if p.FoundFrom != "" {
		evidence = append(evidence, "linked from "+p.FoundFrom)
	}
	return evidence
}
