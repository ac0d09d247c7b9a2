package robots

import "strings"

// A pattern is the path of a rule: text with * for anything, bound to the end by a closing $.
type pattern struct {
	pieces []string // what stands between the stars, normalised
	escape []string // the same with the reserved characters of the query escaped; nil where that makes no difference
	ends   bool
	length int
}

// A path is what a rule is compared with.
type path struct {
	text   string
	escape string // with the reserved characters of the query escaped
}

func newPattern(value string) pattern {
	value, ends := strings.CutSuffix(value, "$")
	text := normal(value, false)
	p := pattern{pieces: strings.Split(text, "*"), ends: ends, length: len(text)}
	if ends {
		p.length++
	}
	if escaped := escapeQuery(text); escaped != text {
		p.escape = strings.Split(escaped, "*")
	}
	return p
}

func newPath(target string) path {
	text := normal(target, true)
	return path{text, escapeQuery(text)}
}

// matches compares a path as it is and, because the RFC has it so, with its query escaped.
func (p *pattern) matches(to path) bool {
	if match(p.pieces, p.ends, to.text) {
		return true
	}
	escaped := p.escape
	if escaped == nil {
		escaped = p.pieces
	}
	return (p.escape != nil || to.escape != to.text) && match(escaped, p.ends, to.escape)
}

// match finds the pieces in the text one after the other, each as far left as can be: the first at the start and, of a
// pattern that is bound to the end, the last at the end.
func match(pieces []string, ends bool, text string) bool {
	rest, found := strings.CutPrefix(text, pieces[0])
	if !found {
		return false
	}
	if len(pieces) == 1 {
		return !ends || rest == ""
	}
	last := len(pieces) - 1
	for _, piece := range pieces[1:last] {
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	if ends {
		return strings.HasSuffix(rest, pieces[last])
	}
	return strings.Contains(rest, pieces[last])
}

const hex = "0123456789ABCDEF"

// normal brings escapes into one form: what may stand unescaped does, all else beyond ASCII and every $ is an upper-case
// escape. In an address a * is escaped too, so that only %2A of a rule means it.
func normal(text string, isAddress bool) string {
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		escaped := c <= ' ' || c >= 0x7f || c == '$' || c == '*' && isAddress
		if c == '%' && i+2 < len(text) {
			high, low := strings.IndexByte(hex, upper(text[i+1])), strings.IndexByte(hex, upper(text[i+2]))
			if high >= 0 && low >= 0 {
				c = byte(high<<4 | low)
				escaped = !unreserved(c)
				i += 2
			}
		}
		if escaped {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// escapeQuery escapes the reserved characters that may stand in a query as they are.
func escapeQuery(text string) string {
	path, query, found := strings.Cut(text, "?")
	if !found || !strings.ContainsAny(query, ":/?#[]@") {
		return text
	}
	return path + "?" + reserved.Replace(query)
}

var reserved = strings.NewReplacer(":", "%3A", "/", "%2F", "?", "%3F", "#", "%23", "[", "%5B", "]", "%5D", "@", "%40")

func unreserved(c byte) bool {
	return isLetter(c) || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
