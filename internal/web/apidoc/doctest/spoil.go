package doctest

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// A flaw is something wrong in a part of a request. make puts it there and says with which statuses it may be answered;
// none: this request cannot have it.
type flaw struct {
	name, part string
	make       func(*Generator, *draft) []int
}

var flaws = []flaw{
	{"no good key", "key", (*Generator).badKey},
	{"a key without the scope", "key", (*Generator).weakKey},
	{"another method", "method", (*Generator).otherMethod},
	{"an unknown path", "path", (*Generator).otherPath},
	{"an unknown record", "path", (*Generator).otherRecord},
	{"Accept without JSON", "accept", (*Generator).badAccept},
	{"a malformed query", "query", (*Generator).badQuery},
	{"a bad parameter", "query", (*Generator).badParameter},
	{"a bad parameter", "query", (*Generator).badParameter},
	{"a parameter sent twice", "query", (*Generator).doubleParameter},
	{"a required parameter left out", "query", (*Generator).missingParameter},
	{"an unknown run", "query", (*Generator).otherRun},
	{"a body of another type", "body", (*Generator).badType},
	{"a malformed body", "body", (*Generator).badBody},
	{"a large body", "body", (*Generator).largeBody},
	{"a required field left out", "body", (*Generator).missingField},
	{"a bad field", "body", (*Generator).badField},
	{"a bad field", "body", (*Generator).badField},
	{"a bad field", "body", (*Generator).badField},
	{"a field sent twice", "body", (*Generator).doubleField},
	{"an unknown field", "body", (*Generator).unknownField},
	{"privacy 2 without a password", "body", (*Generator).missingPassword},
	{"too many entries", "body", (*Generator).badArray},
	{"robots.txt of another's site", "body", (*Generator).foreignRobots},
	{"a bad Idempotency-Key", "header", (*Generator).badIdempotencyKey},
	{"another version", "header", (*Generator).badMatch},
}

// spoil puts one flaw into a request, sometimes two in different parts.
func (g *Generator) spoil(d *draft) {
	d.want = nil
	spoiled, wanted := "", 1
	if g.chance(15) {
		wanted = 2
	}
	for tries := 0; d.wrong == nil || len(d.wrong) < wanted && tries < 20; tries++ {
		f := pick(g, flaws)
		if f.part == spoiled || d.hasFields() && f.part != "body" && g.chance(60) { // most that can go wrong is in fields
			continue
		}
		if statuses := f.make(g, d); statuses != nil {
			d.wrong, d.want, spoiled = append(d.wrong, f.name), append(d.want, statuses...), f.part
		}
	}
}

// documents says whether the operation knows a status.
func (d *draft) documents(status int) bool { return d.op.Responses.Status(status) != nil }

// refusal is how the operation answers fields and parameters that are not valid.
func (d *draft) refusal() []int {
	if d.documents(http.StatusUnprocessableEntity) {
		return []int{http.StatusUnprocessableEntity}
	}
	return []int{http.StatusBadRequest}
}

func (g *Generator) badKey(d *draft) []int {
	if !d.documents(http.StatusUnauthorized) {
		return nil
	}
	good := "Bearer " + g.stage.Key(nil)
	bad := [][]string{{"Bearer"}, {"Bearer "}, {good + "x"}, {good[:20]}, {"Bearer " + g.text(40)}, {"Bearer sl_" + strings.Repeat("A", 38)}, {"Bearer " + strings.Repeat("x", 9000)}}
	if !d.op.open { // else these are no keys at all
		bad = append(bad, nil, []string{""}, []string{"Basic b3duZXI6eA=="}, []string{good, good}, []string{strings.TrimPrefix(good, "Bearer ")})
	}
	d.header["Authorization"] = pick(g, bad)
	return []int{http.StatusUnauthorized}
}

func (g *Generator) weakKey(d *draft) []int {
	if len(d.op.scopes) == 0 {
		return nil
	}
	d.header.Set("Authorization", "Bearer "+g.stage.Key(d.op.scopes))
	return []int{http.StatusForbidden}
}

