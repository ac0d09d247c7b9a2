// Package page turns the address of a page into what is stored of it: the page itself, and the campaign that brought its
// visitor.
package page

import (
	"strings"
	"unicode/utf8"

	"sightline/internal/site"
)

// maxAddress is how much of an address is looked at, in bytes.
const maxAddress = 16 << 10

// An Address is a web address in its parts, as they are written. All of them may be empty.
type Address struct {
	Scheme   string // in lower case
	Host     string // with a port if there is one
	Path     string
	Query    string // without the question mark
	Fragment string // without the number sign
}

// Split takes an address apart. It takes whatever browsers and clients send; invalid UTF-8 is repaired.
func Split(text string) Address {
	rest := strings.TrimSpace(Cut(text, maxAddress))
	var a Address
	rest, a.Fragment, _ = strings.Cut(rest, "#")
	rest, a.Query, _ = strings.Cut(rest, "?")
	if scheme, after, found := strings.Cut(rest, ":"); found && isScheme(scheme) {
		a.Scheme, rest = strings.ToLower(scheme), after
	}
	if after, found := strings.CutPrefix(rest, "//"); found {
		end := strings.IndexAny(after, `/\`)
		if end < 0 {
			end = len(after)
		}
		a.Host, rest = after[:end], after[end:]
		a.Host = a.Host[strings.LastIndexByte(a.Host, '@')+1:]
	}
	a.Path = rest
	return a
}

// isScheme says whether the text before a colon is one.
func isScheme(text string) bool {
	for i, c := range []byte(text) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return text != ""
}

// OnSite says whether the address can be of a web site at all: data:, about: and their like are not.
func (a Address) OnSite() bool {
	return a.Scheme == "" || a.Host != "" || strings.HasPrefix(a.Path, "/")
}

// Domain is the host in the form of a website's domain: lower case, ASCII, without www. and without the scheme's own port.
func (a Address) Domain() string {
	if isPlain(a.Host) {
		return withoutWWW(a.Host)
	}
	if a.Host == "" {
		return ""
	}
	scheme := a.Scheme
	if scheme != "http" {
		scheme = "https"
	}
	parsed, err := site.Parse(scheme + "://" + a.Host)
	if err != nil {
		return strings.ToLower(a.Host)
	}
	return parsed.Domain
}

// isPlain says that a host is in its normal form already, as nearly all are.
func isPlain(host string) bool {
	if host == "" || len(host) > 253 || strings.Contains(host, "xn--") || strings.Contains(host, "..") {
		return false
	}
	for _, c := range []byte(host) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host[0] != '.' && last != "" && (last[0] < '0' || last[0] > '9') // not a number: that may be an address in disguise
}

func withoutWWW(host string) string {
	for {
		rest, found := strings.CutPrefix(host, "www.")
		if !found || !strings.Contains(rest, ".") {
			return host
		}
		host = rest
	}
}

// Within says whether a domain is another or a subdomain of it.
func Within(domain, of string) bool {
	return domain == of || len(domain) > len(of) && strings.HasSuffix(domain, of) && domain[len(domain)-len(of)-1] == '.'
}

// Cut is text as valid UTF-8 of at most a number of bytes.
func Cut(text string, most int) string {
	if len(text) > most {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	if utf8.ValidString(text) {
		return text
	}
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) > most { // the mark is longer than what it stands for
		return Cut(text, most)
	}
	return text
}
