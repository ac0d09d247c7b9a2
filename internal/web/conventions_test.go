package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sightline/internal/account"
)

const (
	formType = "Content-Type: application/x-www-form-urlencoded"
	jsonType = "Content-Type: application/json"
	lineType = "Content-Type: application/x-ndjson"
)

func TestBodies(t *testing.T) {
	large := "url=https://a.example&exclude_params=" + strings.Repeat("a", 64<<10)
	tests := []struct {
		name, kind, body string
		want             int
		text             string
	}{
		{"form", formType, "url=https://a.example", 201, `"https://a.example"`},
		{"form with charset", formType + "; charset=UTF-8", "url=https://a.example", 201, ""},
		{"type in other case", "Content-Type: Application/JSON", `{"url":"https://a.example"}`, 201, ""},
		{"JSON", jsonType, `{"url":"https://a.example","privacy":0,"email":"1"}`, 201, `"privacy":0`},
		{"JSON number for text", jsonType, `{"url":"https://a.example","exclude_params":5}`, 201, `"exclude_params":"5"`},
		{"JSON null keeps the default", jsonType, `{"url":"https://a.example","privacy":null,"exclude_params":null}`, 201, `"privacy":1`},
		{"semicolon is an ordinary character", formType, "url=https://a.example&exclude_params=a;b", 201, `"exclude_params":"a;b"`},
		{"plus is a space", formType, "url=https://a.example&exclude_params=a+b", 201, `"exclude_params":"a b"`},
		{"empty integers count as not sent", formType, "url=https://a.example&privacy=&email=&exclude_bots=", 201, `"exclude_bots":1`},
		{"no body", formType, "", 422, `"url":["is required`},
		{"no body, no type", "", "", 422, `"url":["is required`},
		{"white space as JSON", jsonType, " \n", 422, `"url"`},
		{"JSON url null", jsonType, `{"url":null}`, 422, `"url"`},
		{"field twice", formType, "url=https://a.example&url=https://b.example", 422, `"url":["must be sent once"]`},
		{"JSON key twice", jsonType, `{"url":"https://a.example","privacy":0,"privacy":1}`, 422, `"privacy":["must be sent once"]`},
		{"JSON key in other case", jsonType, `{"URL":"https://a.example"}`, 422, `"url":["is required`},
		{"JSON boolean", jsonType, `{"url":"https://a.example","email":true}`, 422, `"email":["must be text or a number"]`},
		{"JSON nested", jsonType, `{"url":{"a":1},"email":[1]}`, 422, `"email"`},
		{"JSON fraction", jsonType, `{"url":"https://a.example","email":1.0}`, 422, `"email"`},
		{"all bad fields at once", formType, "url=ftp://a&privacy=3&email=yes&exclude_bots=-1&exclude_ips=300.1.1.1", 422, `"email":["must be 0 or 1"],"exclude_bots":["must be 0 or 1"],"exclude_ips":[`},
		{"control character", formType, "url=https://a.example&password=a%00b", 422, `"password":["must not contain control characters"]`},
		{"tab in a list", formType, "url=https://a.example&exclude_ips=192.0.2.1%09192.0.2.2", 422, `"exclude_ips"`},
		{"malformed escape", formType, "url=%zz", 400, "malformed"},
		{"form not UTF-8", formType, "url=https://a.example/%ff", 400, "UTF-8"},
		{"JSON not UTF-8", jsonType, "{\"url\":\"https://a.example/\xff\"}", 400, "UTF-8"},
		{"JSON half surrogate", jsonType, `{"url":"https://a.example/\ud800"}`, 400, "surrogate"},
		{"JSON half surrogate after an escaped backslash", jsonType, `{"url":"https://a.example/\\ufffd\ud800x"}`, 400, "surrogate"},
		{"JSON surrogate pair", jsonType, `{"url":"https://a.example","exclude_params":"\ud83d\ude00"}`, 201, "😀"},
		{"JSON sent as a form", formType, `{"url":"https://a.example"}`, 400, "looks like JSON"},
		{"JSON cut off", jsonType, `{"url":"https://a.example"`, 400, "malformed"},
		{"JSON array", jsonType, `[{"url":"https://a.example"}]`, 400, "malformed"},
		{"JSON and more", jsonType, `{"url":"https://a.example"} {}`, 400, "malformed"},
		{"not JSON", jsonType, `url=https://a.example`, 400, "malformed"},
		{"multipart", "Content-Type: multipart/form-data; boundary=x", "--x--", 415, "application/json"},
		{"no type", "", "url=https://a.example", 415, ""},
		{"too large", formType, large, 413, "64 KiB"},
		{"too large beats the wrong type", "Content-Type: text/plain", large, 413, ""},
	}
	onEngines(t, func(t *testing.T, s *server) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				s.T = t
				headers := []string{"Authorization: Bearer " + s.key}
				if test.kind != "" {
					headers = append(headers, test.kind)
				}
				before := s.form("GET", s.analytics+"/api/v1/websites", "").field("meta.total").(float64)
				got := s.want(s.do("POST", s.analytics+"/api/v1/websites", test.body, headers...), test.want, test.text)
				after := s.form("GET", s.analytics+"/api/v1/websites", "").field("meta.total").(float64)
				if stored := after > before; stored != (got.status == 201) {
					t.Errorf("answered %d, stored: %v", got.status, stored)
				}
			})
		}
	})
}

