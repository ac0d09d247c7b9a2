// Package referrer says where a visitor came from: the referring page, what its site is called, and by which channel.
package referrer

import (
	"strings"

	"sightline/internal/analytics"
	"sightline/internal/collect/page"
)

// The channels.
const (
	Direct   = "direct"   // typed, bookmarked, or nobody says
	Search   = "search"   // a search engine
	Social   = "social"   // a social network, forum or messenger
	Referral = "referral" // any other site
	Email    = "email"    // a mail program or newsletter
	Paid     = "paid"     // an advertisement
	AI       = "ai"       // an AI assistant
)

// Read says where the visitor of a page came from, by the page that referred and by the campaign in the page's own address. A referring
// page of the website's own domain is none.
func Read(referring, domain string, c page.Campaign) analytics.Origin {
	origin := analytics.Origin{UTMSource: c.Source, UTMMedium: c.Medium, UTMCampaign: c.Name, UTMContent: c.Content, UTMTerm: c.Term}
	address := page.Split(referring)
	host := hostOf(address, domain)
	var from source
	if host != "" {
		from = ofHost(host)
		address.Path = "/" + strings.TrimLeft(address.Path, `/\`)
		origin.Referrer = page.Cut(address.Scheme+"://"+strings.ToLower(address.Host)+address.Path, analytics.MaxText)
	}
	for _, named := range []string{c.Ref, c.Source} { // what the link says of itself is nearer to the truth
		if named != "" {
			from = ofName(named)
		}
	}
	origin.Source, origin.Channel = from.name, channel(from, c)
	return origin
}

// hostOf is the site that a referring page is of; empty if it is of no other site.
func hostOf(address page.Address, domain string) string {
	switch address.Scheme {
	case "http", "https":
	case "android-app", "ios-app":
		return strings.ToLower(address.Host)
	default:
		return ""
	}
	host := address.Domain()
	if page.Within(host, domain) {
		return ""
	}
	return host
}

// channel says by which channel a visitor came.
func channel(from source, c page.Campaign) string {
	medium := strings.ToLower(c.Medium)
	switch {
	case c.Paid || paidMedium(medium):
		return Paid
	case mediums[medium] != "":
		return mediums[medium]
	case from.channel != "":
		return from.channel
	case from.name != "":
		return Referral
	case c != page.Campaign{}:
		return Referral // a campaign that says nothing of its source
	}
	return Direct
}

// paidMedium says whether a medium is one that costs money.
func paidMedium(medium string) bool {
	switch medium {
	case "cpc", "ppc", "cpm", "cpa", "cpv", "cpp", "retargeting", "display", "banner", "expandable", "interstitial", "ads", "ad", "sem":
		return true
	}
	return strings.HasPrefix(medium, "paid")
}

// mediums are those that say the channel by themselves.
var mediums = map[string]string{
	"email": Email, "e-mail": Email, "e_mail": Email, "mail": Email, "newsletter": Email,
	"social": Social, "social-network": Social, "social-media": Social, "social_network": Social, "social_media": Social, "sm": Social,
	"organic": Search, "search": Search, "ai": AI, "llm": AI, "chatbot": AI,
}

// A source is what is known of a site that refers visitors.
type source struct {
	name    string
	channel string // empty: any site
}

// ofHost finds a source by its host, or by a domain above it. Any other site is called by its host.
func ofHost(host string) source {
	bare, _, _ := strings.Cut(host, ":")
	for domain := bare; domain != ""; {
		if known, found := hosts[domain]; found {
			return known
		}
		brand, rest, _ := strings.Cut(domain, ".")
		if known, found := brands[brand]; found && isEnding(rest) {
			return known
		}
		domain = rest
	}
	return source{name: page.Cut(host, maxName)}
}

// maxName is the longest name of a source, in bytes.
const maxName = 300

// isEnding says whether a text can be what follows the name of a brand: com, de, co.uk, com.br.
func isEnding(rest string) bool {
	first, second, two := strings.Cut(rest, ".")
	if !two {
		return len(first) == 2 || first == "com" || first == "net" || first == "org" || first == "cat"
	}
	return (first == "co" || first == "com" || first == "ne") && len(second) == 2
}

// ofName finds the source that a link names: a known name, a host, or whatever it says.
func ofName(text string) source {
	name := strings.ToLower(text)
	if known, found := names[name]; found {
		return known
	}
	if known, found := brands[name]; found {
		return known
	}
	host := strings.TrimPrefix(name, "www.")
	if known := ofHost(host); known.channel != "" {
		return known
	}
	return source{name: page.Cut(text, maxName)}
}
