package doctest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// The largest bodies that the document allows, in bytes: of one record and of many.
const (
	maxBody     = 64 << 10
	maxManyBody = 1 << 20
)

const (
	formBody = "application/x-www-form-urlencoded"
	jsonBody = "application/json"
)

// hasFields says whether a body with fields is sent.
func (d *draft) hasFields() bool { return d.kind != "" && len(d.objects) > 0 }

// badType sends the body in a way that is not read. Operations without fields read bodies, too, when they are POSTs.
func (g *Generator) badType(d *draft) []int {
	if !d.documents(http.StatusUnsupportedMediaType) {
		return nil
	}
	if d.content = []byte("url=https://example.com"); d.kind != "" {
		d.content = d.encode()
	}
	if len(d.content) == 0 {
		d.content = []byte(" ")
	}
	d.kind = pick(g, []string{"text/plain", "multipart/form-data; boundary=x", "application/xml", "application/jsonx", "json", "", "application/x-www-form-urlencodedx", "\xff"})
	if g.chance(20) {
		d.kind = jsonBody
		d.header.Set("Content-Encoding", pick(g, []string{"gzip", "br", "deflate", "identity, gzip"}))
	}
	return []int{http.StatusUnsupportedMediaType}
}

// badBody sends what is not of its type.
func (g *Generator) badBody(d *draft) []int {
	if !d.documents(http.StatusUnsupportedMediaType) {
		return nil
	}
	d.kind = jsonBody
	bad := []string{"{", "}", "[", "nul", `{"url"}`, `{"url":}`, `{"url":"x"`, `{"url":"x",}`, `{url:"x"}`, `{'url':'x'}`, `{"url":"x"} {}`, `{"url":"` + "\xff" + `"}`,
		`{"url":"\ud800"}`, `{"url":"\udc00\ud800"}`, `{"url":"\x"}`, "{\"url\":\"a\nb\"}", `{"url":01}`, `{"url":+1}`, `{"url":.5}`, `{"url":NaN}`, `{"url":1e}`,
		strings.Repeat("[", 20000), `{"a":` + strings.Repeat("[", 20000), "\xef\xbb\xbf{}", `"text"`, "17", "true", "null", "{} x", "// comment\n{}"}
	if d.many {
		bad = append(bad, "{}", "[1]", "[[]]", "[null]", `["x"]`, "[{},]", "[{}] []", "[{}", "")
	} else {
		bad = append(bad, "[]", "[{}]")
		if g.chance(40) {
			d.kind = formBody
			bad = []string{"url=%zz", "url=%", "%=1", "url=%ff", "url=%c0%af", `{"url":"https://example.com"}`, "url=https://example.com&%f0%28", "{"}
		}
	}
	d.content = []byte(pick(g, bad))
	return []int{http.StatusBadRequest}
}

func (g *Generator) largeBody(d *draft) []int {
	if !d.documents(http.StatusRequestEntityTooLarge) || g.chance(80) { // its size makes it slow
		return nil
	}
	size := maxBody
	if d.many {
		size = maxManyBody
	}
	d.content = bytes.Repeat([]byte("x"), size+1+g.random.IntN(100))
	d.kind = pick(g, []string{formBody, jsonBody, "text/plain"})
	return []int{http.StatusRequestEntityTooLarge}
}

// missingField leaves out what is required.
func (g *Generator) missingField(d *draft) []int {
	if !d.hasFields() {
		return nil
	}
	required := slices.Clone(d.schema.Required)
	for _, branch := range d.schema.AnyOf {
		required = append(required, branch.Value.Required...)
	}
	if len(required) == 0 {
		return nil
	}
	i := g.random.IntN(len(d.objects))
	d.objects[i] = slices.DeleteFunc(d.objects[i], func(f field) bool { return slices.Contains(required, f.name) })
	return []int{http.StatusUnprocessableEntity}
}

// badField gives a field a value that its schema forbids, or the words that describe it.
func (g *Generator) badField(d *draft) []int {
	if !d.hasFields() {
		return nil
	}
	name, schema := g.property(d)
	value := g.forbidden(schema)
	switch word := words[name]; {
	case d.kind == jsonBody && g.chance(30):
		value = pick(g, []any{true, false, map[string]any{}, map[string]any{"a": 1}, []any{}, []any{1, 2}, []any{nil}, [][]string{{"seo:read"}}})
	case len(schema.Enum) == 0 && g.chance(50):
		value = pick(g, word.bad)
		d.decide(name)
	case len(schema.Enum) > 0 && d.kind == jsonBody && g.chance(30):
		value = pick(g, []any{-1, 3, 1.5, 1e300, "01", " 1"})
	}
	i := g.random.IntN(len(d.objects))
	d.objects[i] = append(slices.DeleteFunc(d.objects[i], func(f field) bool { return f.name == name }), field{name, value})
	return []int{http.StatusUnprocessableEntity}
}

// decide leaves out the fields that would be looked at instead of one.
func (d *draft) decide(name string) {
	instead := map[string]string{"domain": "url", "url": "project"}[name]
	for i := range d.objects {
		d.objects[i] = slices.DeleteFunc(d.objects[i], func(f field) bool { return f.name == instead })
	}
}

func (g *Generator) doubleField(d *draft) []int {
	if !d.hasFields() {
		return nil
	}
	name, schema := g.property(d)
	i := g.random.IntN(len(d.objects))
	d.objects[i] = append(d.objects[i], field{name, g.value(name, schema)}, field{name, g.value(name, schema)})
	return []int{http.StatusUnprocessableEntity}
}

// missingPassword asks for a password on the pages of a new website without naming one.
func (g *Generator) missingPassword(d *draft) []int {
	if !d.hasFields() || d.method != http.MethodPost || d.schema.Properties["password"] == nil {
		return nil
	}
	others := slices.DeleteFunc(d.objects[0], func(f field) bool { return f.name == "password" || f.name == "privacy" })
	d.objects[0] = append(others, field{"privacy", "2"})
	return []int{http.StatusUnprocessableEntity}
}

// badArray sends too many entries, or two of the same domain.
func (g *Generator) badArray(d *draft) []int {
	if !d.many {
		return nil
	}
	entry := []field{{"url", "https://twice.example"}}
	d.objects = [][]field{entry, entry}
	if g.chance(10) {
		d.objects = slices.Repeat([][]field{entry}, 1001)
	}
	return []int{http.StatusUnprocessableEntity}
}