func (g *Generator) otherMethod(d *draft) []int {
	d.method = pick(g, []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get", "X-" + strings.Repeat("Y", 50)})
	if slices.Contains(g.methods[d.op.path], d.method) {
		d.method = d.op.method
		return nil
	}
	return []int{http.StatusMethodNotAllowed}
}

func (g *Generator) otherPath(d *draft) []int {
	d.path = pick(g, []string{"/", "/api", "/api/v1", "/api/v2" + d.path, d.path + "/x/y/z", "/" + d.path, d.path + "//", "/." + d.path, d.path + "/..", "/x/.." + d.path,
		d.path + "%2f", d.path + "%00/x", strings.ToUpper(d.path), "/%2e%2e" + d.path, "/.git/config", "/api/v1/nothing", "/%ff", "/api/v1/webs%69tes/1/2"})
	return []int{http.StatusNotFound}
}

func (g *Generator) otherRecord(d *draft) []int {
	if len(d.named) == 0 {
		return nil
	}
	odd := []string{"0", "-1", "1.5", "1e3", "9223372036854775807", "9223372036854775808", "99999999999999999999999", "x", "nothing.example", "%00", "%ff", "%0a",
		"%2f", "%20", "1%20", "+1", "0x1", "%EF%BC%91", "null", "'%20OR%201=1--", "1;drop", "%252e", "*", "2147483647", "2147483648", strings.Repeat("9", 3000)}
	d.name(pick(g, slices.Sorted(maps.Keys(d.named))), pick(g, odd))
	return []int{http.StatusNotFound}
}

// otherRun asks for an audit that the report does not have.
func (g *Generator) otherRun(d *draft) []int {
	if !d.op.knows("run") {
		return nil
	}
	d.askInstead("run", pick(g, []string{"1000", "32768", "2147483647"}))
	return []int{http.StatusNotFound}
}

func (g *Generator) badAccept(d *draft) []int {
	if !d.documents(http.StatusNotAcceptable) {
		return nil
	}
	d.header.Set("Accept", pick(g, refused))
	return []int{http.StatusNotAcceptable}
}

// badQuery sends a query that is not one. Open operations repair text that is not UTF-8: visitors did not choose it.
func (g *Generator) badQuery(d *draft) []int {
	if !d.documents(http.StatusBadRequest) || d.op.open && !d.op.takes(openapi3.ParameterInQuery) {
		return nil
	}
	bad := []string{"x=%zz", "%", "x=%4", "x=%u0041"}
	if !d.op.open {
		bad = append(bad, "x=%ff", "%c3%28=1", "search=%ed%a0%80")
	}
	d.query = append(d.query, pick(g, bad))
	return []int{http.StatusBadRequest}
}

// badParameter gives a parameter of the query a value that its schema forbids, or the word that describes it.
func (g *Generator) badParameter(d *draft) []int {
	p := g.queryParameter(d)
	if p == nil {
		return nil
	}
	schema := p.Schema.Value
	word, _ := wordOf(p.Name, schema)
	if list := schema.Type.Is("array"); list && schema.MaxItems != nil && g.chance(10) {
		d.askInstead(p.Name, slices.Repeat([]string{word.make(g)}, int(*schema.MaxItems)+1))
		return d.refusal()
	} else if list {
		schema = schema.Items.Value
	}
	bad, found := g.forbidden(schema, true)
	if len(word.bad) > 0 && (!found || g.chance(50)) {
		bad, found = pick(g, word.bad), true
	}
	if !found || bad == "" && p.AllowEmptyValue {
		return nil
	}
	d.askInstead(p.Name, bad)
	return d.refusal()
}

func (g *Generator) doubleParameter(d *draft) []int {
	p := g.queryParameter(d)
	if p == nil || p.Schema.Value.Type.Is("array") { // then it may be sent several times
		return nil
	}
	d.askInstead(p.Name, g.value(p.Name, p.Schema.Value))
	d.ask(p.Name, g.value(p.Name, p.Schema.Value))
	return d.refusal()
}

func (g *Generator) missingParameter(d *draft) []int {
	if p := g.queryParameter(d); p != nil && p.Required {
		d.forget(p.Name)
		return d.refusal()
	}
	return nil
}

// queryParameter chooses one that the operation knows.
func (g *Generator) queryParameter(d *draft) *openapi3.Parameter {
	var known []*openapi3.Parameter
	for _, p := range d.op.Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			known = append(known, p.Value)
		}
	}
	if len(known) == 0 {
		return nil
	}
	return pick(g, known)
}

func (d *draft) forget(parameter string) { (*fields)(&d.asked).drop(parameter) }

// askInstead asks for a value instead of all that was asked for under that name.
func (d *draft) askInstead(parameter string, value any) {
	d.forget(parameter)
	d.ask(parameter, value)
}

func (g *Generator) badIdempotencyKey(d *draft) []int {
	if !d.op.knows("Idempotency-Key") {
		return nil
	}
	d.header["Idempotency-Key"] = pick(g, [][]string{{""}, {strings.Repeat("x", 256)}, {"ü"}, {"\xff"}, {"a\tb"}, {"a", "a"}, {strings.Repeat("x", 9000)}})
	return []int{http.StatusBadRequest}
}

func (g *Generator) badMatch(d *draft) []int {
	if !d.documents(http.StatusPreconditionFailed) || len(d.named) == 0 {
		return nil
	}
	d.header["If-Match"] = pick(g, [][]string{{`"0-0"`}, {""}, {"W/" + d.record.Tag}, {strings.Trim(d.record.Tag, `"`)}, {`"`}, {"\xff"}, {"ü", `"1"`}, {strings.Repeat(`"x",`, 2000)}})
	return []int{http.StatusPreconditionFailed}
}

// property chooses a field that the body of the operation knows.
func (g *Generator) property(d *draft) (string, *openapi3.Schema) {
	name := pick(g, slices.Sorted(maps.Keys(d.schema.Properties)))
	return name, d.schema.Properties[name].Value
}
