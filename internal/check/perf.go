package check

import (
	"strconv"

	"sightline/internal/seo"
)

func perfTTFB(p *seo.Page, r *Row) hit {
	ms := p.FirstByte.Milliseconds()
	if ms <= int64(r.Max) {
		return hit{}
	}
	value := strconv.FormatInt(ms, 10) + " ms"
	return fail(value, "first byte after "+value)
}
