package apikit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"sightline/internal/fault"
)

// MaxBody is the largest body of a request, in bytes.
const MaxBody = 64 << 10

// A pair is one field as it was sent.
type pair struct {
	name, text string
	null       bool // JSON null
	odd        bool // JSON that is neither text, number nor null
}

// Fields are the fields of a request that its operation knows.
type Fields struct {
	sent map[string]pair
	// Bad says which fields are bad so far. The methods add to it.
	Bad fault.Invalid
}

// newFields keeps the known fields and adds the names of the others to those that are ignored.
func newFields(pairs []pair, known, ignored []string) (Fields, []string) {
	fields := Fields{sent: map[string]pair{}, Bad: fault.Invalid{}}
	for _, p := range pairs {
		switch _, twice := fields.sent[p.name]; {
		case !slices.Contains(known, p.name):
			if len(ignored) < maxIgnored && isPlain(p.name) && !slices.Contains(ignored, p.name) {
				ignored = append(ignored, p.name)
			}
		case twice:
			fields.Bad[p.name] = []string{"must be sent once"}
		case p.odd:
			fields.Bad[p.name] = []string{"must be text or a number"}
			fields.sent[p.name] = pair{null: true}
		default:
			fields.sent[p.name] = p
		}
	}
	return fields, ignored
}

// Has says whether a field was sent, with whatever value.
func (f Fields) Has(name string) bool {
	_, sent := f.sent[name]
	return sent
}

// Null says whether a field was sent as JSON null.
func (f Fields) Null(name string) bool {
	return f.sent[name].null
}

// Text is the value of a one-line field, not trimmed; empty when it was not sent. Control characters are refused.
func (f Fields) Text(name string) string {
	return f.text(name, unicode.IsControl)
}

// Lines is the value of a field that may have line breaks.
func (f Fields) Lines(name string) string {
	return f.text(name, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' })
}

func (f Fields) text(name string, refused func(rune) bool) string {
	text := f.sent[name].text
	if strings.ContainsFunc(text, refused) {
		f.Bad[name] = []string{"must not contain control characters"}
	}
	return text
}

// Choice is the value of a field that allows few values. An empty value counts as not sent; any other is refused in
// these words.
func (f Fields) Choice(name string, allowed []string, words string) (value string, sent bool) {
	text := f.sent[name].text
	if text == "" {
		return "", false
	}
	if !slices.Contains(allowed, text) {
		f.Bad[name] = []string{words}
		return "", false
	}
	return text, true
}

// Merge adds what an error says to the bad fields of a body, and returns all of them.
func (f Fields) Merge(err error) error {
	if err := f.Bad.Merge(err); err != nil {
		return err
	}
	return f.Bad.OrNil()
}

// readBody reads the fields of a body: form-encoded or JSON.
func readBody(w http.ResponseWriter, r *http.Request) ([]pair, error) {
	if r.ContentLength > MaxBody {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "The body could not be read in full.")
	}
	if len(body) == 0 {
		return nil, nil
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, refuse(http.StatusUnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	var pairs []pair
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/x-www-form-urlencoded":
		if body[0] == '{' {
			return nil, refuse(http.StatusBadRequest, "The body looks like JSON: send Content-Type: application/json with it.")
		}
		pairs, err = decodeForm(string(body))
	case "application/json":
		pairs, err = decodeJSON(body)
	default:
		return nil, refuse(http.StatusUnsupportedMediaType, "Send the body as application/x-www-form-urlencoded or application/json.")
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "The body is malformed: "+err.Error()+".")
	}
	return pairs, nil
}

var errUTF8 = errors.New("it is not valid UTF-8")

// decodeForm reads form-encoded fields, of a body or a query. Unlike url.ParseQuery it keeps their order and takes a
// semicolon for what it is in a form: an ordinary character.
func decodeForm(text string) ([]pair, error) {
	var pairs []pair
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, errors.New("a % must be followed by two hexadecimal digits")
		}
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, errUTF8
		}
		pairs = append(pairs, pair{name: name, text: value})
	}
	return pairs, nil
}

var errJSON = errors.New("it must be one JSON object")

// decodeJSON reads the fields of a JSON object. Unlike json.Unmarshal it shows a field that was sent twice and takes
// names as they are; a number stands for its text.
func decodeJSON(body []byte) ([]pair, error) {
	if !utf8.Valid(body) {
		return nil, errUTF8
	}
	if hasHalfPair(body) {
		return nil, errors.New("it has half of a surrogate pair")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errJSON
	}
	var pairs []pair
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, errJSON
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, errJSON
		}
		p := pair{name: name.(string)}
		switch first := raw[0]; {
		case first == 'n':
			p.null = true
		case first == '"':
			if err := json.Unmarshal(raw, &p.text); err != nil {
				return nil, errJSON
			}
		case first == '-' || first >= '0' && first <= '9':
			p.text = string(raw)
		default:
			p.odd = true
		}
		pairs = append(pairs, p)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errJSON
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errJSON
	}
	return pairs, nil
}

// hasHalfPair says whether JSON has the escape of one half of a surrogate pair without that of the other, which
// encoding/json would replace silently.
func hasHalfPair(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		unit, isUnit := escapedUnit(body[i:])
		switch {
		case !isUnit:
			i++ // the escaped character
		case !utf16.IsSurrogate(unit):
			i += 5
		default:
			second, isUnit := escapedUnit(body[i+6:])
			if !isUnit || utf16.DecodeRune(unit, second) == unicode.ReplacementChar {
				return true
			}
			i += 11
		}
	}
	return false
}

// escapedUnit reads an escape such as \u00fc at the start of text.
func escapedUnit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}
