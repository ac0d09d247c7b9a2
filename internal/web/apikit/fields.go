package apikit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
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

// The largest bodies of a request, in bytes: of one record and of many.
const (
	MaxBody     = 64 << 10
	MaxManyBody = 1 << 20
)

// A pair is one field as it was sent.
type pair struct {
	name, text string
	more       []string // the further values of one that was sent several times
	null       bool     // JSON null
	odd        bool     // JSON that is neither text, number nor null
	list       []string // a JSON array of texts
}

// Fields are the fields of a request that its operation knows.
type Fields struct {
	sent map[string]pair
	// Bad says which fields are bad so far. The methods add to it.
	Bad fault.Invalid
}

// newFields keeps the known fields and adds the names of the others to those that are ignored.
func newFields(pairs []pair, known, repeat, ignored []string) (Fields, []string) {
	fields := Fields{sent: map[string]pair{}, Bad: fault.Invalid{}}
	for _, p := range pairs {
		switch first, twice := fields.sent[p.name]; {
		case !slices.Contains(known, p.name):
			if len(ignored) < maxIgnored && isPlain(p.name) && !slices.Contains(ignored, p.name) {
				ignored = append(ignored, p.name)
			}
		case twice && slices.Contains(repeat, p.name):
			first.more = append(first.more, p.text)
			fields.sent[p.name] = first
		case twice:
			fields.Bad[p.name] = []string{"must be sent once"}
		case p.odd && p.list == nil:
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

// Texts are the values of a one-line field that may be sent several times.
func (f Fields) Texts(name string) []string {
	if !f.Has(name) {
		return nil
	}
	texts := append([]string{f.Text(name)}, f.sent[name].more...)
	if slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }) {
		f.Bad[name] = []string{"must not contain control characters"}
	}
	return texts
}

// Number is the value of a field that is an integer; an empty value counts as not sent. One that is not allowed is refused in
// these words.
func (f Fields) Number(name string, otherwise int, words string, allowed func(int) bool) int {
	text := f.sent[name].text
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || !allowed(n) {
		f.Bad[name] = []string{words}
		return otherwise
	}
	return n
}

// Lines is the value of a field that may have line breaks.
func (f Fields) Lines(name string) string {
	return f.text(name, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' })
}

func (f Fields) text(name string, refused func(rune) bool) string {
	text := f.one(name)
	if strings.ContainsFunc(text, refused) {
		f.Bad[name] = []string{"must not contain control characters"}
	}
	return text
}

// List is the value of a field that is a list: a JSON array of texts, or texts separated by commas or spaces. Empty text
// counts as not sent.
func (f Fields) List(name string) (list []string, sent bool) {
	if list := f.sent[name].list; list != nil {
		return list, true
	}
	text := f.Text(name)
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), text != ""
}

// one is the value of a field that is no list.
func (f Fields) one(name string) string {
	if f.sent[name].list != nil {
		f.Bad[name] = []string{"must be text or a number"}
	}
	return f.sent[name].text
}

// Choice is the value of a field that allows few values. An empty value counts as not sent; any other is refused in
// these words.
func (f Fields) Choice(name string, allowed []string, words string) (value string, sent bool) {
	text := f.one(name)
	if text == "" {
		return "", false
	}
	if !slices.Contains(allowed, text) {
		f.Bad[name] = []string{words}
		return "", false
	}
	return text, true
}

// Within is the value of a field that is an integer between two others. An empty value counts as not sent.
func (f Fields) Within(name string, least, most int) (n int, sent bool) {
	text := f.one(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < least || n > most {
		f.Bad[name] = []string{fmt.Sprintf("must be an integer from %d to %d", least, most)}
	}
	return n, true
}

// Merge adds what an error says to the bad fields of a body, and returns all of them.
func (f Fields) Merge(err error) error {
	if err := f.Bad.Merge(err); err != nil {
		return err
	}
	return f.Bad.OrNil()
}

// readBody reads the fields of a body: form-encoded or JSON; many of them from JSON only.
func (c *Call) readBody(w http.ResponseWriter, r *http.Request, route Route, ignored []string) ([]string, error) {
	limit := int64(MaxBody)
	if route.Many {
		limit = MaxManyBody
	}
	content, err := readAll(w, r, limit)
	if err != nil {
		return ignored, err
	}
	c.request = sha256.Sum256(content)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	var bodies [][]pair
	switch {
	case len(content) == 0 && !route.Many:
		bodies = [][]pair{nil}
	case kind == "application/json" && route.Many:
		bodies, err = decodeArray(content)
	case kind == "application/json":
		var body []pair
		body, err = decodeJSON(content)
		bodies = [][]pair{body}
	case route.Many:
		return ignored, refuse(http.StatusUnsupportedMediaType, "Send the body as application/json: an array of objects.")
	case kind == "application/x-www-form-urlencoded" && content[0] == '{':
		return ignored, refuse(http.StatusBadRequest, "The body looks like JSON: send Content-Type: application/json with it.")
	case kind == "application/x-www-form-urlencoded":
		var body []pair
		body, err = decodeForm(string(content))
		bodies = [][]pair{body}
	default:
		return ignored, refuse(http.StatusUnsupportedMediaType, "Send the body as application/x-www-form-urlencoded or application/json.")
	}
	if err != nil {
		return ignored, refuse(http.StatusBadRequest, "The body is malformed: "+err.Error()+".")
	}
	for _, body := range bodies {
		var fields Fields
		fields, ignored = newFields(body, route.Body, nil, ignored)
		c.Many = append(c.Many, fields)
	}
	if !route.Many {
		c.Body = c.Many[0]
	}
	return ignored, nil
}

// readAll reads a body of at most limit bytes.
func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, errTooLarge(limit)
	}
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, errTooLarge(limit)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "The body could not be read in full.")
	}
	if encoding := r.Header.Get("Content-Encoding"); len(content) > 0 && encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, refuse(http.StatusUnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	return content, nil
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

var (
	errJSON  = errors.New("it must be one JSON object")
	errArray = errors.New("it must be one JSON array of objects")
	errHalf  = errors.New("it has half of a surrogate pair")
)

// decodeJSON reads the fields of a JSON object. Unlike json.Unmarshal it shows a field that was sent twice and takes
// names as they are; a number stands for its text.
func decodeJSON(body []byte) ([]pair, error) {
	if err := CheckJSON(body); err != nil {
		return nil, err
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
		p, err := newPair(name.(string), raw)
		if err != nil {
			return nil, err
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

// CheckJSON refuses text in which encoding/json would replace characters silently.
func CheckJSON(text []byte) error {
	switch {
	case !utf8.Valid(text):
		return errUTF8
	case hasHalfPair(text):
		return errHalf
	}
	return nil
}

// newPair reads the value of a field.
func newPair(name string, raw json.RawMessage) (pair, error) {
	p := pair{name: name}
	switch first := raw[0]; {
	case first == 'n':
		p.null = true
	case first == '"':
		if json.Unmarshal(raw, &p.text) != nil {
			return p, errJSON
		}
	case first == '-' || first >= '0' && first <= '9':
		p.text = string(raw)
	default:
		p.odd = true
		if json.Unmarshal(raw, &p.list) != nil || first != '[' {
			p.list = nil
		}
	}
	return p, nil
}

// decodeArray reads the fields of every object in a JSON array.
func decodeArray(body []byte) ([][]pair, error) {
	if !utf8.Valid(body) {
		return nil, errUTF8
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(body, &objects); err != nil || objects == nil {
		return nil, errArray
	}
	bodies := make([][]pair, len(objects))
	for i, object := range objects {
		var err error
		if bodies[i], err = decodeJSON(object); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return bodies, nil
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
