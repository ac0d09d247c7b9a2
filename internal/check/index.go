package check

import (
	"slices"

	"sightline/internal/seo"
)

func indexNoindex(p *seo.Page, _ *Row) hit {
	var h hit
	for _, rule := range p.Robots {
		if !rule.Excludes(p.FetchedAt) || slices.Contains(h.evidence, rule.Raw) { // one line may say it twice
			continue
		}
		if h.add(rule.Raw); h.value == "" {
			h.value = rule.Name
			if rule.Agent != "" {
				h.value += " for " + rule.Agent
			}
		}
	}
	return h
}

func indexRobotsBlocked(p *seo.Page, _ *Row) hit {
	if !p.Disallowed() {
		return hit{}
	}
	return fail("disallowed", asked(p, "disallowed by robots.txt")...)
}
