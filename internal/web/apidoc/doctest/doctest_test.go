package doctest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sightline/internal/web/apidoc"
	"sightline/internal/web/apidoc/doctest"
)

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json; charset=utf-8"

	website = `{"id":7,"url":"https://example.com","domain":"example.com","privacy":1,"has_password":0,"email":0,"exclude_bots":1,` +
		`"exclude_params":null,"exclude_ips":null,"tracking_id":"7hUqk2LwZ9xV4sNn0RbTyA","created_at":"2026-11-14T09:30:00Z","updated_at":"2026-11-14T09:30:00Z"}`
	updated  = `{"data":` + website + `,"status":200}`
	created  = `{"data":` + website + `,"status":201}`
	deleted  = `{"id":7,"object":"website","deleted":true,"status":200}`
	list     = `{"data":[` + website + `],"links":{"first":"http://a/","last":"http://a/","prev":null,"next":null},"meta":{"current_page":1,"from":1,"last_page":1,"path":"http://a/","per_page":10,"to":1,"total":1},"status":200}`
	notFound = `{"message":"There is no such record.","status":404,"request_id":"r1"}`
	invalid  = `{"message":"Some fields are not valid: url.","status":422,"request_id":"r1","errors":{"url":["is required"]}}`
)

// A fake answers every request in the same way.
type fake struct {
	status int
	header string // further headers, as "Name: value; Name: value"
	body   string
}

func (f fake) RoundTrip(r *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {jsonType}, "X-Request-Id": {"r1"}, "Etag": {`"7-1"`}}
	for part := range strings.SplitSeq(f.header, "; ") {
		if name, value, found := strings.Cut(part, ": "); found {
			header.Set(name, value)
		}
	}
	return &http.Response{StatusCode: f.status, Header: header, Body: io.NopCloser(strings.NewReader(f.body)), Request: r}, nil
}

// A witness is a test that only notes its errors.
type witness struct {
	testing.TB
	mu     sync.Mutex
	errors []string
}

func (w *witness) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}

func document(t *testing.T) []byte {
	t.Helper()
	doc, err := apidoc.Document("test", "https://stats.example.com", apidoc.Analytics)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A bench sends requests through a Wrap to a fake.
type bench struct {
	*testing.T
	witness   *witness
	answer    fake
	transport http.RoundTripper
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, witness: &witness{TB: t}}
	b.transport = doctest.Wrap(b.witness, document(t), b)
	return b
}

// RoundTrip implements http.RoundTripper: what lies behind the Wrap.
func (b *bench) RoundTrip(r *http.Request) (*http.Response, error) { return b.answer.RoundTrip(r) }

// send sends a request that gets an answer, and returns what the Wrap finds wrong. Headers are written as name, value.
func (b *bench) send(method, path, kind, body string, answer fake, headers ...string) string {
	b.Helper()
	b.answer, b.witness.errors = answer, nil
	r, err := http.NewRequestWithContext(b.Context(), method, "http://localhost:1234"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sl_test")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	response, err := b.transport.RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != answer.body {
		b.Errorf("%s %s: the caller reads %q, %v", method, path, got, err)
	}
	return strings.Join(b.witness.errors, "\n")
}

