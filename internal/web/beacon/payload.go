package beacon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/internal/fault"
	"sightline/internal/web/apikit"
)

// Limits of a report.
const (
	maxBody   = 16 << 10 // bytes
	maxName   = 120      // characters of an event's name
	maxProps  = 30       // properties of an event
	maxKey    = 300      // bytes of a property's name
	maxText   = 2000     // bytes of a property's value
	maxInView = 24 * time.Hour
)

// A refusal is a report that cannot be taken.
type refusal struct {
	status int
	text   string
	fields fault.Invalid
}

func (e *refusal) Error() string { return e.text }

// refuse answers a report that cannot be taken. It returns errors of another kind.
func refuse(w http.ResponseWriter, r *http.Request, err error) error {
	answer := struct {
		Message   string        `json:"message"`
		Status    int           `json:"status"`
		RequestID string        `json:"request_id"`
		Errors    fault.Invalid `json:"errors,omitempty"`
	}{RequestID: apikit.CallOf(r).RequestID}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		answer.Status, answer.Message, answer.Errors = refused.status, refused.text, refused.fields
		if refused.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sightline", error="invalid_token"`)
		}
	case errors.As(err, &answer.Errors):
		answer.Status = http.StatusBadRequest
		answer.Message = "Some fields are not valid: " + strings.Join(answer.Errors.Fields(), ", ") + "."
	default:
		return err
	}
	return apikit.Write(w, answer.Status, answer)
}

var errTooLarge = &refusal{status: http.StatusRequestEntityTooLarge, text: fmt.Sprintf("The body must be at most %d KiB.", maxBody>>10)}

// readPayload reads the body of a request.
func readPayload(w http.ResponseWriter, r *http.Request) (payload, error) {
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	content, err := readBody(w, r)
	if limit := new(http.MaxBytesError); errors.As(err, &limit) {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, malformed("The body could not be read in full.")
	}
	return parsePayload(content)
}

// readBody reads a body, in one piece where its length is known.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	}
	content := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, content)
	return content, err
}

func malformed(text string) error {
	return &refusal{status: http.StatusBadRequest, text: text, fields: fault.Invalid{"request": {text}}}
}

// text reads text, or a number as its text.
func text(raw json.RawMessage) (value string, ok bool) {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return string(raw), true
	}
	if len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) { // as most are
		return string(raw[1 : len(raw)-1]), true
	}
	if raw == nil {
		return "", false
	}
	return unquote(raw)
}

// unquote reads text in JSON.
func unquote(raw json.RawMessage) (string, bool) {
	var value string
	err := json.Unmarshal(raw, &value)
	return value, err == nil
}

// number reads a number, or text that is one.
func number(raw json.RawMessage) (float64, bool) {
	if raw == nil {
		return 0, false
	}
	written, ok := text(raw)
	value, err := strconv.ParseFloat(strings.TrimSpace(written), 64)
	return value, ok && err == nil && !math.IsNaN(value) && !math.IsInf(value, 0)
}

// flag says whether a field was sent to say yes.
func flag(raw json.RawMessage) bool {
	return raw != nil && !slices.Contains([]string{"false", "0", `"0"`, `"false"`}, string(raw))
}

// inView reads how long a page was in view, in milliseconds. A clock that was set meanwhile cannot make it less than nothing.
func inView(raw json.RawMessage) (time.Duration, bool) {
	ms, ok := number(raw)
	return time.Duration(min(max(ms, 0), float64(maxInView.Milliseconds()))) * time.Millisecond, ok
}

// percent reads how far a page was read.
func percent(raw json.RawMessage) (int, bool) {
	value, ok := number(raw)
	return int(math.Round(min(max(value, 0), 100))), ok
}

var errProps = errors.New("must be an object of texts, numbers and booleans")

// properties reads what an event carries: an object, or one written as text. Values that say nothing are left out.
func properties(raw json.RawMessage) (map[string]string, error) {
	if raw == nil {
		return nil, nil
	}
	if written, ok := text(raw); ok {
		raw = json.RawMessage(cmp.Or(written, "{}"))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil, errProps
	}
	var props map[string]string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value, ok := text(object[key])
		if !ok && (string(object[key]) == "true" || string(object[key]) == "false") {
			value, ok = string(object[key]), true
		}
		if !ok || strings.TrimSpace(value) == "" || strings.TrimSpace(key) == "" {
			continue
		}
		if len(key) > maxKey || len(value) > maxText {
			return nil, fmt.Errorf("must have names of at most %d bytes and values of at most %d", maxKey, maxText)
		}
		if props == nil {
			props = map[string]string{}
		}
		props[key] = value
	}
	return props, nil
}
