package beacon

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A payload is a report: the fields of a JSON object, in their order and not read yet.
type payload []field

// A field is the name and the value of one.
type field struct {
	name  []byte
	value json.RawMessage
}

// parsePayload reads a JSON object. Text in it that is not valid UTF-8 is repaired.
func parsePayload(content []byte) (payload, error) {
	content = bytes.Trim(content, space)
	if len(content) == 0 || content[0] != '{' || !json.Valid(content) {
		return nil, malformed("The body must be one JSON object.")
	}
	p := make(payload, 0, len(ownFields))
	for rest := skipSpace(content[1:]); rest[0] != '}'; { // what is valid has an end
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
		end := valueEnd(rest)
		name := fieldName(rest[:end])
		rest = skipSpace(skipSpace(rest[end:])[1:]) // the colon
		end = valueEnd(rest)
		p = append(p, field{name, rest[:end:end]})
		rest = skipSpace(rest[end:])
	}
	return p, nil
}

// space is what may stand between the parts of JSON.
const space = " \t\r\n"

func skipSpace(text []byte) []byte {
	for text[0] == ' ' || text[0] == '\t' || text[0] == '\r' || text[0] == '\n' {
		text = text[1:]
	}
	return text
}

// fieldName is the name that is quoted.
func fieldName(quoted []byte) []byte {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) { // as nearly all are
		return name
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return name // cannot be: it is valid
	}
	return []byte(text)
}

// valueEnd is where the value ends that a text of valid JSON begins with.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			for depth == 0 && bytes.IndexByte([]byte(",}] \t\r\n"), text[i+1]) < 0 { // a number or a word
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}

// stringEnd is where the string ends that a text begins with.
func stringEnd(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// find is the value of a field, nil when it was not sent or is null. Of several with the same name the last one counts.
func (p payload) find(name string) json.RawMessage {
	for i := len(p) - 1; i >= 0; i-- {
		if string(p[i].name) == name {
			if string(p[i].value) == "null" {
				return nil
			}
			return p[i].value
		}
	}
	return nil
}

// has says whether a field was sent with a value.
func (p payload) has(name string) bool { return p.find(name) != nil }

// first is the first of some fields that was sent with a value; nil when none was.
func (p payload) first(names ...string) json.RawMessage {
	for _, name := range names {
		if value := p.find(name); value != nil {
			return value
		}
	}
	return nil
}
