package page

import (
	"net/url"
	"strings"
)

// Params says which parameters of a query are left out of stored pages. The zero Params leaves out none but campaigns.
type Params struct {
	all      bool
	names    map[string]bool
	patterns [][]string // the texts between the stars
}

// NewParams reads names as analytics.ParseParams returns them: a * stands for any characters, the entry & for the whole query.
func NewParams(names []string) Params {
	params := Params{names: map[string]bool{}}
	for _, name := range names {
		switch {
		case name == "&":
			params.all = true
		case strings.Contains(name, "*"):
			params.patterns = append(params.patterns, strings.Split(name, "*"))
		default:
			params.names[name] = true
		}
	}
	return params
}

// leaveOut says whether a parameter is left out.
func (p Params) leaveOut(name string) bool {
	if p.names[name] {
		return true
	}
	for _, parts := range p.patterns {
		if like(name, parts) {
			return true
		}
	}
	return false
}

// like says whether a name consists of parts in their order, with anything between them.
func like(name string, parts []string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	rest := name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return true
}

// A Campaign is what the query of a page says of how its visitor came.
type Campaign struct {
	Source, Medium, Name, Content, Term string // utm_source and so on
	Ref                                 string // ref or source
	Paid                                bool   // the link was an advertisement: it carries the mark of one
}

// maxCampaign is the longest text of a campaign, in bytes.
const maxCampaign = 300

// take reads a parameter that says something about a campaign, and reports whether it is one.
func (c *Campaign) take(name, value string) bool {
	switch name {
	case "utm_source":
		c.Source = unescape(value)
	case "utm_medium":
		c.Medium = unescape(value)
	case "utm_campaign":
		c.Name = unescape(value)
	case "utm_content":
		c.Content = unescape(value)
	case "utm_term":
		c.Term = unescape(value)
	case "source", "ref":
		if name == "source" || c.Ref == "" {
			c.Ref = unescape(value)
		}
	case "gclid", "gbraid", "wbraid", "dclid", "msclkid", "ttclid", "twclid", "yclid", "li_fat_id", "ScCid", "rdt_cid", "epik":
		c.Paid = true
	case "fbclid", "gclsrc", "gad_source", "gad_campaignid", "srsltid", "igshid", "igsh", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl",
		"_hsenc", "_hsmi", "_openstat", "vero_id":
	default:
		return strings.HasPrefix(name, "utm_")
	}
	return true
}

// unescape is the text of a value, as well as it can be read.
func unescape(value string) string {
	if strings.ContainsAny(value, "%+") {
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
	}
	return Cut(strings.TrimSpace(value), maxCampaign)
}

// clean reads the campaign of a query and leaves out what is not stored.
func (p Params) clean(query string, c *Campaign) string {
	var kept strings.Builder
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if strings.ContainsAny(name, "%+") {
			if text, err := url.QueryUnescape(name); err == nil {
				name = text
			}
		}
		if c.take(name, value) || p.all || part == "" || p.leaveOut(name) {
			continue
		}
		if kept.Len() > 0 {
			kept.WriteByte('&')
		}
		kept.WriteString(part)
	}
	return kept.String()
}
