package check

import (
	"hash/maphash"

	"sightline/internal/seo"
)

func descMissing(p *seo.Page, _ *Row) hit {
	if first(p.Descriptions) != "" {
		return hit{}
	}
	return absent(p.Descriptions, `<meta name="description">`)
}

func descLength(p *seo.Page, r *Row) hit { return outside(p.Descriptions[0], r) }

func descDuplicate(p *seo.Page, g *graph, _ *Row) hit {
	return g.descriptions.shared(maphash.String(g.seed, first(p.Descriptions)), p, p.Descriptions[0].Raw)
}
