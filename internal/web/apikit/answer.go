package apikit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sightline/internal/account"
	"sightline/internal/fault"
)

// Write answers with a JSON document.
func Write(w http.ResponseWriter, status int, document any) error {
	content, err := encode(document)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(content)))
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	w.Write(content) // fails when the caller has gone: nobody is left to tell
	return nil
}

// encode writes a document as JSON, with < and > as they are: nobody takes it for HTML.
func encode(document any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return buffer.Bytes(), nil
}

// A Deleted is the answer to a deletion.
type Deleted struct {
	ID      int64  `json:"id"`
	Project string `json:"project,omitempty"` // the name, when it was a project
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
	Status  int    `json:"status"`
}

// Time is how an answer writes a time; nil for the zero time.
func Time(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// Flag is how an answer writes a switch: 1 when it is on.
func Flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

// A refusal is an error with the status that it is answered with.
type refusal struct {
	status int
	text   string
	header map[string]string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, text string) error {
	return &refusal{status: status, text: text}
}

const realm = `Bearer realm="sightline"`

var (
	errUnknownPath   = refuse(http.StatusNotFound, "There is nothing at this address. The API is described at /docs.")
	errNotAcceptable = refuse(http.StatusNotAcceptable, "This operation answers with JSON: send Accept: application/json.")
	errNoKey         = &refusal{http.StatusUnauthorized, "Send your API key in the header Authorization: Bearer <API_KEY>.",
		map[string]string{"WWW-Authenticate": realm}}
	errBadKey = &refusal{http.StatusUnauthorized, "The API key is not valid.",
		map[string]string{"WWW-Authenticate": realm + `, error="invalid_token"`}}
)

// ErrDraining answers requests that arrive while the server stops.
var ErrDraining = &refusal{http.StatusServiceUnavailable, "The server is restarting. Try again in a moment.",
	map[string]string{"Retry-After": "2", "Connection": "close"}}

// Unavailable refuses what this server cannot do for anybody, in a sentence that says why. Trying again soon does not help.
func Unavailable(text string) error {
	return &refusal{http.StatusServiceUnavailable, text, map[string]string{"Retry-After": "3600"}}
}

// Forbidden refuses what this caller may not do, in a sentence that says why.
func Forbidden(text string) error {
	return refuse(http.StatusForbidden, text)
}

// A CutOff is a failure amid an answer of which the caller has the beginning.
type CutOff struct{ Err error }

// Error implements error.
func (e *CutOff) Error() string { return "the answer was cut off: " + e.Err.Error() }

// Unwrap is the cause.
func (e *CutOff) Unwrap() error { return e.Err }

func errMethod(allowed []string) error {
	return refuse(http.StatusMethodNotAllowed, "This address allows "+strings.Join(allowed, ", ")+".")
}

func errScope(scopes account.Scopes) error {
	return refuse(http.StatusForbidden, "This API key lacks the scope "+strings.ReplaceAll(scopes.String(), ",", " or ")+".")
}

func errTooLarge(limit int64) error {
	return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("The body must be at most %d KiB.", limit>>10))
}

// A problem is the body of every error.
type problem struct {
	Message   string        `json:"message"`
	Status    int           `json:"status"`
	RequestID string        `json:"request_id"`
	Errors    fault.Invalid `json:"errors,omitempty"`
}

// busy is the body of the answer that there is too much to do, up to the request id.
const busy = `{"message":"` + textUnavailable + `","status":503,"request_id":"`

const textUnavailable = "The server cannot answer right now. Try again in a moment."

// Headers of that answer. They are shared: nobody may change them.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	noStore  = []string{"no-store"}
	soon     = []string{"2"}
)

// failBusy answers that there is too much to do as Fail would, with the least work: there is no time for more.
func failBusy(w http.ResponseWriter, id string) {
	body := make([]byte, 0, 256)
	body = append(body, busy...)
	for _, c := range []byte(id) { // printable
		if c == '"' || c == '\\' {
			body = append(body, '\\')
		}
		body = append(body, c)
	}
	body = append(body, "\"}\n"...)
	header := w.Header()
	header["Content-Type"], header["Cache-Control"], header["Retry-After"] = jsonType, noStore, soon
	w.WriteHeader(http.StatusServiceUnavailable)
	w.Write(body) // fails when the caller has gone: nobody is left to tell
}

// Fail answers an error. The text of an unforeseen one goes to the log and never to the caller.
func Fail(w http.ResponseWriter, r *http.Request, err error, log *slog.Logger) {
	call := CallOf(r)
	if errors.Is(err, fault.Busy) {
		failBusy(w, call.RequestID)
		return
	}
	p := problem{RequestID: call.RequestID}
	if cut := new(CutOff); errors.As(err, &cut) {
		if r.Context().Err() == nil { // else the caller has gone
			log.Error("an answer was cut off", "error", cut.Err, "request_id", call.RequestID)
		}
		panic(http.ErrAbortHandler) // closes the connection: the caller sees that the end is missing
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		p.Status, p.Message = refused.status, refused.text
		for name, value := range refused.header {
			w.Header().Set(name, value)
		}
	case errors.As(err, &p.Errors):
		p.Status, p.Message = http.StatusUnprocessableEntity, "Some fields are not valid: "+strings.Join(p.Errors.Fields(), ", ")+"."
	case errors.Is(err, fault.NotFound):
		p.Status, p.Message = http.StatusNotFound, "There is no such record."
	case errors.Is(err, fault.Full):
		p.Status, p.Message = http.StatusInsufficientStorage, "The server's disk is full: nothing was written."
		log.Error("the disk is full", "error", err, "request_id", call.RequestID)
	case errors.Is(err, fault.Unsynced):
		p.Status, p.Message = http.StatusServiceUnavailable, "The server's disk failed to keep a write: nothing more is written until the server is restarted."
		w.Header().Set("Retry-After", "60")
		log.Error("the disk failed to keep a write: check it, then restart", "error", err, "request_id", call.RequestID)
	case errors.Is(err, fault.Unavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		p.Status, p.Message = http.StatusServiceUnavailable, textUnavailable
		w.Header().Set("Retry-After", "2")
		if r.Context().Err() != context.Canceled { // else the caller has gone
			log.Error("not available right now", "error", err, "request_id", call.RequestID)
		}
	default:
		p.Status, p.Message = http.StatusInternalServerError, "Something went wrong here. The log tells more under this request id."
		log.Error("unforeseen failure", "error", err, "request_id", call.RequestID)
	}
	if err := Write(w, p.Status, p); err != nil {
		log.Error("unforeseen failure", "error", err, "request_id", call.RequestID)
	}
}
