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

// A word is a field with rules that its schema cannot express: how to make a value that keeps them, and values that break
// them.
type word struct {
	make   func(g *Generator) string
	bad    []string
	always bool // never null: that would mean more than that it is not sent
}

// seldom says how often, of a hundred, an optional field is sent whose work takes long.
var seldom = map[string]int{"password": 1}

var words = map[string]word{
	"url": {make: (*Generator).address, bad: []string{"ftp://example.com", "https://", "https://user@example.com", "https://a b.example", "no-dots",
		"https://example.com:99999", "https://exa%mple.com", "https://a..example", "javascript:alert(1)", "https://" + strings.Repeat("a", 64) + ".example"}},
	"domain": {make: (*Generator).host, always: true, bad: []string{"no-dots", "a..example", "user@example.com"}},
	"project": {make: func(g *Generator) string {
		return pick(g, []string{g.host(), "Shop no. " + g.unique(), "büro " + g.unique()})
	},
		bad: []string{"123", "  ", "/", ".", "..", "99999999999999999999"}},
	"name":       {make: func(g *Generator) string { return g.unique() + g.text(20) }, bad: []string{"", "   "}},
	"password":   {make: func(g *Generator) string { return "open sesame" }, bad: []string{strings.Repeat("ü", 129)}},
	"expires_at": {make: (*Generator).moment, bad: []string{"tomorrow", "2020-01-01T00:00:00Z", "2027-02-30T00:00:00Z", "2027-01-31", "2027-01-31T25:00:00Z", "0"}},
	"scopes":     {make: func(g *Generator) string { return pick(g, scopeLists) }, bad: []string{"everything", "seo:admin", "seo:read;seo:write", "SEO:READ"}},
	"exclude_params": {make: func(g *Generator) string {
		return pick(g, []string{"", "utm_*", "utm_source\r\nfbclid", "a,b;c d", "&"})
	},
		bad: []string{strings.Repeat("a ", 101), strings.Repeat("x", 101)}},
	"exclude_ips": {make: func(g *Generator) string {
		return pick(g, []string{"", "192.0.2.1", "10.0.0.*", "2001:db8::/32\n::1", "10.*; 192.0.2.0/24"})
	}, bad: []string{"10.0.0.300", "192.0.2.0/33", "localhost", "*", "10.*.1.1", "::1%eth0", strings.Repeat("10.0.0.1 ", 501)}},
}

var (
	scopeLists   = []string{"seo:read", "seo:read,seo:write", "analytics:read account:write", " seo:read , analytics:write "}
	unknownNames = []string{"color", "URL", "id", "__proto__", "a[b]", "", "ü", "x" + strings.Repeat("y", 100)}
	accepted     = []string{"application/json", "*/*", "application/*", "text/html, */*;q=0.1", "", "application/problem+json", "APPLICATION/JSON; q=0.5"}
	refused      = []string{"text/html", "application/json;q=0", "image/*", "text/html, application/json;q=0.0", "nonsense"}
	oddHeaders   = []string{"", strings.Repeat("x", 64), strings.Repeat("x", 5000), "ü", "\xff\xfe", "a\tb", `"><script>`, "' OR 1=1 --", "${jndi:x}"}
)

// value makes a value that a schema allows.
func (g *Generator) value(name string, schema *openapi3.Schema) any {
	switch word, known := words[name]; {
	case known && len(schema.Enum) == 0:
		made := word.make(g)
		if schema.Type.Permits("array") && g.chance(50) {
			return strings.FieldsFunc(made, func(r rune) bool { return r == ',' || r == ' ' })
		}
		return made
	case len(schema.Enum) > 0:
		return pick(g, schema.Enum)
	case schema.Type.Is("integer"):
		low, high := 1, 1000
		if schema.Min != nil {
			low = int(*schema.Min)
		}
		if schema.Max != nil {
			high = int(*schema.Max)
		}
		return float64(low + g.random.IntN(high-low+1))
	default:
		length := 40
		if schema.MaxLength != nil {
			length = int(*schema.MaxLength)
		}
		return g.text(g.random.IntN(length + 1))
	}
}

// unique is text that no other value has.
func (g *Generator) unique() string {
	g.serial++
	return fmt.Sprintf("%08x-%d", g.random.Uint32(), g.serial)
}

func (g *Generator) host() string {
	return pick(g, []string{"", "www.", "shop."}) + g.unique() + pick(g, []string{".example", ".example.com:8080", ".münchen.example"})
}

func (g *Generator) address() string {
	return pick(g, []string{"https://", "http://", "HTTPS://", "", " https://"}) + g.host() + pick(g, []string{"", "/", "/a?b=%zz#c", "/ü;x=<>'"})
}

func (g *Generator) moment() string {
	return strconv.Itoa(2027+g.random.IntN(70)) + pick(g, []string{"-01-31T00:00:00Z", "-06-15T12:30:00+02:00", "-02-28T23:59:59.999Z"})
}

// text is up to n characters of all kinds but control characters.
func (g *Generator) text(n int) string {
	const kinds = `abcXYZ 019%_\'"<>&=+;,/?#.-*äß漢🙂` + "\u202e\u200b\ufeff"
	letters := []rune(kinds)
	out := make([]rune, n)
	for i := range out {
		out[i] = pick(g, letters)
	}
	return string(out)
}

// agree takes care of the fields that depend on each other: privacy 2 needs a password, and removing that another privacy.
func agree(fields []field) []field {
	find := func(name string) int { return slices.IndexFunc(fields, func(f field) bool { return f.name == name }) }
	password, privacy := find("password"), find("privacy")
	switch {
	case password >= 0 && fields[password].value == nil && privacy >= 0:
		fields[privacy].value = "1"
	case password >= 0 && fields[password].value == nil:
		return append(fields, field{"privacy", "1"})
	case password < 0 && privacy >= 0 && text(fields[privacy].value) == "2":
		fields[privacy].value = "0"
	}
	return fields
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
	default:
		return fmt.Sprint(v)
	}
}

// encode writes the body in its type.
func (d *draft) encode() []byte {
	if strings.Contains(strings.ToLower(d.kind), "form") {
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
	if d.many {
		return []byte("[" + strings.Join(objects, ",\n") + "]")
	}
	return []byte(objects[0])
}

// quote writes a value as JSON does.
func quote(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err) // the generator makes no such values
	}
	return string(out)
}
