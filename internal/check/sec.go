package check

import "sightline/internal/seo"

func secMixedContent(p *seo.Page, _ *Row) hit { return sample(p.Insecure, "insecure resource") }

func secHTTPPage(p *seo.Page, _ *Row) hit {
	if seo.IsHTTPS(p.URL) {
		return hit{}
	}
	return fail("http", p.URL)
}
