package check

import "sightline/internal/seo"

func imgAltMissing(p *seo.Page, _ *Row) hit { return sample(p.NoAlt, "image") }

func imgBroken(p *seo.Page, g *graph, _ *Row) hit {
	var h hit
	for i := range p.Images {
		if a := g.answers[p.Images[i].URL]; a.broken {
			h.add(p.Images[i].Raw + " → " + p.Images[i].URL + " → " + a.String())
			h.value = number(h.count, "broken image")
		}
	}
	return h
}
