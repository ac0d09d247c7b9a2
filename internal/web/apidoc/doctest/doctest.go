// Package doctest holds a server to its OpenAPI document: tests send their requests through it.
package doctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Wrap is a transport that lets every answer pass and fails the test when the document does not allow it. The status
// must be documented and headers and body must match. A request that was answered with 2xx or 304 must itself be one that
// the document allows; fields and parameters that the document does not know are fine. Answers to what is no operation
// of the document must be errors in the common shape.
func Wrap(t testing.TB, document []byte, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatalf("load the OpenAPI document: %v", err)
	}
	problem := doc.Components.Schemas["Problem"]
	if problem == nil {
		t.Fatal("the OpenAPI document has no schema Problem")
	}
	doc.Servers = nil // a test may reach the server under another name
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatalf("read the paths of the OpenAPI document: %v", err)
	}
	schemas, err := newSchemas(document)
	if err != nil {
		t.Fatalf("read the schemas of the OpenAPI document: %v", err)
	}
	return &checker{t: t, next: next, router: router, schemas: schemas, problem: problem.Value}
}

type checker struct {
	t       testing.TB
	next    http.RoundTripper
	router  routers.Router
	schemas *schemas
	problem *openapi3.Schema
}

// An exchange is a request and its answer, with their bodies.
type exchange struct {
	request  *http.Request
	sent     []byte
	answer   *http.Response
	received []byte
}

// RoundTrip implements http.RoundTripper.
func (c *checker) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchange{request: r.Clone(r.Context())}
	var err error
	if r.Body != nil && r.Body != http.NoBody {
		if x.sent, err = drain(r.Body); err != nil {
			return nil, err
		}
		x.request.Body = io.NopCloser(bytes.NewReader(x.sent))
	}
	if x.answer, err = c.next.RoundTrip(x.request); err != nil {
		return nil, err
	}
	if x.received, err = drain(x.answer.Body); err != nil {
		return nil, err
	}
	x.answer.Body = io.NopCloser(bytes.NewReader(x.received))
	if err := c.check(x); err != nil {
		c.t.Errorf("%s %s, answered %d: %v", r.Method, r.URL, x.answer.StatusCode, err)
	}
	return x.answer, nil
}

func drain(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	return io.ReadAll(body)
}

// check says what the document does not allow in an exchange.
func (c *checker) check(x exchange) error {
	asked := x.request.Clone(context.Background())
	if strings.HasSuffix(asked.URL.EscapedPath(), "/") { // and not in %2F
		asked.URL.Path, asked.URL.RawPath = trimSlash(asked.URL.Path), trimSlash(asked.URL.RawPath)
	}
	if asked.Method == http.MethodHead {
		asked.Method = http.MethodGet
	}
	if escaped := asked.URL.EscapedPath(); path.Clean(escaped) != escaped {
		return c.checkOther(x, false) // doubled slashes and dots name nothing
	}
	route, params, err := c.router.FindRoute(asked)
	if err != nil {
		return c.checkOther(x, errors.Is(err, routers.ErrMethodNotAllowed))
	}
	return errors.Join(c.checkAnswer(x, route), c.checkRequest(x, route, params))
}

// trimSlash leaves out one trailing slash, which does not matter.
func trimSlash(text string) string {
	if len(text) < 2 {
		return text
	}
	return strings.TrimSuffix(text, "/")
}

// checkOther checks the answer to what is no operation of the document, at a path that has others or none.
func (c *checker) checkOther(x exchange, knownPath bool) error {
	status := x.answer.StatusCode
	if x.answer.Header.Get("X-Request-Id") == "" {
		return errors.New("the header X-Request-Id is missing")
	}
	options := knownPath && x.request.Method == http.MethodOptions && status == http.StatusNoContent
	if (options || status == http.StatusMethodNotAllowed) && x.answer.Header.Get("Allow") == "" {
		return errors.New("the header Allow is missing")
	}
	if options {
		return nil
	}
	if status < 400 {
		return errors.New("the document has no such operation")
	}
	if x.request.Method == http.MethodHead {
		return nil
	}
	if !isJSON(x.answer) {
		return fmt.Errorf("the content type is %q", x.answer.Header.Get("Content-Type"))
	}
	if err := checkJSON(x); err != nil {
		return err
	}
	body, err := decode(x.received)
	if err != nil {
		return err
	}
	return c.schemas.check(c.problem, body)
}

// checkAnswer checks the answer of an operation.
func (c *checker) checkAnswer(x exchange, route *routers.Route) error {
	documented := route.Operation.Responses.Status(x.answer.StatusCode)
	if documented == nil {
		return errors.New("the document does not know this status here")
	}
	if len(documented.Value.Content) == 0 && len(x.received) > 0 {
		return errors.New("the document knows no body here")
	}
	if err := c.schemas.checkHeaders(x.answer.Header, documented.Value.Headers); err != nil {
		return err
	}
	if x.answer.StatusCode == http.StatusNotModified {
		return checkNotModified(x)
	}
	content := documented.Value.Content.Get(x.answer.Header.Get("Content-Type"))
	if content == nil {
		return fmt.Errorf("the content type is %q", x.answer.Header.Get("Content-Type"))
	}
	if err := checkJSON(x); err != nil || !isJSON(x.answer) || x.request.Method == http.MethodHead {
		return err
	}
	body, err := decode(x.received)
	if err != nil {
		return err
	}
	return c.schemas.check(content.Schema.Value, body)
}

// checkNotModified checks that the caller said that it has the version that was not sent.
func checkNotModified(x exchange) error {
	known, tag := strings.Join(x.request.Header.Values("If-None-Match"), ","), x.answer.Header.Get("ETag")
	if known != "*" && !strings.Contains(known, tag) || known == "" {
		return fmt.Errorf("the caller has %q, not %s", known, tag)
	}
	return nil
}

// checkJSON checks that a JSON body is one document and that the status that it names is the real one.
func checkJSON(x exchange) error {
	if !isJSON(x.answer) || x.request.Method == http.MethodHead {
		return nil
	}
	if !json.Valid(x.received) {
		return errors.New("the body is no JSON")
	}
	var body struct{ Status *int }
	if json.Unmarshal(x.received, &body) == nil && body.Status != nil && *body.Status != x.answer.StatusCode {
		return fmt.Errorf("the body says %d", *body.Status)
	}
	return nil
}

func isJSON(answer *http.Response) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json")
}

func decode(body []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}
