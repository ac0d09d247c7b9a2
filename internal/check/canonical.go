package check

import "sightline/internal/seo"

func canonicalMissing(p *seo.Page, _ *Row) hit {
	for _, c := range p.Canonicals {
		if c.URL != "" {
			return hit{}
		}
	}
	if len(p.Canonicals) == 0 {
		return fail("missing", `no <link rel="canonical">`)
	}
	return fail("not an address", p.Canonicals[0].Raw)
}

// canonicalMultiple finds several elements, several headers, or any two that disagree. An element and a header that say the
// same are fine.
func canonicalMultiple(p *seo.Page, _ *Row) hit {
	var h hit
	inHeader, conflict := 0, false
	for _, c := range p.Canonicals {
		h.add(c.Raw)
		conflict = conflict || c.URL != p.Canonicals[0].URL
		if c.Header {
			inHeader++
		}
	}
	if !conflict && inHeader < 2 && len(p.Canonicals)-inHeader < 2 {
		return hit{}
	}
	if h.value = number(h.count, "canonical"); conflict {
		h.value += ", conflicting"
	}
	return h
}

func canonicalBadTarget(p *seo.Page, g *graph, _ *Row) hit {
	target := p.Canonical()
	if target == "" || target == p.URL {
		return hit{}
	}
	evidence := p.Canonicals[0].Raw
	if seo.IsHTTPS(p.URL) && !seo.IsHTTPS(target) {
		return fail("https to http", evidence)
	}
	switch a := g.answers[target]; {
	case a.broken:
		return fail(a.String(), evidence, target+" → "+a.String())
	case a.redirect:
		return fail("redirect", evidence, target+" → "+a.end)
	}
	return hit{}
}
