package doctest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// The largest bodies that the document allows, in bytes: of one record, of many, of lines and of a report.
const (
	maxBody     = 64 << 10
	maxManyBody = 1 << 20
	maxLines    = 4 << 20
	maxReport   = 16 << 10
)

const (
	formBody  = "application/x-www-form-urlencoded"
	jsonBody  = "application/json"
	linesBody = "application/x-ndjson"
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
		if d.lines {
			d.kind = linesBody
		}
		d.header.Set("Content-Encoding", pick(g, []string{"gzip", "br", "deflate", "identity, gzip"}))
	}
	return []int{http.StatusUnsupportedMediaType}
}

// badJSON is what is no JSON object that any operation takes.
var badJSON = []string{"{", "}", "[", "nul", `{"url"}`, `{"url":}`, `{"url":"x"`, `{"url":"x",}`, `{url:"x"}`, `{'url':'x'}`, `{"url":"x"} {}`, `{"url":"` + "\xff" + `"}`,
	`{"url":"\ud800"}`, `{"url":"\udc00\ud800"}`, `{"url":"\x"}`, "{\"url\":\"a\nb\"}", `{"url":01}`, `{"url":+1}`, `{"url":.5}`, `{"url":NaN}`, `{"url":1e}`,
	strings.Repeat("[", 12000), `{"a":` + strings.Repeat("[", 12000), "\xef\xbb\xbf{}", `"text"`, "17", "true", "null", "{} x", "// comment\n{}"}

var (
	noArrays  = []string{"[]", "[{}]"}
	badArrays = []string{"{}", "[1]", "[[]]", "[null]", `["x"]`, "[{},]", "[{}] []", "[{}", ""}
	badForms  = []string{"url=%zz", "url=%", "%=1", "url=%ff", "url=%c0%af", `{"url":"https://example.com"}`, "url=https://example.com&%f0%28", "{"}
)

// badBody sends what is not of its type.
func (g *Generator) badBody(d *draft) []int {
	if !d.documents(http.StatusUnsupportedMediaType) && d.kind == "" {
		return nil
	}
	if d.lines {
		return g.badLine(d)
	}
	bad := slices.Concat(badJSON, noArrays)
	d.kind = jsonBody
	switch {
	case d.many:
		bad = slices.Concat(badJSON, badArrays)
	case !d.op.open && g.chance(40):
		d.kind, bad = formBody, badForms
	}
	d.content = []byte(pick(g, bad))
	return []int{http.StatusBadRequest}
}

// badLine sends a line that is no object, alone or after others.
func (g *Generator) badLine(d *draft) []int {
	if d.content = nil; g.chance(50) {
		d.content = append(d.encode(), '\n')
	}
	d.content = append(d.content, pick(g, slices.Concat(badJSON, noArrays))...)
	return d.refusal()
}

func (g *Generator) largeBody(d *draft) []int {
	if !d.documents(http.StatusRequestEntityTooLarge) || g.chance(80) { // its size makes it slow
		return nil
	}
	size := maxBody
	switch {
	case d.many:
		size = maxManyBody
	case d.lines:
		size = maxLines
	case d.op.open:
		size = maxReport
	}
	d.content = bytes.Repeat([]byte("x"), size+1+g.random.IntN(100))
	d.kind = pick(g, []string{formBody, jsonBody, linesBody, "text/plain"})
	return []int{http.StatusRequestEntityTooLarge}
}

// missingField leaves out what is required.
func (g *Generator) missingField(d *draft) []int {
	if !d.hasFields() || len(d.needed) == 0 {
		return nil
	}
	i := g.random.IntN(len(d.objects))
	d.objects[i] = slices.DeleteFunc(d.objects[i], func(f field) bool { return slices.Contains(d.needed, f.name) })
	return d.refusal()
}

// badField gives a field a value that its schema forbids, or the word that describes it.
func (g *Generator) badField(d *draft) []int {
	if !d.hasFields() {
		return nil
	}
	name, schema := g.property(d)
	value, found := g.forbidden(schema, d.isForm())
	if word, _ := wordOf(name, schema); len(word.bad) > 0 && (!found || g.chance(50)) {
		value, found = pick(g, word.bad), true
		d.decide(name)
	}
	if !found {
		return nil
	}
	i := g.random.IntN(len(d.objects))
	(*fields)(&d.objects[i]).drop(name)
	d.objects[i] = append(d.objects[i], field{name, value})
	return d.refusal()
}

// decide leaves out the fields that would be looked at instead of one.
func (d *draft) decide(name string) {
	for _, instead := range map[string][]string{"domain": {"url", "d"}, "url": {"project"}}[name] {
		for i := range d.objects {
			(*fields)(&d.objects[i]).drop(instead)
		}
	}
}

// doubleField sends a field twice. Open operations take the last.
func (g *Generator) doubleField(d *draft) []int {
	if !d.hasFields() || d.op.open {
		return nil
	}
	name, schema := g.property(d)
	i := g.random.IntN(len(d.objects))
	d.objects[i] = append(d.objects[i], field{name, g.value(name, schema)}, field{name, g.value(name, schema)})
	return d.refusal()
}

func (g *Generator) unknownField(d *draft) []int {
	if !d.hasFields() || d.extensible() {
		return nil
	}
	i := g.random.IntN(len(d.objects))
	d.objects[i] = append(d.objects[i], field{pick(g, unknownNames), g.text(20)})
	return d.refusal()
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

// foreignRobots asks to go past the robots.txt of a site that is not one's own.
func (g *Generator) foreignRobots(d *draft) []int {
	if !d.hasFields() || d.schema.Properties["ignore_robots"] == nil {
		return nil
	}
	f := (*fields)(&d.objects[0])
	f.set("ignore_robots", "1")
	f.set("url", g.address())
	return []int{http.StatusUnprocessableEntity}
}
