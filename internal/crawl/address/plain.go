package address

import "strings"

// The full parser costs a hundred times what these few lines do, and most links of most sites are plain: letters, digits,
// dashes and dots. Whatever is not takes the long way.

// plain reads an absolute address of plain characters.
func plain(text string) (Address, bool) {
	text, _, _ = strings.Cut(text, "#")
	scheme := len("https")
	if !strings.HasPrefix(text, "https://") {
		if !strings.HasPrefix(text, "http://") {
			return Address{}, false
		}
		scheme = len("http")
	}
	start := scheme + len("://")
	end := strings.IndexByte(text[start:], '/') + start
	if end < start || !plainHost(text[start:end]) {
		return Address{}, false
	}
	target, ok := plainTarget(text[end:])
	if !ok {
		return Address{}, false
	}
	return cut(text[:end+len(target)], scheme, end), true
}

// plain reads a link of plain characters, relative or not.
func (b *Base) plain(link string) (Address, bool) {
	if strings.HasPrefix(link, "http") || b.page.URL == "" {
		return plain(link)
	}
	link, _, _ = strings.Cut(link, "#")
	if link == "" || link[0] == '?' || strings.HasPrefix(link, "//") {
		return Address{}, false
	}
	folder := ""
	if link[0] != '/' {
		path, _, _ := strings.Cut(b.page.Target, "?")
		folder = path[:strings.LastIndexByte(path, '/')]
		for strings.HasPrefix(link, "../") {
			link = link[len("../"):]
			folder = folder[:max(0, strings.LastIndexByte(folder, '/'))]
		}
		link = "/" + link
	}
	target, ok := plainTarget(link)
	origin := b.page.Origin()
	if !ok || len(origin)+len(folder)+len(target) > MaxLength {
		return Address{}, false
	}
	return cut(origin+folder+target, len(b.page.Scheme), len(origin)), true
}

// plainHost says that a host of letters, digits, dots and dashes is in normal form: no label needs rewriting, and the last
// is not a number.
func plainHost(name string) bool {
	start, digits := true, false // of a label; in it
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z':
			start = false
		case '0' <= c && c <= '9':
			start, digits = false, true
		case start:
			return false
		case c == '.' && name[i-1] != '-':
			start, digits = true, false
		case c != '-' || name[i-1] == '-':
			return false
		}
	}
	return !start && !digits && name[len(name)-1] != '-' && len(name) < 64
}

// plainTarget takes the tracking parameters off the end of a path and query of plain characters that starts with a slash.
func plainTarget(text string) (string, bool) {
	query := false
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '/':
		case c == '.' && (query || text[i-1] != '/'):
		case (c == '=' || c == '&') && query:
		case c == '?' && !query:
			query = true
		default:
			return "", false
		}
	}
	if !query {
		return text, true
	}
	path, rest, _ := strings.Cut(text, "?")
	kept := withoutTracking(rest)
	if kept == "" {
		return path, true
	}
	return text, kept == rest
}
