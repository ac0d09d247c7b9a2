package check

import "sightline/internal/seo"

// pageOrphan judges only when every link of the site is known: of a partial crawl nobody can tell.
func pageOrphan(p *seo.Page, g *graph, _ *Row) hit {
	if !g.linksKnown || !p.Indexable() || p.URL == g.start || g.inlinks(p.URL) > 0 {
		return hit{}
	}
	return fail("no internal link", "listed in "+p.Listed)
}
