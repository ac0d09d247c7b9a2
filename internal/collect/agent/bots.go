package agent

import (
	_ "embed"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// crawlers is one regular expression per line, from the list crawler-user-agents (MIT, see crawlers-LICENSE).
//
//go:embed crawlers.txt
var crawlers string

// Marks of browsers that nobody looks at, besides those in the list, and of agents that name a page about themselves.
var unattended = []string{"Headless", "PhantomJS", "SlimerJS", "Puppeteer", "Playwright", "Selenium", "jsdom", "Zombie.js", "+http"}

// IsBot says that no person is behind a user agent: it is empty, known as a crawler, or runs without a screen.
func IsBot(text string) bool {
	if strings.TrimSpace(text) == "" {
		return true
	}
	return list().matches(text)
}

// list is the known bots, read when the first agent is.
var list = sync.OnceValue(func() *bots {
	b := &bots{byStart: map[trigram][]candidate{}}
	for _, mark := range unattended {
		b.add(mark, nil)
	}
	for pattern := range strings.Lines(crawlers) {
		b.addPattern(strings.TrimSuffix(pattern, "\n"))
	}
	return b
})

// bots finds patterns in a text. Each pattern is known by a literal without which it cannot match; literals are found by their
// first three bytes, so that a text costs one look-up for each of its bytes and not one search for each pattern.
type bots struct {
	byStart map[trigram][]candidate
	starts  [1 << 13]uint8 // a bit for each first three bytes of a literal, many to a bit: most texts end here
	always  []*regexp.Regexp
}

type trigram [3]byte

// A candidate is a literal, and the pattern to try where it occurs; none if the literal is all of it.
type candidate struct {
	literal string
	pattern *regexp.Regexp
}

// bit is where a trigram is marked in starts.
func (t trigram) bit() (index, mask uint32) {
	h := (uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16) * 0x9e3779b1 >> 16
	return h >> 3, 1 << (h & 7)
}

func (b *bots) add(literal string, pattern *regexp.Regexp) {
	start := trigram([]byte(literal[:3]))
	b.byStart[start] = append(b.byStart[start], candidate{literal, pattern})
	index, mask := start.bit()
	b.starts[index] |= uint8(mask)
}

// addPattern adds a regular expression of the list, which is known to be right.
func (b *bots) addPattern(text string) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		panic("crawlers.txt: " + err.Error())
	}
	parsed = parsed.Simplify()
	if parsed.Op == syntax.OpLiteral && len(parsed.Rune) >= 3 && parsed.Flags&syntax.FoldCase == 0 {
		b.add(string(parsed.Rune), nil)
		return
	}
	pattern, required := regexp.MustCompile(text), literals(parsed)
	if len(required) == 0 {
		b.always = append(b.always, pattern)
	}
	for _, literal := range required {
		b.add(literal, pattern)
	}
}

// literals lists texts of three bytes or more of which every match contains one. None: nothing can be said.
func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if text := string(re.Rune); len(text) >= 3 && re.Flags&syntax.FoldCase == 0 {
			return []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, part := range re.Sub {
			if found := literals(part); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, branch := range re.Sub {
			found := literals(branch)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest text, 0 for none.
func shortest(texts []string) int {
	length := 0
	for i, text := range texts {
		if i == 0 || len(text) < length {
			length = len(text)
		}
	}
	return length
}

func (b *bots) matches(text string) bool {
	for i := 0; i+3 <= len(text); i++ {
		start := trigram{text[i], text[i+1], text[i+2]}
		if index, mask := start.bit(); b.starts[index]&uint8(mask) == 0 {
			continue
		}
		for _, c := range b.byStart[start] {
			if strings.HasPrefix(text[i:], c.literal) && (c.pattern == nil || c.pattern.MatchString(text)) {
				return true
			}
		}
	}
	for _, pattern := range b.always {
		if pattern.MatchString(text) {
			return true
		}
	}
	return false
}