func TestAnswers(t *testing.T) {
	b := newBench(t)
	tests := []struct {
		name, method, path string
		answer             fake
		want               string // empty: nothing is wrong
	}{
		{"list", "GET", "/api/v1/websites", fake{200, "", list}, ""},
		{"trailing slash", "GET", "/api/v1/websites/", fake{200, "", list}, ""},
		{"one", "GET", "/api/v1/websites/7", fake{200, "", updated}, ""},
		{"escaped id", "GET", "/api/v1/websites/%37", fake{200, "", updated}, ""},
		{"no such record", "GET", "/api/v1/websites/x", fake{404, "", notFound}, ""},
		{"deleted", "DELETE", "/websites/7/destroy", fake{200, "", deleted}, ""},
		{"page", "GET", "/docs", fake{200, "Content-Type: text/html; charset=utf-8", "<!doctype html>"}, ""},
		{"document", "GET", "/api/v1/openapi.json", fake{200, "", string(document(t))}, ""},
		{"probe", "GET", "/healthz", fake{200, "", `{"message":"ok","status":200}`}, ""},
		{"not ready", "GET", "/readyz", fake{503, "Retry-After: 2", `{"message":"No.","status":503,"request_id":"r1"}`}, ""},

		{"extra field in a record", "GET", "/api/v1/websites/7", fake{200, "", strings.Replace(updated, `"id"`, `"secret":1,"id"`, 1)}, "secret"},
		{"extra field in a list", "GET", "/api/v1/websites", fake{200, "", strings.Replace(list, `"id"`, `"secret":1,"id"`, 1)}, "secret"},
		{"extra field in the frame", "DELETE", "/websites/7/destroy", fake{200, "", strings.Replace(deleted, `"id"`, `"project":"x","id"`, 1)}, "project"},
		{"missing field", "GET", "/api/v1/websites/7", fake{200, "", strings.Replace(updated, `"email":0,`, "", 1)}, "email"},
		{"wrong type", "GET", "/api/v1/websites/7", fake{200, "", strings.Replace(updated, `"id":7`, `"id":"7"`, 1)}, "id"},
		{"value out of range", "GET", "/api/v1/websites/7", fake{200, "", strings.Replace(updated, `"privacy":1`, `"privacy":3`, 1)}, "privacy"},
		{"time with an offset", "GET", "/api/v1/websites/7", fake{200, "", strings.ReplaceAll(updated, `:00Z`, `:00+01:00`)}, "created_at"},
		{"wrong status in the body", "GET", "/api/v1/websites/7", fake{200, "", created}, "the body says 201"},
		{"wrong status", "GET", "/api/v1/websites/7", fake{201, "", created}, "does not know this status"},
		{"redirect", "GET", "/api/v1/websites/7", fake{307, "", ""}, "does not know this status"},
		{"not modified, unasked", "GET", "/api/v1/websites/7", fake{304, "", ""}, "the caller has"},
		{"no version", "GET", "/api/v1/websites/7", fake{200, "ETag: ", updated}, "ETag"},
		{"odd version", "GET", "/api/v1/websites/7", fake{200, "ETag: 7", updated}, "ETag"},
		{"422 without fields", "GET", "/api/v1/websites", fake{422, "", `{"message":"No.","status":422,"request_id":"r1"}`}, "errors"},
		{"fields in a 404", "GET", "/api/v1/websites/7", fake{404, "", strings.Replace(invalid, "422", "404", 1)}, "errors"},
		{"wrong content type", "GET", "/api/v1/websites/7", fake{200, "Content-Type: text/plain", updated}, "text/plain"},
		{"no JSON", "GET", "/api/v1/websites/7", fake{200, "", "oops"}, "no JSON"},
		{"something after the JSON", "GET", "/api/v1/websites/7", fake{200, "", updated + "oops"}, "no JSON"},
		{"no request id", "GET", "/api/v1/websites/7", fake{200, "X-Request-Id: ", updated}, "X-Request-Id"},
		{"503 without Retry-After", "GET", "/readyz", fake{503, "", `{"message":"No.","status":503,"request_id":"r1"}`}, "Retry-After"},
		{"401 without WWW-Authenticate", "GET", "/api/v1/websites", fake{401, "", `{"message":"No.","status":401,"request_id":"r1"}`}, "WWW-Authenticate"},
	}
	for _, test := range tests {
		got := b.send(test.method, test.path, "", "", test.answer)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got != "" && !strings.HasPrefix(got, fmt.Sprintf("%s http://localhost:1234%s, answered %d: ", test.method, test.path, test.answer.status)) {
			t.Errorf("%s: the error does not say what was asked: %s", test.name, got)
		}
	}
}

func TestWhatIsNoOperation(t *testing.T) {
	b := newBench(t)
	problem := func(status int) string { return fmt.Sprintf(`{"message":"No.","status":%d,"request_id":"r1"}`, status) }
	tests := []struct {
		method, path string
		answer       fake
		want         string
	}{
		{"GET", "/api/v1/projects", fake{404, "", problem(404)}, ""},
		{"GET", "/api/v1//websites", fake{404, "", problem(404)}, ""},
		{"OPTIONS", "/api/v1/websites/..", fake{404, "", problem(404)}, ""},
		{"PUT", "/api/v1/websites", fake{405, "Allow: GET, HEAD, OPTIONS, POST", problem(405)}, ""},
		{"OPTIONS", "/api/v1/websites", fake{204, "Allow: GET, HEAD, OPTIONS, POST", ""}, ""},
		{"OPTIONS", "/api/v1/projects", fake{404, "", problem(404)}, ""},
		{"HEAD", "/api/v1/websites", fake{200, "", ""}, ""},
		{"HEAD", "/api/v1/projects", fake{404, "", ""}, ""},

		{"GET", "/api/v1/projects", fake{200, "", list}, "no such operation"},
		{"GET", "/api/v1/websites/.", fake{200, "", list}, "no such operation"},
		{"GET", "/api/v1/projects", fake{404, "", "404 page not found"}, "no JSON"},
		{"GET", "/api/v1/projects", fake{404, "Content-Type: text/plain", problem(404)}, "text/plain"},
		{"GET", "/api/v1/projects", fake{404, "", problem(405)}, "the body says 405"},
		{"GET", "/api/v1/projects", fake{404, "", `{"error":"no"}`}, "message"},
		{"GET", "/api/v1/projects", fake{404, "X-Request-Id: ", problem(404)}, "X-Request-Id"},
		{"PUT", "/api/v1/websites", fake{405, "", problem(405)}, "Allow"},
		{"OPTIONS", "/api/v1/websites", fake{204, "", ""}, "Allow"},
		{"OPTIONS", "/api/v1/projects", fake{204, "Allow: GET", ""}, "no such operation"},
		{"HEAD", "/api/v1/websites", fake{307, "", ""}, "does not know this status"},
	}
	for _, test := range tests {
		got := b.send(test.method, test.path, "", "", test.answer)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s %s, answered %d: %q, want %q", test.method, test.path, test.answer.status, got, test.want)
		}
	}
}

