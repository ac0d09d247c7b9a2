package check

import (
	"strconv"

	"sightline/internal/seo"
)

func http4xx(p *seo.Page, _ *Row) hit { return statusBetween(p, 400, 499) }

func http5xx(p *seo.Page, _ *Row) hit { return statusBetween(p, 500, 599) }

func statusBetween(p *seo.Page, low, high int) hit {
	if p.IsRedirect() || p.Status < low || p.Status > high {
		return hit{}
	}
	status := strconv.Itoa(p.Status)
	return fail(status, asked(p, status)...)
}

func httpNoResponse(p *seo.Page, _ *Row) hit {
	if p.IsRedirect() || !p.Failure.Unanswered() {
		return hit{}
	}
	return fail(string(p.Failure), asked(p, reason(p.Failure, p.Reason))...)
}

func httpRedirect(p *seo.Page, _ *Row) hit {
	if !p.IsRedirect() {
		h := statusBetween(p, 300, 399)
		if h.count > 0 {
			h.value += " (leads nowhere)"
		}
		return h
	}
	if p.Failure == seo.FailedLoop {
		return hit{}
	}
	value := strconv.Itoa(p.Hops[0].Status)
	if temporary(p.Hops[0].Status) {
		value += " (temporary)"
	}
	h := fail(value, hopLines(p.Hops[:1]).evidence...)
	if p.FoundFrom != "" {
		h.evidence = append(h.evidence, "linked from "+p.FoundFrom)
	}
	return h
}

func temporary(status int) bool { return status == 302 || status == 303 || status == 307 }
