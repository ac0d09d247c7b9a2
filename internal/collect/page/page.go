package page

import (
	"strings"

	"sightline/internal/analytics"
)

// Page is what is stored of an address: its path and the query that is kept, and the fragment if that is part of the page.
// What the query says of a campaign is read first and not kept.
func (p Params) Page(a Address, fragment bool) (string, Campaign) {
	var campaign Campaign
	page := a.Path
	if !strings.HasPrefix(page, "/") {
		page = "/" + page
	}
	if a.Query != "" {
		if query := p.clean(a.Query, &campaign); query != "" {
			page += "?" + query
		}
	}
	if fragment && a.Fragment != "" {
		inner, query, _ := strings.Cut(a.Fragment, "?")
		if query = p.clean(query, &campaign); query != "" {
			inner += "?" + query
		}
		if inner != "" {
			page += "#" + inner
		}
	}
	return shorten(page), campaign
}

// shorten cuts a page that is too long, but not within an escaped byte.
func shorten(page string) string {
	if len(page) <= analytics.MaxPage {
		return Cut(page, analytics.MaxPage)
	}
	page = Cut(page, analytics.MaxPage)
	if i := strings.LastIndexByte(page, '%'); i >= 0 && i > len(page)-3 {
		page = page[:i]
	}
	return page
}
