package apidoc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What the page shows of an OpenAPI document. Parts that may be written as a $ref are read when they are needed.
type (
	operation struct {
		ID          string                   `json:"operationId"`
		Tags        []string                 `json:"tags"`
		Summary     string                   `json:"summary"`
		Description string                   `json:"description"`
		Security    []map[string][]string    `json:"security"`
		Parameters  []json.RawMessage        `json:"parameters"`
		RequestBody json.RawMessage          `json:"requestBody"`
		Responses   ordered[json.RawMessage] `json:"responses"`
	}
	parameter struct {
		Name        string          `json:"name"`
		In          string          `json:"in"`
		Required    bool            `json:"required"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Example     json.RawMessage `json:"example"`
	}
	requestBody struct {
		Description string           `json:"description"`
		Content     ordered[content] `json:"content"`
	}
	response struct {
		Description string                   `json:"description"`
		Headers     ordered[json.RawMessage] `json:"headers"`
		Content     ordered[content]         `json:"content"`
	}
	header struct {
		Description string `json:"description"`
	}
	content struct {
		Schema  json.RawMessage `json:"schema"`
		Example json.RawMessage `json:"example"`
	}
	problem struct {
		Message string            `json:"message"`
		Errors  ordered[[]string] `json:"errors"`
	}
	reference struct {
		Ref string `json:"$ref"`
	}
)

// A schema says what a value looks like.
type schema struct {
	Description string                   `json:"description"`
	Type        types                    `json:"type"`
	Format      string                   `json:"format"`
	Enum        []json.RawMessage        `json:"enum"`
	Const       json.RawMessage          `json:"const"`
	Default     json.RawMessage          `json:"default"`
	Minimum     *int                     `json:"minimum"`
	Maximum     *int                     `json:"maximum"`
	MinLength   *int                     `json:"minLength"`
	MaxLength   *int                     `json:"maxLength"`
	Items       json.RawMessage          `json:"items"`
	Properties  ordered[json.RawMessage] `json:"properties"`
	Required    []string                 `json:"required"`
	AnyOf       []schema                 `json:"anyOf"`
}

// types are the types that a value may have: one, or a list.
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*t = types{""}
		return json.Unmarshal(data, &(*t)[0])
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// fields says what an error says of each field.
func (p problem) fields() string {
	var out []string
	for _, f := range p.Errors {
		out = append(out, f.Name+": "+strings.Join(f.Value, ", "))
	}
	return strings.Join(out, "; ")
}

// A reader reads parts of a document and follows their references.
type reader struct {
	components ordered[ordered[json.RawMessage]]
}

// read reads a part. What stands beside a $ref counts more than what it leads to.
func (r reader) read(part json.RawMessage, into any) error {
	var ref reference
	if err := json.Unmarshal(part, &ref); err != nil {
		return err
	}
	if ref.Ref != "" {
		target, err := r.at(ref.Ref)
		if err != nil {
			return err
		}
		if err := r.read(target, into); err != nil {
			return err
		}
	}
	return json.Unmarshal(part, into)
}

// at is the part that a reference leads to, such as #/components/schemas/Website/properties/url.
func (r reader) at(ref string) (json.RawMessage, error) {
	nowhere := fmt.Errorf("%s leads nowhere", ref)
	names := strings.Split(ref, "/")
	if len(names) < 4 || names[0] != "#" || names[1] != "components" {
		return nil, nowhere
	}
	section := r.components.find(names[2])
	if section == nil {
		return nil, nowhere
	}
	part := section.find(names[3])
	for _, name := range names[4:] {
		if part == nil {
			return nil, nowhere
		}
		var object ordered[json.RawMessage]
		if err := json.Unmarshal(*part, &object); err != nil {
			return nil, err
		}
		part = object.find(name)
	}
	if part == nil {
		return nil, nowhere
	}
	return *part, nil
}

// recordName is the name of the schema that a $ref leads to; empty for any other part.
func recordName(part json.RawMessage) string {
	var ref reference
	if json.Unmarshal(part, &ref) != nil {
		return ""
	}
	name, _ := strings.CutPrefix(ref.Ref, "#/components/schemas/")
	if name == ref.Ref || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// recordNames are the names of the schemas of one of which a part is.
func recordNames(part json.RawMessage) []string {
	var choice struct {
		OneOf []json.RawMessage `json:"oneOf"`
	}
	if name := recordName(part); name != "" {
		return []string{name}
	}
	if json.Unmarshal(part, &choice) != nil {
		return nil
	}
	var names []string
	for _, one := range choice.OneOf {
		names = append(names, recordNames(one)...)
	}
	return names
}

// kind says in words what type a value has.
func (s schema) kind() string {
	if len(s.Const) > 0 {
		return kindOf(s.Const)
	}
	var words []string
	for _, t := range s.Type {
		switch {
		case t == "string" && s.allowsEmpty() && len(s.Type) > 1: // only the empty text: see allowed
		case t == "number" && slices.Contains(s.Type, "string"): // the same as its digits
		case t == "string" && s.Format == "date-time":
			words = append(words, "time")
		default:
			words = append(words, t)
		}
	}
	return strings.Join(words, " or ")
}

func kindOf(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	default:
		return "integer"
	}
}

func (s schema) allowsEmpty() bool {
	for _, value := range s.Enum {
		if string(value) == `""` {
			return true
		}
	}
	return false
}

// allowed says in words which values of its type a schema takes; empty when it takes all.
func (s schema) allowed() string {
	switch {
	case len(s.Const) > 0:
		return inWords(s.Const)
	case len(s.Enum) > 0:
		var values []string
		for _, value := range s.Enum {
			if word := inWords(value); !slices.Contains(values, word) { // 1 and "1" are one
				values = append(values, word)
			}
		}
		return strings.Join(values, ", ")
	case s.MaxLength != nil && s.MinLength != nil:
		return grouped(*s.MinLength) + " to " + grouped(*s.MaxLength) + " characters"
	case s.MaxLength != nil:
		return "up to " + grouped(*s.MaxLength) + " characters"
	case s.Minimum != nil && s.Maximum != nil:
		return grouped(*s.Minimum) + " to " + grouped(*s.Maximum)
	case s.Minimum != nil:
		return grouped(*s.Minimum) + " or more"
	default:
		return ""
	}
}

// plain is a value without the quotes of JSON.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil || string(value) == "null" {
		return string(value)
	}
	return text
}

// inWords is a value as people speak of it.
func inWords(value json.RawMessage) string {
	if text := plain(value); text != "" {
		return text
	}
	return "empty"
}

// grouped writes a number with a comma before each group of three digits.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
