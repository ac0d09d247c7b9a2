package doctest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// A Generator makes requests from an OpenAPI document: about three in ten that the server must accept, one that is just
// odd, the others wrong in a way that it knows. The same seed makes the same requests for the same stage.
type Generator struct {
	stage      Stage
	random     *rand.Rand
	schemas    *schemas
	operations []operation
	methods    map[string][]string // of each path
	serial     int                 // numbers what must be unique
}

// A Stage is what a document does not tell: the keys and records that are really there.
type Stage interface {
	// Key is a key that has all scopes but these.
	Key(lacking []string) string
	// Record is a record of that key's account that the operation at a path can act on; a website for a path that names none.
	Record(path string) Record
}

// A Record is what a path and the headers say of a record, and for a website what reports about it say.
type Record struct {
	Name, Tag, TrackingID, Host string
	Runs                        []string // the numbers of its audits, if it has any
}

// A Request is a generated request.
type Request struct {
	Operation      string // method and path, as the document has them
	Method, Target string
	Header         http.Header
	Body           []byte
	Wrong          []string // what is wrong with it; empty: it is valid
	Want           []int    // one of these must be the status of the answer; none: any but a failure
}

// String shows a request to the person who looks for the cause of a failure.
func (r Request) String() string {
	return fmt.Sprintf("%s %s %q %.600q, wrong: %v, wanted: %v", r.Method, r.Target, r.Header, r.Body, r.Wrong, r.Want)
}

// An operation is one of the document.
type operation struct {
	method, path string
	*openapi3.Operation
	open   bool     // everybody may call it
	scopes []string // a key needs one of them, if it is sent
}

// takes says whether an operation has a parameter in a part of the request.
func (o operation) takes(in string) bool {
	return slices.ContainsFunc(o.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.In == in })
}

// knows says whether an operation has a parameter of that name.
func (o operation) knows(name string) bool {
	return slices.ContainsFunc(o.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == name })
}

// NewGenerator makes requests for the operations of a document.
func NewGenerator(document []byte, stage Stage, seed uint64) (*Generator, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("load the OpenAPI document: %w", err)
	}
	known, err := newSchemas(document)
	if err != nil {
		return nil, fmt.Errorf("read the schemas of the OpenAPI document: %w", err)
	}
	g := &Generator{stage: stage, random: rand.New(rand.NewPCG(seed, 0)), schemas: known, methods: map[string][]string{}}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		all := doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(all)) {
			op := operation{method: method, path: path, Operation: all[method], open: len(*all[method].Security) == 0}
			for _, requirement := range *op.Security {
				op.open = op.open || len(requirement) == 0 // a key is welcome, but not needed
				op.scopes = append(op.scopes, requirement["key"]...)
			}
			g.operations = append(g.operations, op)
			g.methods[path] = append(g.methods[path], method)
		}
	}
	return g, nil
}

// Next makes another request.
func (g *Generator) Next() Request {
	d := g.draft(g.operation())
	switch n := g.random.IntN(100); {
	case n < 30:
		g.vary(d)
	case n < 40:
		g.shake(d)
	default:
		g.spoil(d)
	}
	return d.request()
}

// operation chooses one; those that are always the same seldom.
func (g *Generator) operation() operation {
	for {
		if op := pick(g, g.operations); !op.open || op.RequestBody != nil || op.takes(openapi3.ParameterInQuery) || g.chance(8) {
			return op
		}
	}
}

func (g *Generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func pick[T any](g *Generator, values []T) T { return values[g.random.IntN(len(values))] }

// A draft is a request in the making.
type draft struct {
	op      operation
	method  string
	path    string   // escaped
	asked   []field  // the parameters of the query
	query   []string // more of it, as it is
	header  http.Header
	kind    string            // the type of the body; empty: there is none
	schema  *openapi3.Schema  // of one object of the body
	needed  []string          // all of its fields that are required, in whatever format
	many    bool              // the body is an array of objects
	lines   bool              // the body is lines of JSON
	objects [][]field         // what the body says
	content []byte            // the body, if it does not say that
	record  Record            // that the path names, if it names one
	named   map[string]string // the parameters of the path, escaped
	wrong   []string
	want    []int
}

// A field is one of a body. Its value is text, a number, a list of texts or nil, and in wrong requests anything.
type field struct {
	name  string
	value any
}

// draft makes a valid request.
func (g *Generator) draft(op operation) *draft {
	d := &draft{op: op, method: op.method, path: op.path, header: http.Header{}, named: map[string]string{}}
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		if code, err := strconv.Atoi(status); err == nil && code < 300 {
			d.want = append(d.want, code)
		}
	}
	d.header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0")
	if !op.open || len(op.scopes) > 0 && g.chance(30) {
		d.header.Set("Authorization", "Bearer "+g.stage.Key(nil))
	}
	for _, parameter := range op.Parameters {
		g.parameter(d, parameter.Value)
	}
	d.asked = g.agree(d.asked)
	if op.RequestBody != nil {
		g.body(d, op.RequestBody.Value)
	}
	return d
}

