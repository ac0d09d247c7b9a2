package check

import (
	"strings"

	"sightline/internal/seo"
)

func mobileViewport(p *seo.Page, _ *Row) hit {
	for _, v := range p.Viewports {
		if fitsDevice(v.Text) {
			return hit{}
		}
	}
	if len(p.Viewports) == 0 {
		return absent(nil, `<meta name="viewport">`)
	}
	return fail("without device-width", p.Viewports[0].Raw)
}

// fitsDevice says that a viewport takes the width of the device.
func fitsDevice(content string) bool {
	for part := range strings.FieldsFuncSeq(content, func(r rune) bool { return r == ',' || r == ';' }) {
		key, value, _ := strings.Cut(part, "=")
		if strings.EqualFold(strings.TrimSpace(key), "width") && strings.EqualFold(strings.TrimSpace(value), "device-width") {
			return true
		}
	}
	return false
}
