package facts

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// utf8Body is the body in UTF-8, by the header, the byte order mark, the meta element or, without any of them, by its bytes.
func utf8Body(body []byte, contentType string) []byte {
	if declaredUTF8(contentType) {
		return bytes.TrimPrefix(body, []byte("\ufeff"))
	}
	encoding, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return bytes.TrimPrefix(body, []byte("\ufeff"))
	}
	converted, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return body // what cannot be decoded is read as it is: clean replaces what is not text
	}
	return converted
}

// clean makes text fit to keep: valid UTF-8 without control characters, at most limit bytes and then an ellipsis.
func clean(text string, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
		for i := 0; i < utf8.UTFMax && len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]); i++ {
			text = text[:len(text)-1]
		}
	}
	if !plain(text) && strings.IndexFunc(text, unfit) >= 0 {
		text = strings.Map(func(r rune) rune {
			switch {
			case r == '\n' || r == '\r' || r == '\t':
				return ' '
			case unfit(r):
				return utf8.RuneError
			}
			return r
		}, text)
	}
	if cut {
		text += "…"
	}
	return text
}

// plain says that text is ASCII and printable: most is.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// unfit are the characters that no evidence needs; bad UTF-8 arrives as RuneError.
func unfit(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }

// collapse trims text and makes each run of white space one space.
func collapse(text []byte) string { return string(bytes.Join(bytes.Fields(text), []byte(" "))) }

// A wordCounter counts the words of visible text as it comes in pieces, and hashes it.
type wordCounter struct {
	words  int
	hash   uint64
	inRun  bool // within a run of characters that are not white space
	inWord bool // and it has a letter or digit, so it is counted
}

const (
	hashStart = 14695981039346656037 // FNV-1a
	hashPrime = 1099511628211
)

// add takes a piece of text. A word may go on in the next piece.
func (c *wordCounter) add(text []byte) {
	for i := 0; i < len(text); {
		b := text[i]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			c.rune(r, text[i:i+size])
			i += size
			continue
		}
		i++
		if b <= ' ' {
			c.split()
			continue
		}
		c.mix(b)
		if !c.inWord && (b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9') {
			c.inWord = true
			c.words++
		}
	}
}

// rune takes a character beyond ASCII. Scripts that are written without spaces count by character.
func (c *wordCounter) rune(r rune, encoded []byte) {
	if unicode.IsSpace(r) {
		c.split()
		return
	}
	for _, b := range encoded {
		c.mix(b)
	}
	switch {
	case r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		c.words++
		c.inWord = false
	case !c.inWord && (unicode.IsLetter(r) || unicode.IsNumber(r)):
		c.inWord = true
		c.words++
	}
}

// split ends a word.
func (c *wordCounter) split() {
	if c.inRun {
		c.mix(' ')
	}
	c.inRun, c.inWord = false, false
}

func (c *wordCounter) mix(b byte) {
	c.inRun = true
	c.hash = (c.hash ^ uint64(b)) * hashPrime
}
