package address

import "strings"

// tracking lists query parameters that say where a visitor came from and never what a page shows.
var tracking = map[string]bool{
	"gclid": true, "gclsrc": true, "dclid": true, "gbraid": true, "wbraid": true, "srsltid": true, "_ga": true, "_gl": true, // Google
	"fbclid": true, "igshid": true, "igsh": true, // Meta
	"msclkid": true, "yclid": true, "ysclid": true, "twclid": true, "ttclid": true, "li_fat_id": true, "epik": true, "rdt_cid": true, "sccid": true,
	"mc_cid": true, "mc_eid": true, "mkt_tok": true, "_hsenc": true, "_hsmi": true, "__hstc": true, "__hssc": true, "__hsfp": true, "hsctatracking": true,
	"vero_id": true, "vero_conv": true, "oly_anon_id": true, "oly_enc_id": true, "wickedid": true, "_openstat": true, "_kx": true,
	"mtm_campaign": true, "mtm_cid": true, "mtm_content": true, "mtm_group": true, "mtm_keyword": true, "mtm_medium": true, "mtm_placement": true, "mtm_source": true,
}

// isTracking says whether a query parameter only tells where a visitor came from.
func isTracking(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "utm_") || tracking[name]
}

// withoutTracking is a query without its tracking parameters; the others keep their order and spelling.
func withoutTracking(query string) string {
	found := false
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		found = found || isTracking(name)
	}
	if !found {
		return query
	}
	var kept strings.Builder
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if isTracking(name) {
			continue
		}
		if kept.Len() > 0 {
			kept.WriteByte('&')
		}
		kept.WriteString(pair)
	}
	return kept.String()
}
