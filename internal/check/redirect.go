package check

import "sightline/internal/seo"

func redirectChain(p *seo.Page, _ *graph, r *Row) hit {
	if len(p.Hops) <= r.Max || p.Failure == seo.FailedLoop {
		return hit{}
	}
	h := hopLines(p.Hops)
	h.value, h.count = number(len(p.Hops), "redirect"), 1
	return h
}

func redirectLoop(p *seo.Page, _ *graph, _ *Row) hit {
	if p.Failure != seo.FailedLoop {
		return hit{}
	}
	h := hopLines(p.Hops)
	h.value, h.count = "loop of "+number(len(p.Hops), "redirect"), 1
	return h
}
