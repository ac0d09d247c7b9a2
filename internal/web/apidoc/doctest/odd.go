package doctest

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// shake makes a request odd: it may be right or wrong. Whatever the document knows may be the answer, but no failure.
func (g *Generator) shake(d *draft) {
	d.wrong, d.want = []string{"odd"}, nil
	switch way := g.random.IntN(4); {
	case way == 0 && d.hasFields():
		name, _ := g.property(d)
		d.objects[0] = append(d.objects[0], field{name, pick(g, []any{g.anyText(), nil, 0, -0.5, 1e300, 12345678901234567, "1e5", strings.Repeat("ab.", 80), []string{g.anyText()}})})
	case way <= 1 && d.kind != "":
		d.content = g.mutate(d.encode())
	case way == 2 && len(d.named) > 0:
		for _, name := range slices.Sorted(maps.Keys(d.named)) {
			d.name(name, url.PathEscape("x"+string(g.mutate([]byte(g.anyText())))))
		}
	default:
		name := pick(g, []string{"search", "page", "sort", "dry_run", ""})
		if p := g.queryParameter(d); p != nil && g.chance(80) {
			name = p.Name
		}
		odd := g.anyText()
		if g.chance(30) {
			odd = string(g.mutate([]byte(odd)))
		}
		d.askInstead(name, odd)
		d.header.Set(pick(g, []string{"If-Match", "If-None-Match", "Accept", "Content-Type", "Range", "Expect", "Connection", "X-HTTP-Method-Override"}), g.text(30))
	}
}

// anyText is characters of every plane, also those that are never printed.
func (g *Generator) anyText() string {
	var text strings.Builder
	for range 1 + g.random.IntN(12) {
		switch r := rune(g.random.IntN(utf8.MaxRune)); {
		case g.chance(50):
			text.WriteRune(r % 0x80)
		case g.chance(50):
			text.WriteRune(r % 0x3000)
		default:
			text.WriteRune(r)
		}
	}
	return text.String()
}

// mutate changes some bytes.
func (g *Generator) mutate(content []byte) []byte {
	for range 1 + g.random.IntN(3) {
		if len(content) == 0 {
			return []byte{byte(g.random.IntN(256))}
		}
		i := g.random.IntN(len(content))
		switch g.random.IntN(3) {
		case 0:
			content[i] = byte(g.random.IntN(256))
		case 1:
			content = content[:i]
		default:
			content = append(content[:i:i], content[i/2:]...)
		}
	}
	return content
}