func TestErrorBody(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		got := s.want(s.form("POST", s.analytics+"/api/v1/websites", "privacy=9"), 422)
		if got.field("status") != 422.0 || got.field("request_id") != got.header.Get("X-Request-Id") || got.field("message") == "" {
			t.Errorf("error body: %s", got.body)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
			t.Errorf("Content-Type: %s", kind)
		}
	})
}

func TestRequestID(t *testing.T) {
	s := serve(t, "", t.TempDir())
	tests := []struct {
		sent string
		kept bool
	}{{"my-id 7", true}, {"1", true}, {"Bearer", true}, {"ssl_check", true}, {s.key, false}, {account.NewSecret(), false}, {strings.Repeat("a", 64), true}, {strings.Repeat("a", 65), false}, {"nön", false}, {"", false}}
	for _, test := range tests {
		got := s.do("GET", s.seo+"/healthz", "", "Authorization: Bearer "+s.key, "X-Request-Id: "+test.sent).header.Get("X-Request-Id")
		if kept := got == test.sent; kept != test.kept || got == "" {
			t.Errorf("sent %q, got %q", test.sent, got)
		}
		if test.kept && !strings.Contains(s.log.String(), test.sent) {
			t.Errorf("the log lacks %q", test.sent)
		}
	}
}

func TestMethodsAndPaths(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://a.example"), 201)
		s.want(s.form("POST", s.seo+"/api/v1/projects", "project=a.example"), 201)
		tests := []struct {
			method, address string
			want            int
			allow           string
		}{
			{"HEAD", s.analytics + "/api/v1/websites", 200, ""},
			{"HEAD", s.analytics + "/api/v1/websites/1", 200, ""},
			{"OPTIONS", s.analytics + "/api/v1/websites", 204, "GET, HEAD, OPTIONS, POST"},
			{"OPTIONS", s.analytics + "/api/v1/websites/1", 204, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"},
			{"OPTIONS", s.analytics + "/websites/1/destroy", 204, "DELETE, OPTIONS"},
			{"OPTIONS", s.analytics + "/nothing", 404, ""},
			{"PUT", s.analytics + "/api/v1/websites", 405, "GET, HEAD, OPTIONS, POST"},
			{"GET", s.analytics + "/websites/1/destroy", 405, "DELETE, OPTIONS"},
			{"TRACE", s.seo + "/api/v1/projects", 405, "GET, HEAD, OPTIONS, POST"},
			{"PUT", s.seo + "/api/v1/projects/a.example", 405, "DELETE, GET, HEAD, OPTIONS"},
			{"GET", s.analytics + "/api/v1/websites/", 200, ""},
			{"GET", s.analytics + "/api/v1/websites/1/", 200, ""},
			{"GET", s.analytics + "/api/v1/websites//", 404, ""},
			{"GET", s.analytics + "//api/v1/websites", 404, ""},
			{"GET", s.analytics + "/api/./v1/websites", 404, ""},
			{"GET", s.analytics + "/api/v1/x/../websites", 404, ""},
			{"GET", s.analytics + "/", 404, ""},
			{"GET", s.analytics + "/api/v1", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/1/destroy", 404, ""},
			{"GET", s.analytics + "/api/v1/projects", 404, ""}, // the other area's
			{"GET", s.seo + "/api/v1/websites", 404, ""},
			{"DELETE", s.seo + "/websites/1/destroy", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/0", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/-1", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/+1", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/1.0", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/one", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/%31", 200, ""},
			{"GET", s.analytics + "/api/v1/websites/%00", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/1%2f", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/9223372036854775807", 404, ""},
			{"GET", s.analytics + "/api/v1/websites/99999999999999999999", 404, ""},
			{"GET", s.seo + "/api/v1/projects/a.example/", 200, ""},
			{"GET", s.seo + "/api/v1/projects/%ff", 404, ""},
			{"GET", s.seo + "/api/v1/projects/%00", 404, ""},
			{"GET", s.seo + "/api/v1/projects/..", 404, ""},
			{"GET", s.seo + "/api/v1/projects/" + strings.Repeat("a", 300), 404, ""},
		}
		for _, test := range tests {
			got := s.do(test.method, test.address, "", "Authorization: Bearer "+s.key)
			if got.status != test.want || test.allow != "" && got.header.Get("Allow") != test.allow {
				t.Errorf("%s %s: %d Allow: %s, want %d %s", test.method, test.address, got.status, got.header.Get("Allow"), test.want, test.allow)
			}
			if test.method != "HEAD" && got.status >= 400 && got.field("status") != float64(got.status) {
				t.Errorf("%s %s: no JSON error: %s", test.method, test.address, got.body)
			}
			if got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("X-Request-Id") == "" {
				t.Errorf("%s %s: headers %v", test.method, test.address, got.header)
			}
		}
	})
}

