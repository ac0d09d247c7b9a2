package doctest

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

var patterns sync.Map // of *regexp.Regexp, by their text

// compiled is the regular expression of a schema.
func compiled(pattern string) *regexp.Regexp {
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp)
	}
	expression := regexp.MustCompile(pattern)
	patterns.Store(pattern, expression)
	return expression
}

// matching is text that matches a pattern.
func (g *Generator) matching(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // it was compiled before
	}
	var out strings.Builder
	g.write(&out, tree)
	return out.String()
}

// write writes text that matches a part of a pattern.
func (g *Generator) write(out *strings.Builder, part *syntax.Regexp) {
	const more = 5 // repetitions beyond what is needed
	switch part.Op {
	case syntax.OpLiteral:
		out.WriteString(string(part.Rune))
	case syntax.OpCharClass:
		out.WriteRune(g.character(part.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteString(g.text(1))
	case syntax.OpStar:
		g.repeat(out, part.Sub[0], 0, more)
	case syntax.OpPlus:
		g.repeat(out, part.Sub[0], 1, 1+more)
	case syntax.OpQuest:
		g.repeat(out, part.Sub[0], 0, 1)
	case syntax.OpRepeat:
		most := part.Min + more
		if part.Max >= 0 {
			most = min(part.Max, most)
		}
		g.repeat(out, part.Sub[0], part.Min, most)
	case syntax.OpAlternate:
		g.write(out, pick(g, part.Sub))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range part.Sub {
			g.write(out, sub)
		}
	}
}

func (g *Generator) repeat(out *strings.Builder, part *syntax.Regexp, least, most int) {
	for range least + g.random.IntN(most-least+1) {
		g.write(out, part)
	}
}

// character is one of a class, which lists the first and the last of each range; one that people type, if there is any.
func (g *Generator) character(class []rune) rune {
	const typed = `abcXYZ019 _-/.|ü`
	for range 10 {
		chosen := pick(g, []rune(typed))
		for i := 0; i < len(class); i += 2 {
			if class[i] <= chosen && chosen <= class[i+1] {
				return chosen
			}
		}
	}
	i := 2 * g.random.IntN(len(class)/2)
	return class[i] + rune(g.random.IntN(int(min(class[i+1]-class[i], 100))+1))
}
