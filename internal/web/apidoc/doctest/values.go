package doctest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// seldom says how often, of a hundred, an optional field or parameter is sent whose work takes long.
var seldom = map[string]int{"password": 1, "wait": 20}

var (
	unknownNames = []string{"color", "URL", "id", "__proto__", "a[b]", "", "ü", "x" + strings.Repeat("y", 100)}
	accepted     = []string{"application/json", "*/*", "application/*", "text/html, */*;q=0.1", "", "application/problem+json", "APPLICATION/JSON; q=0.5"}
	refused      = []string{"text/html", "application/json;q=0", "image/*", "text/html, application/json;q=0.0", "nonsense"}
	oddHeaders   = []string{"", strings.Repeat("x", 64), strings.Repeat("x", 5000), "ü", "\xff\xfe", "a\tb", `"><script>`, "' OR 1=1 --", "${jndi:x}"}
)

// value makes a value that a schema allows.
func (g *Generator) value(name string, schema *openapi3.Schema) any {
	word, known := wordOf(name, schema)
	switch {
	case known && schema.Type.Is("array"):
		return g.several(word.make)
	case known && (!natural(schema, "number", "object") || g.chance(50)):
		made := word.make(g)
		if schema.Type != nil && schema.Type.Permits("array") && g.chance(50) {
			return strings.FieldsFunc(made, func(r rune) bool { return r == ',' || r == ' ' })
		}
		return made
	case len(schema.Enum) > 0:
		return pick(g, schema.Enum)
	}
	kind := g.kind(schema)
	if known {
		kind = schema.Type.Slice()[0]
	}
	switch kind {
	case "integer":
		return g.integer(schema)
	case "number":
		return pick(g, []float64{0, 1, -1, 49.9, 1e-9, 123456789, 1e20})
	case "object":
		return g.properties()
	default:
		return g.textFor(schema)
	}
}

// natural says whether the type that a schema names first is one of these.
func natural(schema *openapi3.Schema, kinds ...string) bool {
	return schema.Type != nil && slices.Contains(kinds, schema.Type.Slice()[0])
}

// kind chooses one of the types that a schema allows, but null.
func (g *Generator) kind(schema *openapi3.Schema) string {
	var kinds []string
	for _, kind := range schema.Type.Slice() {
		if kind != "null" {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return "string"
	}
	return pick(g, kinds)
}

func (g *Generator) integer(schema *openapi3.Schema) float64 {
	low, high := 1, 1000
	if schema.Min != nil {
		low = int(*schema.Min)
	}
	if schema.Max != nil {
		high = int(*schema.Max)
	}
	return float64(low + g.random.IntN(high-low+1))
}

// several is a list of up to three texts.
func (g *Generator) several(one func(*Generator) string) []string {
	list := make([]string, 1+g.random.IntN(3))
	for i := range list {
		list[i] = one(g)
	}
	return list
}

// properties are free ones of an event.
func (g *Generator) properties() map[string]string {
	props := map[string]string{}
	for range g.random.IntN(4) {
		props[pick(g, []string{"plan", "ü", "a:b", g.unique()})] = "x" + g.text(g.random.IntN(20))
	}
	return props
}

// textFor is text that a schema allows: of all kinds, unless it must follow a pattern.
func (g *Generator) textFor(schema *openapi3.Schema) string {
	shortest, longest := int(schema.MinLength), 40
	if schema.MaxLength != nil {
		longest = min(int(*schema.MaxLength), 400) // some limits are in bytes
	}
	made := g.text(shortest + g.random.IntN(longest-shortest+1))
	if schema.Pattern != "" && !compiled(schema.Pattern).MatchString(made) {
		return g.matching(schema.Pattern)
	}
	return made
}

// text is n characters of all kinds but control characters.
func (g *Generator) text(n int) string {
	const kinds = `abcXYZ 019%_\'"<>&=+;,/?#.-*äß漢🙂` + "\u202e\u200b\ufeff"
	letters := []rune(kinds)
	out := make([]rune, n)
	for i := range out {
		out[i] = pick(g, letters)
	}
	return string(out)
}

// text writes a value as a form does.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []string:
		return strings.Join(v, ",")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]string:
		return quote(v)
	default:
		return fmt.Sprint(v)
	}
}

// escaped writes the parameters of a query. One with several values is sent several times.
func escaped(asked []field) []string {
	var parts []string
	for _, f := range asked {
		values, several := f.value.([]string)
		if !several {
			values = []string{text(f.value)}
		}
		for _, value := range values {
			parts = append(parts, url.QueryEscape(f.name)+"="+url.QueryEscape(value))
		}
	}
	return parts
}

// isForm says whether a body is form-encoded; all others are JSON.
func (d *draft) isForm() bool { return strings.Contains(strings.ToLower(d.kind), "form") }

// encode writes the body in its type.
func (d *draft) encode() []byte {
	if d.isForm() {
		var parts []string
		for _, f := range d.objects[0] {
			parts = append(parts, url.QueryEscape(f.name)+"="+url.QueryEscape(text(f.value)))
		}
		return []byte(strings.Join(parts, "&"))
	}
	objects := make([]string, len(d.objects))
	for i, fields := range d.objects {
		var parts []string
		for _, f := range fields {
			parts = append(parts, quote(f.name)+": "+quote(f.value))
		}
		objects[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	switch {
	case d.many:
		return []byte("[" + strings.Join(objects, ",\n") + "]")
	case d.lines:
		return []byte(strings.Join(objects, "\r\n\n"))
	default:
		return []byte(objects[0])
	}
}

// quote writes a value as JSON does.
func quote(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err) // the generator makes no such values
	}
	return string(out)
}