func TestAccept(t *testing.T) {
	s := serve(t, "", t.TempDir())
	tests := []struct {
		accept string
		want   int
	}{
		{"", 200}, {"*/*", 200}, {"application/*", 200}, {"application/json", 200}, {"Application/JSON; charset=utf-8", 200}, {"text/html, */*;q=0.1", 200},
		{"text/html, application/json;q=0.5", 200}, {"application/vnd.api+json", 200}, {"text/html, *; q=.2", 200},
		{"application/json, application/problem+json;q=0", 200},
		{"text/html", 406}, {"application/json;q=0", 406}, {"*/*, application/json;q=0.0", 406}, {"text/*", 406}, {"*/*;q=0", 406}, {"nonsense", 406},
	}
	for _, test := range tests {
		if got := s.do("GET", s.seo+"/api/v1/projects", "", "Authorization: Bearer "+s.key, "Accept: "+test.accept); got.status != test.want {
			t.Errorf("Accept: %s: %d, want %d", test.accept, got.status, test.want)
		}
	}
}

func TestCORS(t *testing.T) {
	s := serve(t, "", t.TempDir())
	got := s.do("OPTIONS", s.analytics+"/api/v1/websites/1", "", "Origin: https://console.example", "Access-Control-Request-Method: PUT")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      "*",
		"Access-Control-Allow-Methods":     "DELETE, GET, HEAD, OPTIONS, PATCH, PUT",
		"Access-Control-Allow-Headers":     "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id",
		"Access-Control-Allow-Credentials": "",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), want)
		}
	}
	exposed := s.form("GET", s.analytics+"/api/v1/websites", "").header.Get("Access-Control-Expose-Headers")
	for _, name := range []string{"ETag", "Location", "Retry-After", "X-Request-Id", "X-Ignored-Fields"} {
		if !strings.Contains(exposed, name) {
			t.Errorf("%s is not exposed: %s", name, exposed)
		}
	}
}

