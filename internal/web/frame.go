package web

import (
	"cmp"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"sightline/internal/account"
	"sightline/internal/web/apikit"
)

// A frame is what every request passes first, whatever its host and path: request id, log line, CORS.
type frame struct {
	next     http.Handler
	log      *slog.Logger
	meter    Meter // nil: nobody asks
	draining *atomic.Bool
}

// A Meter counts requests. It learns nothing of them that a caller could choose freely.
type Meter interface {
	// Began notes that a request is being served.
	Began()
	// Ended notes that one is served no more: by which area and route it was, the status of the answer (0: there was
	// none) and how long it took.
	Ended(area, method, route string, status int, took time.Duration)
}

// Headers of every answer. They are shared, so nobody may change them; to set one anew is fine.
var (
	noSniff   = []string{"nosniff"}
	anyOrigin = []string{"*"}
	exposed   = []string{"ETag, Location, Retry-After, X-Request-Id, X-Ignored-Fields, X-Same-Domain, Idempotency-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset"}
)

func (f *frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	r = apikit.Begin(r, requestID(r))
	call := apikit.CallOf(r)
	answer := &recorder{ResponseWriter: w}
	header := answer.Header()
	header["X-Request-Id"] = []string{call.RequestID}
	header["X-Content-Type-Options"] = noSniff
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = exposed
	if f.meter != nil {
		f.meter.Began()
		defer func() { f.measure(call, answer.status, time.Since(start)) }()
	}
	defer func() {
		cause := recover()
		if cause == http.ErrAbortHandler {
			defer panic(cause)
		} else if cause != nil {
			if err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack()); answer.status == 0 {
				apikit.Fail(answer, r, err, f.log)
			} else {
				f.log.Error("unforeseen failure amid an answer", "error", err, "request_id", call.RequestID)
			}
		}
		f.logRequest(r, answer, time.Since(start))
	}()
	if f.draining.Load() && r.URL.Path != "/healthz" {
		apikit.Fail(answer, r, apikit.ErrDraining, f.log)
		return
	}
	f.next.ServeHTTP(answer, r)
}

// measure tells the meter of a request. HEAD counts as GET; a method that a route does not have, as other.
func (f *frame) measure(call *apikit.Call, status int, took time.Duration) {
	method, route, known := strings.Cut(call.Route, " ")
	if !known {
		route = "unknown"
	}
	if !known || method == "?" {
		method = "other"
	}
	f.meter.Ended(cmp.Or(call.Area, "unknown"), method, route, status, took)
}

// logRequest writes one line. Of the request it shows only which route it was for: anything else may hold a secret.
func (f *frame) logRequest(r *http.Request, answer *recorder, took time.Duration) {
	call := apikit.CallOf(r)
	route := call.Route
	if route == "" {
		route = "unknown"
	}
	level := slog.LevelInfo
	switch {
	case call.Quiet && (answer.status < 400 || answer.status == http.StatusServiceUnavailable):
		level = slog.LevelDebug
	case answer.status >= 500 && r.Context().Err() == nil: // else the caller has gone
		level = slog.LevelError
	}
	if !f.log.Enabled(r.Context(), level) {
		return
	}
	f.log.Log(r.Context(), level, "request", "route", route, "status", answer.status, "ms", float64(took.Microseconds())/1000,
		"bytes", answer.bytes, "key", call.Key.ID, "request_id", call.RequestID)
}

// requestID is the caller's own id if it is printable, short and no key, else a new one.
func requestID(r *http.Request) string {
	own := r.Header.Get("X-Request-Id")
	unprintable := strings.ContainsFunc(own, func(c rune) bool { return c < ' ' || c > '~' })
	_, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if own == "" || len(own) > 64 || unprintable || account.LooksMade(own) || own == strings.TrimSpace(secret) {
		return newRequestID()
	}
	return own
}

var idLetters = base32.StdEncoding.WithPadding(base32.NoPadding)

// newRequestID is 128 random bits. It need not be secret, but must not come twice.
func newRequestID() string {
	var bits [16]byte
	var text [26]byte
	binary.NativeEndian.PutUint64(bits[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(bits[8:], rand.Uint64())
	idLetters.Encode(text[:], bits[:])
	return string(text[:])
}

// A recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// atOnce is the size of an answer that is sent in one piece, and needs no time to be sent. The writeTime of the request bounds it.
const atOnce = 2048

// Write implements http.ResponseWriter.
func (r *recorder) Write(data []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if r.bytes <= atOnce && r.bytes+len(data) > atOnce {
		http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(answerTime)) // fails where there is no connection
	}
	n, err := r.ResponseWriter.Write(data)
	r.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
