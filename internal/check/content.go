package check

import "sightline/internal/seo"

func contentThin(p *seo.Page, r *Row) hit {
	if p.Words >= r.Min {
		return hit{}
	}
	return fail(number(p.Words, "word"), number(p.Words, "word")+" of visible text")
}

func contentDuplicate(p *seo.Page, g *graph, _ *Row) hit { return g.bodies.shared(p.TextHash, p) }