func TestKeys(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		projects := s.seo + "/api/v1/projects"
		reader := s.newKey(s.owner.ID, account.Scopes{account.SEORead}, time.Time{})
		last := s.newKey(s.owner.ID, account.AllScopes(), start.Add(time.Second))
		expired := s.newKey(s.owner.ID, account.AllScopes(), start)
		mistyped := s.key[:len(s.key)-1] + string('a'+(s.key[len(s.key)-1]+1)%26)
		tests := []struct {
			name, method, header string
			want                 int
			challenge            string
		}{
			{"right", "GET", "Bearer " + s.key, 200, ""},
			{"scheme in other case", "GET", "bEARER " + s.key, 200, ""},
			{"spaces", "GET", "Bearer   " + s.key + " ", 200, ""},
			{"expires later", "GET", "Bearer " + last, 200, ""},
			{"none", "GET", "", 401, `Bearer realm="sightline"`},
			{"other scheme", "GET", "Basic " + s.key, 401, `Bearer realm="sightline"`},
			{"unknown", "GET", "Bearer " + account.NewSecret(), 401, `Bearer realm="sightline", error="invalid_token"`},
			{"expired", "GET", "Bearer " + expired, 401, `Bearer realm="sightline", error="invalid_token"`},
			{"mistyped", "GET", "Bearer " + mistyped, 401, `Bearer realm="sightline", error="invalid_token"`},
			{"cut off", "GET", "Bearer " + s.key[:30], 401, `Bearer realm="sightline", error="invalid_token"`},
			{"empty", "GET", "Bearer ", 401, `Bearer realm="sightline"`},
			{"endless", "GET", "Bearer " + strings.Repeat("x", 4000), 401, `Bearer realm="sightline", error="invalid_token"`},
			{"reads with read scope", "GET", "Bearer " + reader, 200, ""},
			{"writes with read scope", "POST", "Bearer " + reader, 403, ""},
		}
		for _, test := range tests {
			var headers []string
			if test.header != "" {
				headers = []string{"Authorization: " + test.header}
			}
			got := s.do(test.method, projects, "", headers...)
			if got.status != test.want || got.header.Get("WWW-Authenticate") != test.challenge {
				t.Errorf("%s: %d %q, want %d %q", test.name, got.status, got.header.Get("WWW-Authenticate"), test.want, test.challenge)
			}
		}
		s.want(s.do("POST", projects, "", "Authorization: Bearer "+reader), 403, "seo:write")
		s.want(s.do("GET", projects+"?api_key="+s.key, ""), 401)
		s.want(s.do("GET", projects, "", "Cookie: api_key="+s.key), 401)
		s.want(s.do("GET", projects, "", "Authorization: Bearer "+s.key, "Authorization: Bearer "+s.key), 401)
	})
}

func TestRevokedKeyAnswersLikeAnUnknownOne(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		keys, err := s.catalog.AllKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.want(s.form("GET", s.seo+"/api/v1/projects", ""), 200)
		if err := s.catalog.RevokeKey(t.Context(), s.owner.ID, keys[0].ID, start); err != nil {
			t.Fatal(err)
		}
		s.forget()
		revoked := s.form("GET", s.seo+"/api/v1/projects", "")
		unknown := s.do("GET", s.seo+"/api/v1/projects", "", "Authorization: Bearer "+account.NewSecret())
		revoked.body = strings.Replace(revoked.body, revoked.header.Get("X-Request-Id"), "", 1)
		unknown.body = strings.Replace(unknown.body, unknown.header.Get("X-Request-Id"), "", 1)
		if revoked.status != 401 || revoked.body != unknown.body || revoked.header.Get("WWW-Authenticate") != unknown.header.Get("WWW-Authenticate") {
			t.Errorf("revoked %d %s, unknown %d %s", revoked.status, revoked.body, unknown.status, unknown.body)
		}
	})
}

func TestOrderOfRefusals(t *testing.T) {
	s := serve(t, "", t.TempDir())
	reader := "Authorization: Bearer " + s.newKey(s.owner.ID, account.Scopes{account.AnalyticsRead}, time.Time{})
	owner := "Authorization: Bearer " + s.key
	none, html, text, large := "X-None: 1", "Accept: text/html", "Content-Type: text/plain", strings.Repeat("a", 65<<10)
	tests := []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"unknown path before all", "BREW", "/api/v1/nothing", large, []string{none, html, text}, 404},
		{"method before key", "BREW", "/api/v1/websites/9", large, []string{none, html, text}, 405},
		{"key before scope", "PUT", "/api/v1/websites/9", large, []string{none, html, text}, 401},
		{"scope before Accept", "PUT", "/api/v1/websites/9", large, []string{reader, html, text}, 403},
		{"Accept before size", "PUT", "/api/v1/websites/9", large, []string{owner, html, text}, 406},
		{"size before type", "PUT", "/api/v1/websites/9", large, []string{owner, text}, 413},
		{"type before record", "PUT", "/api/v1/websites/9", "privacy=7", []string{owner, text}, 415},
		{"malformed before record", "PUT", "/api/v1/websites/9", "privacy=%", []string{owner, formType}, 400},
		{"malformed query before record", "GET", "/api/v1/websites/9?a=%", "", []string{owner}, 400},
		{"record before fields", "PUT", "/api/v1/websites/9", "privacy=7", []string{owner, formType}, 404},
		{"fields last", "POST", "/api/v1/websites", "privacy=7", []string{owner, formType}, 422},
	}
	for _, test := range tests {
		if got := s.do(test.method, s.analytics+test.path, test.body, test.headers...); got.status != test.want {
			t.Errorf("%s: %d, want %d: %s", test.name, got.status, test.want, got.body)
		}
	}
}

