package check

import "sightline/internal/seo"

func h1Missing(p *seo.Page, _ *Row) hit {
	for _, h := range p.Headings {
		if h.Text != "" {
			return hit{}
		}
	}
	return absent(p.Headings, "<h1>")
}

func h1Multiple(p *seo.Page, r *Row) hit {
	if len(p.Headings) <= r.Max {
		return hit{}
	}
	h := raws(p.Headings)
	h.value = number(h.count, "heading")
	return h
}
