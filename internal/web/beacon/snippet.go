package beacon

import (
	"html"
	"net/url"
	"strings"
)

// Downloads are the kinds of files that a page's tracker takes for downloads when its owner names none.
const Downloads = "pdf|zip|docx?|xlsx?|pptx?|csv|txt|gz|7z|rar|exe|dmg|pkg|apk|iso|mp[34]|mov|avi|wav"

// A Snippet is what a page needs to be counted, as HTML.
type Snippet struct {
	Base      string // address of the analytics area
	Site      string // tracking id of the website
	Hash      bool   // the fragment of an address is part of the page
	Outbound  bool   // clicks on links to other sites are events
	Downloads string // clicks on links to such files are events: extensions, separated by |
	DNT       bool   // people who send Do Not Track or Global Privacy Control are not counted
	Local     bool   // pages on localhost and in files are counted
	Early     bool   // the page may report events before the tracker is there
	NoScript  bool   // browsers without scripts are counted
}

// String is the HTML.
func (s Snippet) String() string {
	base, site := html.EscapeString(strings.TrimRight(s.Base, "/")), html.EscapeString(s.Site)
	var out strings.Builder
	if s.Early {
		out.WriteString("<script>window.sightline = window.sightline || function () { (sightline.q = sightline.q || []).push(arguments) }</script>\n")
	}
	out.WriteString(`<script defer src="` + base + `/js/s.js" data-site="` + site + `"`)
	for _, attribute := range []struct {
		name string
		on   bool
	}{{"hash", s.Hash}, {"outbound", s.Outbound}, {"dnt", s.DNT}, {"local", s.Local}} {
		if attribute.on {
			out.WriteString(" data-" + attribute.name)
		}
	}
	if s.Downloads != "" {
		out.WriteString(` data-downloads="` + html.EscapeString(s.Downloads) + `"`)
	}
	out.WriteString("></script>\n")
	if s.NoScript {
		out.WriteString(`<noscript><img src="` + base + `/api/event.gif?s=` + url.QueryEscape(s.Site) +
			`" referrerpolicy="no-referrer-when-downgrade" alt="" hidden></noscript>` + "\n")
	}
	return out.String()
}