// parameter gives a parameter a value, or leaves it out.
func (g *Generator) parameter(d *draft, p *openapi3.Parameter) {
	switch {
	case p.In == openapi3.ParameterInPath:
		d.record = g.stage.Record(d.op.path)
		value := d.record.Name
		if p.Name == "from" || p.Name == "to" {
			value = pick(g, d.record.Runs)
		}
		d.name(p.Name, url.PathEscape(value))
	case p.In == openapi3.ParameterInQuery && p.AllowEmptyValue && g.chance(5):
		d.ask(p.Name, "")
	case p.In == openapi3.ParameterInQuery && (p.Required || g.chance(cmp.Or(seldom[p.Name], 40))):
		d.ask(p.Name, g.value(p.Name, p.Schema.Value))
	case p.Name == "If-Match" && g.chance(30):
		d.header.Set(p.Name, pick(g, []string{d.record.Tag, "*", `"0-0", ` + d.record.Tag}))
	case p.Name == "If-None-Match" && g.chance(30):
		d.header.Set(p.Name, pick(g, []string{d.record.Tag, "W/" + d.record.Tag, "*", `"0-0"`}))
		d.want = append(d.want, http.StatusNotModified)
	case p.Name == "Idempotency-Key" && g.chance(30):
		g.serial++
		d.header.Set(p.Name, fmt.Sprintf("%x %d", g.random.Uint64(), g.serial))
	}
}

// name gives a parameter of the path a value, which is escaped.
func (d *draft) name(parameter, value string) {
	d.named[parameter] = value
	d.path = d.op.path
	for parameter, value := range d.named {
		d.path = strings.Replace(d.path, "{"+parameter+"}", value, 1)
	}
}

func (d *draft) ask(name string, value any) { d.asked = append(d.asked, field{name, value}) }

// body gives a request a body of one of its types, in one of its formats.
func (g *Generator) body(d *draft, body *openapi3.RequestBody) {
	d.kind = pick(g, slices.Sorted(maps.Keys(body.Content)))
	d.schema, d.lines = body.Content[d.kind].Schema.Value, d.kind == linesBody
	entries := 1
	switch {
	case d.schema.Type.Is("array"):
		d.many, d.schema = true, d.schema.Items.Value
		entries = g.random.IntN(4)
	case d.lines:
		entries = g.random.IntN(4)
	case !body.Required && g.chance(5):
		d.kind = ""
		return
	}
	d.needed = needed(d.schema)
	if formats := d.schema.AnyOf; len(formats) > 0 && len(formats[0].Value.Properties) > 0 {
		d.schema = pick(g, formats).Value
	}
	d.objects = make([][]field, entries)
	for i := range d.objects {
		d.objects[i] = g.object(d.schema)
	}
}

// needed lists the fields that a schema requires, in whatever format.
func needed(schema *openapi3.Schema) []string {
	names := slices.Clone(schema.Required)
	for _, format := range schema.AnyOf {
		names = append(names, needed(format.Value)...)
	}
	return names
}

// object fills in what a schema requires and some of the rest.
func (g *Generator) object(schema *openapi3.Schema) []field {
	required := slices.Clone(schema.Required)
	if len(schema.AnyOf) > 0 {
		required = append(required, pick(g, schema.AnyOf).Value.Required...)
	}
	var fields []field
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property, must := schema.Properties[name].Value, slices.Contains(required, name)
		if !must && !g.chance(cmp.Or(seldom[name], 35)) {
			continue
		}
		value := g.value(name, property)
		if word, _ := wordOf(name, property); !must && property.Type.Permits("null") && !word.always && g.chance(10) {
			value = nil
		}
		fields = append(fields, field{name, value})
	}
	return g.agree(fields)
}

// vary writes a valid request in another way that must make no difference.
func (g *Generator) vary(d *draft) {
	for _, way := range variations {
		if g.chance(5) {
			way(g, d)
		}
	}
}

var variations = []func(*Generator, *draft){
	func(g *Generator, d *draft) { d.path += "/" },
	func(g *Generator, d *draft) { d.header.Set("Accept", pick(g, accepted)) },
	func(g *Generator, d *draft) { d.header.Set("X-Request-Id", pick(g, oddHeaders)) },
	func(g *Generator, d *draft) { d.header.Set("User-Agent", pick(g, oddHeaders)) },
	func(g *Generator, d *draft) { d.ask(pick(g, unknownNames), g.text(20)) },
	func(g *Generator, d *draft) { d.query = append(d.query, "") },
	func(g *Generator, d *draft) {
		if d.method == http.MethodGet {
			d.method = http.MethodHead
		}
	},
	func(g *Generator, d *draft) {
		if len(d.objects) > 0 && d.extensible() {
			d.objects[0] = append(d.objects[0], field{pick(g, unknownNames), g.text(20)})
		}
	},
	func(g *Generator, d *draft) {
		if d.kind != "" {
			d.kind = pick(g, []string{strings.ToUpper(d.kind), d.kind + "; charset=utf-8", " " + d.kind + " "})
		}
	},
}

// extensible says whether a body may have fields that the document does not know.
func (d *draft) extensible() bool {
	may := d.schema.AdditionalProperties.Has
	return may == nil || *may
}

// request is the draft written out.
func (d *draft) request() Request {
	r := Request{Operation: d.op.method + " " + d.op.path, Method: d.method, Target: d.path, Header: d.header, Body: d.content, Wrong: d.wrong, Want: d.want}
	if query := append(escaped(d.asked), d.query...); len(query) > 0 {
		r.Target += "?" + strings.Join(query, "&")
	}
	if r.Body == nil && d.kind != "" {
		r.Body = d.encode()
	}
	if d.kind != "" {
		r.Header.Set("Content-Type", d.kind)
	}
	return r
}