func TestAcceptedRequests(t *testing.T) {
	b := newBench(t)
	one, all := "/api/v1/websites/7", "/api/v1/websites"
	tests := []struct {
		method, path, kind, body string
		want                     string
	}{
		{"GET", all + "?per_page=37&sort=asc&sort_by=domain&search=a;b&page=2", "", "", ""},
		{"GET", all + "?per_page=&sort=&page=&search=", "", "", ""},
		{"GET", all + "?color=red&color=blue", "", "", ""},
		{"PUT", one, formType, "privacy=2&password=a+b&exclude_params=a;b%0Ac&exclude_ips=&email=&color=red", ""},
		{"PUT", one, "Application/X-WWW-Form-Urlencoded; charset=utf-8", "privacy=0", ""},
		{"PUT", one, "application/json", `{"privacy":"2","email":null,"exclude_bots":0,"password":12345,"url":"https://example.com","id":7,"color":[]}`, ""},
		{"PUT", one, "application/json", "  ", ""},
		{"PUT", one, "", "", ""},
		{"POST", all, formType, "url=example.com", ""},
		{"POST", all, formType, "domain=example.com", ""},

		{"GET", all + "?per_page=5", "", "", "per_page"},
		{"GET", all + "?per_page=ten", "", "", "per_page"},
		{"GET", all + "?sort=up", "", "", "sort"},
		{"GET", all + "?sort=asc&sort=desc", "", "", "sort twice"},
		{"GET", all + "?search=%zz", "", "", "malformed query"},
		{"GET", all + "?search=%00", "", "", "search"},
		{"GET", "/api/v1/websites/0", "", "", "id"},
		{"GET", "/api/v1/websites/x", "", "", "id"},
		{"PUT", one, formType, "privacy=3", "privacy"},
		{"PUT", one, formType, "privacy=01", "privacy"},
		{"PUT", one, formType, "privacy=1&privacy=1", "privacy twice"},
		{"PUT", one, formType, "url=", "url"},
		{"PUT", one, formType, "a=%zz", "invalid URL escape"},
		{"PUT", one, "application/json", `{"privacy":true}`, "privacy"},
		{"PUT", one, "application/json", `{"url":null}`, "url"},
		{"PUT", one, "application/json", `[]`, "object"},
		{"PUT", one, "text/plain", "privacy=1", "text/plain"},
		{"POST", all, formType, "privacy=1", "url"},
		{"POST", all, formType, "", "no body"},
	}
	for _, test := range tests {
		answer := fake{200, "", updated}
		switch {
		case test.method == "POST":
			answer = fake{201, "Location: http://a/api/v1/websites/7", created}
		case strings.HasPrefix(test.path, all+"?"):
			answer = fake{200, "", list}
		}
		got := b.send(test.method, test.path, test.kind, test.body, answer)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s %s %s: %q, want %q", test.method, test.path, test.body, got, test.want)
		}
		if got != "" && !strings.Contains(got, "accepted ") {
			t.Errorf("%s %s %s: %q is about something else", test.method, test.path, test.body, got)
		}
		refused := fake{422, "", invalid}
		if got := b.send(test.method, test.path, test.kind, test.body, refused); strings.Contains(got, "accepted") {
			t.Errorf("%s %s %s: refused rightly, but %q", test.method, test.path, test.body, got)
		}
	}
}

// TestBodyArrives checks that the server still gets the body that a Wrap has read.
func TestBodyArrives(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s, %d bytes, %v", body, r.ContentLength, err)
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("X-Request-Id", "r1")
		w.Header().Set("ETag", `"7-1"`)
		io.WriteString(w, updated)
	}))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "PUT", server.URL+"/api/v1/websites/7", strings.NewReader("privacy=1"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sl_test")
	r.Header.Set("Content-Type", formType)
	response, err := (&http.Client{Transport: doctest.Wrap(t, document(t), http.DefaultTransport)}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if want := "privacy=1, 9 bytes, <nil>"; got != want {
		t.Errorf("the server reads %q, want %q", got, want)
	}
}

func TestNoKey(t *testing.T) {
	w := &witness{TB: t}
	client := http.Client{Transport: doctest.Wrap(w, document(t), fake{200, "", list})}
	response, err := client.Get("http://localhost:1234/api/v1/websites")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if len(w.errors) != 1 || !strings.Contains(w.errors[0], "no key") {
		t.Errorf("a call without a key that is answered: %q", w.errors)
	}
}

// TestManyAtOnce lets the race detector look at a transport that many callers share.
func TestManyAtOnce(t *testing.T) {
	transport := doctest.Wrap(t, document(t), fake{200, "", list})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), "GET", "http://localhost:1234/api/v1/websites?per_page=10", nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer sl_test")
			if _, err := transport.RoundTrip(r); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}
