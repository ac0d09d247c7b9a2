package apidoc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The ways to send fields, the documented one first, and lines of JSON.
const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
	lineType = "application/x-ndjson"
)

// A builder makes the parts of the page.
type builder struct {
	reader
	base   string
	bodies map[string]bool // the schemas that are shown where they are sent
	shown  ordered[header] // the headers of answers, by their names
}

// entry is one operation on the page.
func (b *builder) entry(method, path string, o operation) (entry, error) {
	e := entry{ID: o.ID, Method: method, Path: path, Summary: o.Summary, About: blocks(o.Description)}
	c := newCommand(method, b.base+path, len(o.Security) > 0 && len(o.Security[0]) > 0)
	for _, part := range o.Parameters {
		var p parameter
		if err := b.read(part, &p); err != nil {
			return e, err
		}
		f, err := b.field(p.Name, p.Schema)
		if err != nil {
			return e, err
		}
		f.Where, f.Required, f.About = p.In, p.Required, spans(p.Description)
		e.Parameters = append(e.Parameters, f)
		if len(p.Example) > 0 {
			c.parameter(p.In, p.Name, plain(p.Example))
		}
	}
	if len(o.RequestBody) == 0 {
		e.Calls = []call{{"Call", c.text()}}
	} else if err := b.body(&e, c, o.RequestBody); err != nil {
		return e, err
	}
	return e, b.answers(&e, o.Responses)
}

// body adds what an operation takes in its body. The fields are those of the form, where there is one; JSON has the same.
func (b *builder) body(e *entry, c command, part json.RawMessage) error {
	var sent requestBody
	if err := b.read(part, &sent); err != nil {
		return err
	}
	e.BodyAbout = spans(sent.Description)
	for _, kind := range sent.Content {
		if err := b.bodyFields(e, kind.Value.Schema); err != nil {
			return err
		}
		switch kind.Name {
		case formType:
			var example ordered[json.RawMessage]
			if err := json.Unmarshal(kind.Value.Example, &example); err != nil {
				return err
			}
			e.Calls = append(e.Calls, call{"Call", c.withForm(example).text()})
		case jsonType:
			e.Calls = append(e.Calls, call{"Call with JSON", c.withJSON(kind.Value.Example).text()})
		case lineType:
			e.Calls = append(e.Calls, call{"Call", c.withFile("events.ndjson").text()})
		}
	}
	return nil
}

// bodyFields adds the fields of a body, or of each body in a list, if there are none yet. Of several formats it shows the first
// here.
func (b *builder) bodyFields(e *entry, part json.RawMessage) error {
	var formats struct {
		AnyOf []json.RawMessage `json:"anyOf"`
	}
	if err := json.Unmarshal(part, &formats); err != nil {
		return err
	}
	if len(formats.AnyOf) > 0 {
		return b.bodyFields(e, formats.AnyOf[0])
	}
	var s schema
	if err := b.read(part, &s); err != nil {
		return err
	}
	if len(s.Items) > 0 {
		e.Many = true
		return b.bodyFields(e, s.Items)
	}
	b.bodies[recordName(part)] = true
	if e.Fields != nil {
		return nil
	}
	if len(s.Required) > 0 {
		e.Needed = append(e.Needed, s.Required)
	}
	for _, choice := range s.AnyOf {
		e.Needed = append(e.Needed, choice.Required)
	}
	var err error
	e.Fields, err = b.fields(s)
	return err
}

// answers adds what an operation answers.
func (b *builder) answers(e *entry, responses ordered[json.RawMessage]) error {
	for _, part := range responses {
		var r response
		if err := b.read(part.Value, &r); err != nil {
			return err
		}
		a := answer{Status: part.Name, About: spans(r.Description)}
		for _, h := range r.Headers {
			a.Headers = append(a.Headers, h.Name)
			if b.shown.find(h.Name) == nil {
				var described header
				if err := b.read(h.Value, &described); err != nil {
					return err
				}
				b.shown = append(b.shown, member[header]{h.Name, described})
			}
		}
		for _, kind := range r.Content {
			a.Record = recordName(kind.Value.Schema)
			a.Example = indented(kind.Value.Example, "")
			var body problem
			if json.Unmarshal(kind.Value.Example, &body) == nil { // else the example is no object
				a.Message, a.Fields = body.Message, body.fields()
			}
		}
		if part.Name < "400" {
			e.Answers = append(e.Answers, a)
		} else {
			e.Errors = append(e.Errors, a)
		}
	}
	return nil
}

// fields are the properties of a schema.
func (b *builder) fields(s schema) (table, error) {
	var out table
	for _, property := range s.Properties {
		f, err := b.field(property.Name, property.Value)
		if err != nil {
			return nil, err
		}
		f.Required = slices.Contains(s.Required, property.Name)
		out = append(out, f)
	}
	return out, nil
}

// field is one value with its schema.
func (b *builder) field(name string, part json.RawMessage) (field, error) {
	var s schema
	if err := b.read(part, &s); err != nil {
		return field{}, err
	}
	f := field{Name: name, Kind: s.kind(), Records: recordNames(part), Allowed: s.allowed(), About: spans(s.Description)}
	switch {
	case len(f.Records) > 0:
		f.Kind = ""
	case len(s.Items) > 0:
		of, err := b.field("", s.Items)
		if err != nil {
			return f, err
		}
		f.Kind, f.Records, f.Allowed = strings.TrimSpace("list of "+of.Kind), of.Records, of.Allowed
	}
	if len(s.Default) > 0 {
		f.Default = inWords(s.Default)
	}
	return f, nil
}

// records are the schemas of answers.
func (b *builder) records(doc document) ([]record, error) {
	var out []record
	for _, part := range *doc.Components.find("schemas") {
		if b.bodies[part.Name] {
			continue
		}
		var s schema
		if err := b.read(part.Value, &s); err != nil {
			return nil, err
		}
		fields, err := b.fields(s)
		if err != nil {
			return nil, err
		}
		out = append(out, record{part.Name, blocks(s.Description), fields})
	}
	return out, nil
}

// headers are the headers of the answers so far.
func (b *builder) headers() []field {
	var out []field
	for _, h := range b.shown {
		out = append(out, field{Name: h.Name, About: spans(h.Value.Description)})
	}
	return out
}

// indented lays JSON out on several lines, which start with a prefix; text stays as it is.
func indented(example json.RawMessage, prefix string) string {
	if len(example) > 0 && example[0] == '"' {
		return plain(example)
	}
	var out bytes.Buffer
	if json.Indent(&out, example, prefix, "  ") != nil {
		return string(example)
	}
	return out.String()
}
