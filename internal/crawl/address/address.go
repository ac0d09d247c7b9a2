// Package address says when two links lead to the same page: it reads web addresses the way browsers do and brings each
// into one form.
package address

import (
	"errors"
	"fmt"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// MaxLength is the longest address that is followed, in bytes.
const MaxLength = 2048

// An Address is a web address in the one form that stands for all its spellings: no fragment, no default port, no dot
// segments, escapes in upper case, no tracking parameters. Its parts are pieces of URL.
type Address struct {
	URL    string
	Scheme string // http or https
	Host   string // with the port where it is not the scheme's own
	Target string // path and query: what a request asks its host for
}

// The reasons for which an address is refused.
var (
	TooLong  = fmt.Errorf("the address is longer than %d bytes", MaxLength)
	Invalid  = errors.New("this is not a web address")
	NotWeb   = errors.New("the address does not begin with http:// or https://")
	UserInfo = errors.New("the address contains a user name or password")
)

// Parse reads an absolute http or https address.
func Parse(text string) (Address, error) {
	if len(text) > MaxLength {
		return Address{}, TooLong
	}
	if a, ok := plain(text); ok {
		return a, nil
	}
	parsed, err := whatwg.Parse(text)
	if err != nil {
		return Address{}, Invalid
	}
	return normal(parsed)
}

// Restore reads the URL of an Address, such as one that was stored: it is in normal form already and need not be parsed again.
func Restore(url string) (Address, error) {
	scheme := strings.Index(url, "://")
	if scheme < 0 {
		return Address{}, NotWeb
	}
	host := strings.IndexByte(url[scheme+len("://"):], '/')
	if host <= 0 {
		return Address{}, Invalid
	}
	return cut(url, scheme, scheme+len("://")+host), nil
}

// A Base is the address that the links of a page are relative to. It is for one goroutine at a time.
type Base struct {
	text string
	page Address     // in normal form, where it has one
	url  *whatwg.Url // parsed when first needed, which for many pages is never
}

// ParseBase reads the address of a page, or what its base element says.
func ParseBase(text string) (*Base, error) {
	if len(text) > MaxLength {
		return nil, TooLong
	}
	base := &Base{text: text}
	if page, ok := plain(text); ok {
		base.page = page
		return base, nil
	}
	if err := base.parse(); err != nil {
		return nil, err
	}
	if page, err := normal(base.url); err == nil {
		base.page = page
	}
	return base, nil
}

func (b *Base) parse() error {
	parsed, err := whatwg.Parse(b.text)
	if err != nil {
		return Invalid
	}
	b.url = parsed
	return nil
}

// Join reads a link of a page, relative or not.
func (b *Base) Join(link string) (Address, error) {
	if len(link) > MaxLength {
		return Address{}, TooLong
	}
	if a, ok := b.plain(link); ok {
		return a, nil
	}
	if b.url == nil {
		if err := b.parse(); err != nil {
			return Address{}, err
		}
	}
	parsed, err := b.url.Parse(link)
	if err != nil {
		return Address{}, Invalid
	}
	return normal(parsed)
}

// Join reads a reference, such as that of a redirect, relative to an address.
func Join(base Address, reference string) (Address, error) {
	b, err := ParseBase(base.URL)
	if err != nil {
		return Address{}, err
	}
	return b.Join(reference)
}

// Origin is the scheme and host of an address: what one robots.txt speaks for.
func (a Address) Origin() string { return a.URL[:len(a.URL)-len(a.Target)] }

func normal(parsed *whatwg.Url) (Address, error) {
	scheme := parsed.Scheme()
	switch {
	case scheme != "http" && scheme != "https":
		return Address{}, NotWeb
	case parsed.Username() != "" || parsed.Password() != "":
		return Address{}, UserInfo
	case parsed.Hostname() == "":
		return Address{}, Invalid
	}
	target := parsed.Pathname()
	if query := withoutTracking(strings.TrimPrefix(parsed.Search(), "?")); query != "" {
		target += "?" + query
	}
	a := cut(scheme+"://"+parsed.Host()+upperEscapes(target), len(scheme), len(scheme)+3+len(parsed.Host()))
	if len(a.URL) > MaxLength {
		return Address{}, TooLong
	}
	return a, nil
}

// cut makes an address of a text in normal form whose scheme and host end at the given places.
func cut(text string, scheme, host int) Address {
	return Address{URL: text, Scheme: text[:scheme], Host: text[scheme+3 : host], Target: text[host:]}
}

// upperEscapes writes every percent escape in upper case.
func upperEscapes(text string) string {
	var out []byte
	for i := 0; i+2 < len(text); i++ {
		if text[i] != '%' || !isHex(text[i+1]) || !isHex(text[i+2]) {
			continue
		}
		for j := i + 1; j <= i+2; j++ {
			if text[j] >= 'a' {
				if out == nil {
					out = []byte(text)
				}
				out[j] -= 'a' - 'A'
			}
		}
		i += 2
	}
	if out == nil {
		return text
	}
	return string(out)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
