package doctest_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestHeaders(t *testing.T) {
	b := newBench(t)
	one, all := "/api/v1/websites/7", "/api/v1/websites"
	same, made := fake{304, "", ""}, fake{201, "Location: http://a/api/v1/websites/7", created}
	changed := fake{412, "", `{"message":"No.","status":412,"request_id":"r1"}`}
	tests := []struct {
		method, path string
		headers      []string
		answer       fake
		want         string
	}{
		{"GET", one, []string{"If-None-Match", `"7-1"`}, same, ""},
		{"HEAD", one, []string{"If-None-Match", `"7-1"`}, same, ""},
		{"GET", one, []string{"If-None-Match", `"7-0", W/"7-1"`}, same, ""},
		{"GET", one, []string{"If-None-Match", `"7-0"`, "If-None-Match", `"7-1"`}, same, ""},
		{"GET", one, []string{"If-None-Match", "*"}, same, ""},
		{"GET", one, []string{"If-None-Match", "nonsense"}, fake{200, "", updated}, ""},
		{"PUT", one, []string{"If-Match", `"7-1"`}, fake{200, "", updated}, ""},
		{"PUT", one, []string{"If-Match", `"7-0"`}, changed, ""},
		{"POST", all, []string{"Idempotency-Key", "monday run, site 7"}, made, ""},
		{"POST", all, []string{"Idempotency-Key", "1"}, fake{201, made.header + "; Idempotency-Replayed: true", created}, ""},

		{"GET", one, []string{"If-None-Match", `"7-0"`}, same, "the caller has"},
		{"GET", one, []string{"If-None-Match", `"7-1"`}, fake{304, "", updated}, "no body"},
		{"GET", one, []string{"If-None-Match", `"7-1"`}, fake{304, "ETag: ", ""}, "ETag"},
		{"HEAD", one, nil, fake{200, "ETag: ", ""}, "ETag"},
		{"GET", one + "?a=%zz", []string{"If-None-Match", `"7-1"`}, same, "malformed query"},
		{"GET", all, []string{"If-None-Match", `"7-1"`}, same, "does not know this status"},
		{"GET", one, []string{"If-Match", `"7-0"`}, changed, "does not know this status"},
		{"POST", all, []string{"Idempotency-Key", ""}, made, "Idempotency-Key"},
		{"POST", all, []string{"Idempotency-Key", "ü"}, made, "Idempotency-Key"},
		{"POST", all, []string{"Idempotency-Key", strings.Repeat("x", 256)}, made, "Idempotency-Key"},
		{"POST", all, []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, made, "Idempotency-Key twice"},
		{"POST", all, nil, fake{201, made.header + "; Idempotency-Replayed: yes", created}, "Idempotency-Replayed"},
		{"GET", all, nil, fake{429, "Retry-After: 1", `{"message":"No.","status":429,"request_id":"r1"}`}, "RateLimit-"},
	}
	for _, test := range tests {
		kind, body := "", ""
		if test.method == "POST" {
			kind, body = formType, "url=example.com"
		}
		got := b.send(test.method, test.path, kind, body, test.answer, test.headers...)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s %s %q, answered %d: %q, want %q", test.method, test.path, test.headers, test.answer.status, got, test.want)
		}
	}
}

func TestLists(t *testing.T) {
	b := newBench(t)
	const path, entry = "/api/v1/bulk/websites", `{"url":"https://example.com"},`
	tried := strings.Replace(strings.Replace(website, `"id":7`, `"id":null`, 1), `"7hUqk2LwZ9xV4sNn0RbTyA"`, "null", 1)
	answer := func(records string, created int) fake {
		return fake{200, "", fmt.Sprintf(`{"data":[%s],"created":%d,"updated":0,"unchanged":0,"status":200}`, records, created)}
	}
	tests := []struct {
		query, kind, body string
		answer            fake
		want              string
	}{
		{"", "application/json", "[" + entry + `{"domain":"example.org","privacy":"2","password":"x","color":1}]`, answer(website+","+website, 2), ""},
		{"", "application/json", `[]`, answer("", 0), ""},
		{"?dry_run=1", "application/json", `[{"url":"example.com"}]`, answer(tried, 1), ""},
		{"?dry_run=", "application/json", `[{"url":"example.com"}]`, answer(website, 1), ""},

		{"?dry_run=2", "application/json", `[]`, answer("", 0), "dry_run"},
		{"", "application/json", `{"url":"example.com"}`, answer(website, 1), "array"},
		{"", "application/json", `["example.com"]`, answer(website, 1), "object"},
		{"", "application/json", "[" + entry + `{"privacy":1}]`, answer(website, 1), "url"},
		{"", "application/json", "[" + entry + `{"url":"example.org","privacy":3}]`, answer(website, 1), "privacy"},
		{"", "application/json", "[" + strings.Repeat(entry, 1000) + `{"url":"example.org"}]`, answer(website, 1), "maxItems"},
		{"", "application/json", "", answer("", 0), "no body"},
		{"", formType, "url=example.com", answer(website, 1), formType},
	}
	for _, test := range tests {
		got := b.send("PUT", path+test.query, test.kind, test.body, test.answer)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s %.80s: %.300q, want %q", test.query, test.body, got, test.want)
		}
	}
}

func TestLines(t *testing.T) {
	b := newBench(t)
	const line, stored = `{"at":"2026-11-14T09:30:00Z","kind":"pageview","visitor":"5b1f6f2d9c0a7e43","visit":"0c9d8e7f6a5b4c3d","props":{"plan":"pro"}}`, `{"stored":1,"known":0,"status":200}`
	for body, want := range map[string]string{
		"":                            "",
		line:                          "",
		line + "\r\n\n" + line + "\n": "",

		line + "\n{}": "missing",
		line + "\n[]": "object",
		strings.Replace(line, "pageview", "view", 1): "kind",
		strings.Replace(line, "5b1f", "xxxx", 1):     "visitor",
		strings.Replace(line, `"pro"`, `""`, 1):      "plan",
		strings.Replace(line, "plan", "", 1):         "propertyName",
		strings.Replace(line, "kind", "sort", 1):     "sort",
	} {
		got := b.send("POST", "/api/v1/websites/7/import", "application/x-ndjson", body, fake{200, "", stored})
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A report is in one of three formats.
func TestReports(t *testing.T) {
	b := newBench(t)
	for body, fine := range map[string]bool{
		`{"s":"x"}`: true,
		`{"s":"x","n":"signup","v":"49.9","p":"{}"}`:                       true,
		`{"page":"https://example.com/","event":{}}`:                       true,
		`{"n":"pageview","u":"https://a.example/","d":"a.example"}`:        true,
		`{"name":"pageview","url":"https://a.example/","props":{"a":[1]}}`: true,

		`{}`:                 false,
		`{"n":"pageview"}`:   false,
		`{"s":"x","v":"no"}`: false,
		`{"s":"x","n":true}`: false,
		`{"s":""}`:           false,
	} {
		for _, kind := range []string{"application/json", "text/plain;charset=UTF-8"} {
			if got := b.send("POST", "/api/event", kind, body, fake{202, "Content-Type: text/plain", "ok"}); (got == "") != fine {
				t.Errorf("%s: %q", body, got)
			}
		}
	}
}