func TestIgnoredFields(t *testing.T) {
	s := serve(t, "", t.TempDir())
	many := ""
	for i := range 20 {
		many += fmt.Sprintf("&f%02d=1", i)
	}
	tests := []struct{ query, body, want string }{
		{"", "url=https://a.example", ""},
		{"", "url=https://a.example&name=Shop&_token=x", "name, _token"},
		{"?page=3&debug=1", "url=https://a.example&x=1&x=2", "page, debug, x"},
		{"", "url=https://a.example&a%0d%0ab=1&tags[]=1&%C3%BC=1&=1", ""},
		{"", "url=https://a.example&a[]=1&b[]=1&c[]=1&d[]=1&e[]=1&f[]=1&g[]=1&h[]=1&i[]=1&j[]=1&plain=1", "plain"},
		{"", "url=https://a.example" + many, "f00, f01, f02, f03, f04, f05, f06, f07, f08, f09"},
	}
	for _, test := range tests {
		got := s.want(s.form("POST", s.analytics+"/api/v1/websites"+test.query, test.body), 201)
		if got.header.Get("X-Ignored-Fields") != test.want {
			t.Errorf("%s %s: X-Ignored-Fields: %s, want %s", test.query, test.body, got.header.Get("X-Ignored-Fields"), test.want)
		}
	}
	if got := s.form("GET", s.analytics+"/api/v1/websites?filter=x&per_page=10", ""); got.header.Get("X-Ignored-Fields") != "filter" {
		t.Errorf("list: %v", got.header)
	}
}

func TestReadsAndDeletesIgnoreABody(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://a.example"), 201)
		nonsense := []string{"Authorization: Bearer " + s.key, "Content-Type: text/plain"}
		s.want(s.do("GET", s.analytics+"/api/v1/websites", "%%%", nonsense...), 200)
		s.want(s.do("GET", s.analytics+"/api/v1/websites/1", "%%%", nonsense...), 200)
		s.want(s.do("DELETE", s.analytics+"/websites/1/destroy", "%%%", nonsense...), 200)
	})
}

// While the server stops, callers are told to come back.
func TestDraining(t *testing.T) {
	s := serve(t, "", t.TempDir())
	s.web.Notice = time.Second
	s.want(s.form("GET", s.seo+"/api/v1/projects", ""), 200)
	s.stop()
	deadline := time.Now().Add(500 * time.Millisecond)
	got := s.form("GET", s.seo+"/readyz", "")
	for got.status == 200 && time.Now().Before(deadline) {
		got = s.form("GET", s.seo+"/readyz", "")
	}
	s.want(got, 503)
	if got := s.want(s.form("POST", s.seo+"/api/v1/projects", "project=late.example"), 503); got.header.Get("Retry-After") == "" {
		t.Errorf("headers %v", got.header)
	}
	s.want(s.do("GET", s.seo+"/healthz", ""), 200)
}

func TestProbes(t *testing.T) {
	s := serve(t, "", t.TempDir())
	for _, base := range []string{s.seo, s.analytics} {
		s.want(s.do("GET", base+"/healthz", "", "Accept: text/html"), http.StatusOK, `"status":200`)
		s.want(s.do("GET", base+"/readyz", ""), http.StatusOK, `"status":200`)
	}
	if err := s.catalog.Close(); err != nil {
		t.Fatal(err)
	}
	s.want(s.do("GET", s.seo+"/healthz", ""), 200)
	if got := s.want(s.do("GET", s.seo+"/readyz", ""), 503); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.forget()
	if got := s.want(s.form("GET", s.seo+"/api/v1/projects", ""), 503); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
