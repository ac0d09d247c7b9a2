package apikit

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"

	"sightline/internal/account"
	"sightline/internal/fault"
	"sightline/internal/receipt"
)

// A Call is what is known of a request while it is served.
type Call struct {
	RequestID string
	Area      string      // the area that serves it; empty while unknown
	Route     string      // the method and pattern that serve it; empty while unknown
	Quiet     bool        // the log needs no line of it unless it fails
	Key       account.Key // who calls, on operations that need a key
	Query     Fields
	Body      Fields
	Many      []Fields // the bodies, where the route takes many
	request   [sha256.Size]byte
	receipt   *receipt.Receipt // of a write with an idempotency key
}

type callKey struct{}

// Begin gives a request a call of its own.
func Begin(r *http.Request, requestID string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callKey{}, &Call{RequestID: requestID}))
}

// CallOf is the call of a request that went through Begin.
func CallOf(r *http.Request) *Call {
	return r.Context().Value(callKey{}).(*Call)
}

// Account is the account that calls.
func Account(r *http.Request) int64 {
	return CallOf(r).Key.AccountID
}

// ID reads an id from the path. What is not a positive integer names nothing.
func ID(r *http.Request, name string) (int64, error) {
	text := r.PathValue(name)
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 || strings.Trim(text, "0123456789") != "" {
		return 0, fault.NotFound
	}
	return id, nil
}

// The most names that X-Ignored-Fields carries, and the longest of them.
const (
	maxIgnored       = 10
	maxIgnoredLength = 64
)

// readFields reads the query and the body. Fields that the operation does not know are named in the answer's header.
func (c *Call) readFields(w http.ResponseWriter, r *http.Request, route Route) error {
	query, err := decodeForm(r.URL.RawQuery)
	if err != nil {
		return refuse(http.StatusBadRequest, "The query string is malformed: "+err.Error()+".")
	}
	var ignored []string
	c.Query, ignored = newFields(query, route.Query, route.Repeat, ignored)
	if route.Lines {
		err = checkLines(r)
	} else if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		ignored, err = c.readBody(w, r, route, ignored)
	}
	if err != nil {
		return err
	}
	if len(ignored) > 0 {
		w.Header().Set("X-Ignored-Fields", strings.Join(ignored, ", "))
	}
	return nil
}

// isPlain says that a name is safe to repeat in a header.
func isPlain(name string) bool {
	return name != "" && len(name) <= maxIgnoredLength && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	})
}
