package check

import (
	"strconv"

	"sightline/internal/seo"
)

func askedSitemap(s *seo.Site) bool { return len(s.Sitemaps) > 0 }

func sitemapMissing(s *seo.Site, _ *Row) hit {
	var h hit
	for _, m := range s.Sitemaps {
		if m.Named || m.Status == 200 {
			return hit{}
		}
		h.add(m.URL + " → " + sitemapAnswer(m))
	}
	h.value = "no sitemap"
	return h
}

func sitemapInvalid(s *seo.Site, _ *Row) hit {
	var h hit
	for _, m := range s.Sitemaps {
		switch {
		case m.Status == 200 && m.Failure == "":
			for _, line := range problems(m.Problems).evidence {
				h.add(m.URL + " " + line)
			}
		case m.Named:
			h.add(m.URL + " → " + sitemapAnswer(m))
		}
	}
	h.value = number(h.count, "problem")
	return h
}

func sitemapAnswer(m seo.Sitemap) string {
	if m.Failure != "" {
		return reason(m.Failure, m.Reason)
	}
	return strconv.Itoa(m.Status)
}

func sitemapBadStatus(p *seo.Page, _ *graph, _ *Row) hit {
	switch {
	case p.IsRedirect():
		h := hopLines(p.Hops)
		h.value, h.count = strconv.Itoa(p.Hops[0].Status), 1
		h.evidence = append([]string{"listed in " + p.Listed}, h.evidence...)
		return h
	case p.Failure.Unanswered():
		return fail(string(p.Failure), "listed in "+p.Listed, p.URL+" → "+reason(p.Failure, p.Reason))
	case p.Status >= 300:
		return fail(strconv.Itoa(p.Status), "listed in "+p.Listed, p.URL+" → "+strconv.Itoa(p.Status))
	}
	return hit{}
}

func sitemapExcluded(p *seo.Page, _ *graph, r *Row) hit {
	switch {
	case p.Disallowed():
		return fail("disallowed", "listed in "+p.Listed, p.URL+" is disallowed by robots.txt")
	case p.NoIndex():
		h := indexNoindex(p, r)
		return fail(h.value, append([]string{"listed in " + p.Listed}, h.evidence...)...)
	}
	return hit{}
}
