// Package site reads web addresses the way browsers do and says which site they belong to.
package site

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// MaxURL is the longest address that is kept, in bytes.
const MaxURL = 2048

// An Address is the address of a website.
type Address struct {
	URL    string // as typed, with scheme and host in lower case and ASCII
	Domain string // the host without a leading www., with the port if it is not the scheme's own
}

// Parse reads an http or https address. A bare host is taken as https.
func Parse(text string) (Address, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxURL {
		return Address{}, errors.New("must be at most 2,048 bytes long")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return Address{}, errors.New("must not contain spaces or control characters")
	}
	scheme, rest, bare := cutScheme(text)
	if scheme != "http" && scheme != "https" {
		return Address{}, errors.New("must start with http:// or https://")
	}
	authority, tail := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	if strings.Contains(authority, "@") {
		return Address{}, errors.New("must not contain a user name or password")
	}
	h, err := parseHost(authority)
	if err != nil || bare && (!h.standsAlone() || h.rewritten) {
		return Address{}, errors.New("must be an http or https address such as https://example.com")
	}
	address := Address{URL: scheme + "://" + h.withPort(h.name) + tail, Domain: withoutWWW(h.name)}
	if h.port != "" && h.port != map[string]string{"http": "80", "https": "443"}[scheme] {
		address.Domain = h.withPort(address.Domain)
	}
	if len(address.URL) > MaxURL {
		return Address{}, errors.New("must be at most 2,048 bytes long")
	}
	return address, nil
}

// Name is what a site is called. A host, with or without a port, is brought into one form: lower case,
// ASCII, without a leading www.; any other text is its own name, with composed characters. Name(Name(text)) equals Name(text).
func Name(text string) string {
	text = norm.NFC.String(strings.TrimSpace(text))
	h, err := parseHost(text)
	if err != nil || !h.standsAlone() || h.rewritten {
		return text
	}
	return h.withPort(withoutWWW(h.name))
}

// Unicode shows the punycode labels of a host, URL or name in their own script.
func Unicode(text string) string {
	if !strings.Contains(text, "xn--") {
		return text
	}
	before, rest, found := strings.Cut(text, "://")
	if !found {
		before, rest = "", text
	} else {
		before += "://"
	}
	end := strings.IndexAny(rest, ":/?#")
	if end < 0 {
		end = len(rest)
	}
	shown, err := idna.Punycode.ToUnicode(rest[:end])
	if err != nil {
		return text
	}
	return before + shown + rest[end:]
}

// BothForms is text, followed by a line break and its form in its own script where that differs. No search can contain the
// line break.
func BothForms(text string) string {
	if shown := Unicode(text); shown != text {
		return text + "\n" + shown
	}
	return text
}

// cutScheme splits an address at "://"; bare says that there was no scheme.
func cutScheme(text string) (scheme, rest string, bare bool) {
	before, after, found := strings.Cut(text, "://")
	if !found || strings.ContainsAny(before, "/?#") {
		return "https", text, true
	}
	return strings.ToLower(before), after, false
}

// A host is the name and port of an address.
type host struct {
	name      string // lower case, ASCII, no trailing dot; an IPv6 address is in brackets
	port      string // as decimal digits, or empty
	address   bool   // name is an IP address
	rewritten bool   // name is an address that was written in another form, such as 127.1
}

// standsAlone says that a host is recognisable as one without a scheme before it.
func (h host) standsAlone() bool {
	return h.address || h.name == "localhost" || strings.Contains(h.name, ".")
}

func (h host) withPort(name string) string {
	if h.port == "" {
		return name
	}
	return name + ":" + h.port
}

var errHost = errors.New("not a host")

func parseHost(authority string) (host, error) {
	if authority == "" || len(authority) > MaxURL || strings.ContainsAny(authority, `/\?#@%`) || strings.ContainsFunc(authority, unicode.IsControl) {
		return host{}, errHost
	}
	parsed, err := whatwg.Parse("http://" + authority + "/")
	if err != nil {
		return host{}, errHost
	}
	h := host{name: strings.TrimSuffix(parsed.Hostname(), ".")}
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') && colon < len(authority)-1 {
		h.port = strconv.Itoa(parsed.DecodedPort())
		if strings.Trim(authority[colon+1:], "0") == "" {
			return host{}, errHost
		}
	}
	if parsed.IsIPv6() {
		h.address = true
		return h, nil
	}
	if addr, err := netip.ParseAddr(h.name); err == nil {
		h.address = true
		h.rewritten = !strings.HasPrefix(authority, addr.String())
		return h, nil
	}
	return h, checkLabels(h.name)
}

// checkLabels holds a domain name to what DNS and certificates can carry; browsers let more through.
func checkLabels(name string) error {
	if len(name) > 253 {
		return errHost
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return errHost
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return errHost
			}
		}
	}
	return nil
}

func withoutWWW(name string) string {
	for {
		rest, found := strings.CutPrefix(name, "www.")
		if !found || !strings.Contains(rest, ".") {
			return name
		}
		name = rest
	}
}
