package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Error is a refusal by the server.
type Error struct {
	Status     int                 // the HTTP status
	Message    string              // one sentence that a person can act on
	RequestID  string              // names the request in the server's log
	Fields     map[string][]string // what is wrong with which field, when Status is 422
	RetryAfter time.Duration       // how long the server asks to wait; 0: it does not say
}

// mostNamed is how many bad fields Error names.
const mostNamed = 5

// Error says all of it in one line: what is wrong with the fields or, when none is named, the server's message.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	names := e.FieldNames()
	var parts []string
	for _, name := range names[:min(len(names), mostNamed)] {
		parts = append(parts, name+" "+strings.Join(e.Fields[name], ", "))
	}
	if more := len(names) - mostNamed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// FieldNames lists the bad fields in order; those of a bulk change ("17.privacy") by their entries.
func (e *Error) FieldNames() []string {
	return slices.SortedFunc(maps.Keys(e.Fields), func(a, b string) int {
		first, fieldOfFirst := EntryField(a)
		second, fieldOfSecond := EntryField(b)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(fieldOfFirst, fieldOfSecond))
	})
}

// EntryField splits the name of a field in a bulk change: 17 and privacy for "17.privacy". Any other name is that of entry -1.
func EntryField(name string) (entry int, field string) {
	number, field, found := strings.Cut(name, ".")
	if entry, err := strconv.Atoi(number); found && err == nil && entry >= 0 {
		return entry, field
	}
	return -1, name
}

// newError reads a refusal. One that did not come from Sightline, but from a proxy before it, says only its status.
func newError(response *http.Response, body []byte) *Error {
	e := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id"), RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now())}
	var problem struct {
		Message string              `json:"message"`
		Errors  map[string][]string `json:"errors"`
	}
	if json.Unmarshal(body, &problem) == nil && problem.Message != "" {
		e.Message, e.Fields = problem.Message, problem.Errors
		return e
	}
	e.Message = fmt.Sprintf("The server answered %d %s.", e.Status, http.StatusText(e.Status))
	if target := response.Header.Get("Location"); e.Status < 400 && target != "" {
		e.Message = "The server redirects to " + target + ": use that address."
	}
	return e
}

// A ConnectionError says that no answer of a Sightline server came, or none that was complete. A write may have been done.
type ConnectionError struct {
	Base string // address of the area
	Err  error
}

// Error implements error.
func (e *ConnectionError) Error() string { return "cannot reach " + e.Base + ": " + e.Err.Error() }

// Unwrap is the cause, such as context.Canceled.
func (e *ConnectionError) Unwrap() error { return e.Err }
