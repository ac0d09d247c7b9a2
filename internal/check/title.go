package check

import (
	"hash/maphash"

	"sightline/internal/seo"
)

func titleMissing(p *seo.Page, _ *Row) hit {
	if first(p.Titles) != "" {
		return hit{}
	}
	return absent(p.Titles, "<title>")
}

func titleLength(p *seo.Page, r *Row) hit { return outside(p.Titles[0], r) }

func titleDuplicate(p *seo.Page, g *graph, _ *Row) hit {
	return g.titles.shared(maphash.String(g.seed, first(p.Titles)), p, p.Titles[0].Raw)
}
