package check

import (
	"strings"

	"sightline/internal/seo"
)

func linkBrokenInternal(p *seo.Page, g *graph, _ *Row) hit { return brokenLinks(p, g, true) }

func linkBrokenExternal(p *seo.Page, g *graph, _ *Row) hit { return brokenLinks(p, g, false) }

func brokenLinks(p *seo.Page, g *graph, internal bool) hit {
	var h hit
	for i := range p.Links {
		l := &p.Links[i]
		if l.Internal != internal {
			continue
		}
		if a := g.answers[l.URL]; a.broken {
			h.add(linkAsWritten(l) + " → " + a.String())
			h.value = number(h.count, "broken link")
		}
	}
	return h
}

// linkAsWritten is the tag of a link, with its text where that lies between two tags.
func linkAsWritten(l *seo.Link) string {
	if strings.EqualFold(l.Raw[:min(len(l.Raw), len("<area"))], "<area") {
		return l.Raw
	}
	return l.Raw + l.Text + "</a>"
}
