package check

import (
	"strconv"

	"sightline/internal/seo"
)

func askedPlain(s *seo.Site) bool { return s.Plain != nil }

func askedRandom(s *seo.Site) bool { return s.Random != nil }

func siteNoHTTPSRedirect(s *seo.Site, _ *Row) hit {
	if s.Plain.Failure != "" || seo.IsHTTPS(s.Plain.End) {
		return hit{}
	}
	return fail(strconv.Itoa(s.Plain.Status), probed(s.Plain)...)
}

func siteSoft404(s *seo.Site, _ *Row) hit {
	if s.Random.Failure != "" || s.Random.Status != 200 {
		return hit{}
	}
	return fail("200", probed(s.Random)...)
}

// probed shows what an address answered, with the redirects before.
func probed(p *seo.Probe) []string {
	return append(hopLines(p.Hops).evidence, p.End+" → "+strconv.Itoa(p.Status))
}
