package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestWebsiteFields(t *testing.T) {
	many := func(n int, entry string) string { return strings.TrimSpace(strings.Repeat(entry+" ", n)) }
	tests := []struct {
		name, fields string
		want         int
		text         string
	}{
		{"path and query stay as sent", "url=HTTPS://WWW.Example.COM/A%20b?C=d", 422, `"url"`}, // a space is no part of an address
		{"scheme and host in lower case", "url=HTTPS://WWW.Example.COM/A?C=d", 201, `"url":"https://www.example.com/A?C=d","domain":"example.com"`},
		{"trimmed", "url=++https://example.com+", 201, `"url":"https://example.com"`},
		{"bare host", "url=example.com", 201, `"url":"https://example.com"`},
		{"bare host without a dot", "url=example", 422, `"url"`},
		{"localhost", "url=localhost:3000", 201, `"domain":"localhost:3000"`},
		{"domain for url", "domain=example.com", 201, `"url":"https://example.com"`},
		{"control character in the ignored domain", "domain=a%00&url=https://example.com", 422, `"domain":["must not contain control characters"]`},
		{"lists of separators alone", "url=https://example.com&exclude_ips=,+;&exclude_params=%0A,", 201, `"exclude_params":null,"exclude_ips":null`},
		{"url before domain", "domain=other.example&url=https://example.com", 201, `"domain":"example.com"`},
		{"IDN", "url=https://m%C3%BCnchen.de", 201, `"url":"https://xn--mnchen-3ya.de"`},
		{"IPv6", "url=http://[2001:db8::1]:8080/", 201, `"domain":"[2001:db8::1]:8080"`},
		{"empty url", "url=", 422, `"url"`},
		{"user info", "url=https://user:pass@example.com", 422, `"url":["must not contain a user name or password"]`},
		{"ftp", "url=ftp://example.com", 422, `"url":["must start with http:// or https://"]`},
		{"too long", "url=https://example.com/" + strings.Repeat("a", 2048), 422, `"url"`},
		{"privacy 0", "url=https://example.com&privacy=0", 201, `"privacy":0`},
		{"privacy 3", "url=https://example.com&privacy=3", 422, `"privacy":["must be 0 (public), 1 (private) or 2 (password)"]`},
		{"privacy 1.0", "url=https://example.com&privacy=1.0", 422, `"privacy"`},
		{"privacy with a space", "url=https://example.com&privacy=+1", 422, `"privacy"`},
		{"privacy 01", "url=https://example.com&privacy=01", 422, `"privacy"`},
		{"email yes", "url=https://example.com&email=yes", 422, `"email":["must be 0 or 1"]`},
		{"password privacy needs a password", "url=https://example.com&privacy=2", 422, `"password":["is required when privacy is 2"]`},
		{"password privacy with an empty one", "url=https://example.com&privacy=2&password=", 422, `"password"`},
		{"password privacy", "url=https://example.com&privacy=2&password=x", 201, `"has_password":1`},
		{"a good password beside a bad field", "url=foo%20bar&privacy=2&password=x", 422, `{"url":["must not contain spaces or control characters"]}`},
		{"a bad password beside a bad field", "email=3&url=https://example.com&password=" + strings.Repeat("a", 129), 422, `"password":["must be 1 to 128 characters"]`},
		{"password ahead", "url=https://example.com&password=x", 201, `"privacy":1,"has_password":1`},
		{"password of 128 characters", "url=https://example.com&password=" + strings.Repeat("%C3%BC", 128), 201, `"has_password":1`},
		{"password of 129 characters", "url=https://example.com&password=" + strings.Repeat("a", 129), 422, `"password":["must be 1 to 128 characters"]`},
		{"parameters", "url=https://example.com&exclude_params=%20utm_*,%20fbclid;gclid%0D%0A%26%20", 201, `"exclude_params":"utm_*, fbclid;gclid\r\n&"`},
		{"100 parameters", "url=https://example.com&exclude_params=" + url.QueryEscape(many(100, "a")), 201, ""},
		{"101 parameters", "url=https://example.com&exclude_params=" + url.QueryEscape(many(101, "a")), 422, `"exclude_params":["must be at most 100 names, not 101"]`},
		{"a parameter of 101 characters", "url=https://example.com&exclude_params=" + strings.Repeat("a", 101), 422, `"exclude_params"`},
		{"addresses", "url=https://example.com&exclude_ips=192.0.2.1%0A198.51.100.0/24,10.0.0.*;2001:db8::/32+::1", 201, `"exclude_ips":"192.0.2.1\n198.51.100.0/24,10.0.0.*;2001:db8::/32 ::1"`},
		{"a bad address is named", "url=https://example.com&exclude_ips=192.0.2.1,10.0.0.256", 422, `"exclude_ips":["has an entry that is no IP address or range: 10.0.0.256"]`},
		{"500 addresses", "url=https://example.com&exclude_ips=" + url.QueryEscape(many(500, "::1")), 201, ""},
		{"501 addresses", "url=https://example.com&exclude_ips=" + url.QueryEscape(many(501, "::1")), 422, `"exclude_ips"`},
	}
	onEngines(t, func(t *testing.T, s *server) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				s.T = t
				s.want(s.form("POST", s.analytics+"/api/v1/websites", test.fields), test.want, test.text)
			})
		}
	})
}

func TestWebsiteUpdate(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		websites := s.analytics + "/api/v1/websites"
		created := s.want(s.form("POST", websites, "url=https://example.com/a&exclude_params=a&exclude_ips=::1&email=1&exclude_bots=0"), 201)
		one := websites + "/" + fmt.Sprint(created.field("data.id"))
		steps := []struct {
			name, fields string
			want         int
			texts        []string
		}{
			{"nothing sent changes nothing", "", 200, []string{`"url":"https://example.com/a"`, `"email":1`, `"exclude_bots":0`, `"exclude_params":"a"`}},
			{"only what is sent", "email=0", 200, []string{`"email":0`, `"exclude_bots":0`, `"exclude_params":"a"`, `"exclude_ips":"::1"`}},
			{"empty integers keep", "email=&privacy=&exclude_bots=", 200, []string{`"email":0`, `"privacy":1`, `"exclude_bots":0`}},
			{"empty lists clear", "exclude_params=&exclude_ips=", 200, []string{`"exclude_params":null`, `"exclude_ips":null`}},
			{"empty url", "url=&email=1", 422, []string{`"url"`}},
			{"password privacy without a password", "privacy=2&email=1", 422, []string{`"password":["is required when privacy is 2"]`}},
			{"nothing of a refused update is kept", "", 200, []string{`"email":0`, `"privacy":1`, `"url":"https://example.com/a"`}},
			{"password ahead", "password=x", 200, []string{`"privacy":1`, `"has_password":1`}},
			{"password privacy with one set before", "privacy=2", 200, []string{`"privacy":2`, `"has_password":1`}},
			{"empty password keeps", "password=", 200, []string{`"privacy":2`, `"has_password":1`}},
			{"other privacy keeps the password", "privacy=0", 200, []string{`"privacy":0`, `"has_password":1`}},
		}
		for _, step := range steps {
			t.Run(step.name, func(t *testing.T) {
				s.T = t
				s.want(s.form("PUT", one, step.fields), step.want, step.texts...)
			})
		}
		s.T = t
		s.want(s.json("PATCH", one, `{"privacy":2}`), 200, `"privacy":2`)
		s.want(s.json("PATCH", one, `{"password":null}`), 422, `"password"`)
		s.want(s.json("PATCH", one, `{"password":null,"privacy":1}`), 200, `"has_password":0`, `"privacy":1`)

		// What a GET returned, sent back, changes nothing.
		s.want(s.form("PUT", one, "exclude_params=utm_*%0Afbclid&password=secret&privacy=2"), 200)
		got := s.form("GET", one, "")
		var body struct{ Data map[string]any }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil {
			t.Fatal(err)
		}
		back, err := json.Marshal(body.Data)
		if err != nil {
			t.Fatal(err)
		}
		if again := s.want(s.json("PUT", one, string(back)), 200); again.body != got.body {
			t.Errorf("changed from %s to %s", got.body, again.body)
		}
	})
}

func TestWebsiteAnswers(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		websites := s.analytics + "/api/v1/websites"
		first := s.want(s.form("POST", websites, "url=https://www.example.com"), 201, `"status":201`)
		if first.header.Get("Location") != websites+"/1" || first.header.Get("X-Same-Domain") != "" {
			t.Errorf("headers %v", first.header)
		}
		second := s.want(s.form("POST", websites, "url=http://example.com/blog"), 201)
		if second.header.Get("X-Same-Domain") != "1" || second.field("data.tracking_id") == first.field("data.tracking_id") {
			t.Errorf("twin: %v %s", second.header, second.body)
		}
		third := s.want(s.form("POST", websites, "url=https://example.org"), 201)
		moved := s.want(s.form("PUT", fmt.Sprint(websites, "/", third.field("data.id")), "url=https://example.com/third"), 200)
		if moved.header.Get("X-Same-Domain") != "1" {
			t.Errorf("moved: %v", moved.header)
		}
		if len(first.field("data.tracking_id").(string)) != 22 {
			t.Errorf("tracking id %v", first.field("data.tracking_id"))
		}
		deleted := s.want(s.form("DELETE", websites+"/1", ""), 200)
		if deleted.body != `{"id":1,"object":"website","deleted":true,"status":200}`+"\n" {
			t.Errorf("deleted: %s", deleted.body)
		}
		if again := s.want(s.form("POST", websites, "url=https://example.com"), 201); again.field("data.id").(float64) <= 3 {
			t.Errorf("an id was reused: %s", again.body)
		}
	})
}

func TestWebsiteLists(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		websites := s.analytics + "/api/v1/websites"
		for _, site := range []string{"https://b.example/2", "https://www.a.example", "https://b.example/1", "http://a.example/zz", "https://m%C3%BCnchen.de", "https://c.example/100%25_off"} {
			s.want(s.form("POST", websites, "url="+site), 201)
		}
		tests := []struct{ query, want string }{
			{"", "4 2 3 1 6 5"}, // by domain, then url: http:// sorts before https://
			{"?sort=desc", "5 6 1 3 2 4"},
			{"?sort_by=domain&sort=desc", "5 6 1 3 2 4"},
			{"?sort_by=created_at", "1 2 3 4 5 6"},
			{"?sort_by=id&sort=desc", "6 5 4 3 2 1"}, // all in the same second
			{"?search=B.EXAMPLE", "3 1"},
			{"?search=%2F1", "3 6"},
			{"?search=%2F1&search_by=domain", ""},
			{"?search=m%C3%BCnchen", "5"},
			{"?search=M%C3%9CNCHEN.de&search_by=domain", "5"},
			{"?search=xn--mnchen", "5"},
			{"?search=%25_off", "6"}, // a % and a _ are ordinary characters
			{"?search=_", "6"},
			{"?search=%25", "6"},
			{"?search=%5C", ""},
			{"?search='%22", ""},
			{"?search=", "4 2 3 1 6 5"},
			{"?page=2", ""},
			{"?page=1000000", ""},
			{"?sort_by=&sort=&per_page=&page=&search_by=", "4 2 3 1 6 5"},
		}
		for _, test := range tests {
			if got := s.want(s.form("GET", websites+test.query, ""), 200).column("id"); got != test.want {
				t.Errorf("GET websites%s: %s, want %s", test.query, got, test.want)
			}
		}
		for _, query := range []string{"sort_by=privacy", "search_by=id", "page=0", "page=1000001", "page=x", "sort=ASC", "per_page=+10", "per_page=010",
			"search=" + strings.Repeat("a", 201), "search=a%0Ab", "page=1&page=2"} {
			name, _, _ := strings.Cut(query, "=")
			s.want(s.form("GET", websites+"?"+query, ""), 422, `"`+name+`":[`)
		}
	})
}

func TestListEnvelope(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		projects := s.seo + "/api/v1/projects"
		empty := s.want(s.form("GET", projects, ""), 200)
		want := fmt.Sprintf(`{"data":[],"links":{"first":"%[1]s?page=1","last":"%[1]s?page=1","prev":null,"next":null},`+
			`"meta":{"current_page":1,"from":null,"last_page":1,"path":"%[1]s","per_page":10,"to":null,"total":0},"status":200}`+"\n", projects)
		if empty.body != want {
			t.Errorf("empty list:\n%s\nwant\n%s", empty.body, want)
		}
		for i := range 23 {
			s.want(s.form("POST", projects, fmt.Sprintf("project=s%02d.example", i)), 201)
		}
		middle := s.want(s.form("GET", projects+"?page=2&search=example%26&sort=asc&own=1;2", ""), 200)
		if middle.field("meta.total") != 0.0 || middle.field("links.first") != projects+"?search=example%26&sort=asc&own=1%3B2&page=1" {
			t.Errorf("links: %s", middle.body)
		}
		middle = s.want(s.form("GET", projects+"?page=2&sort=asc", ""), 200)
		for path, want := range map[string]any{
			"meta.from": 11.0, "meta.to": 20.0, "meta.last_page": 3.0, "meta.total": 23.0, "meta.current_page": 2.0,
			"links.prev": projects + "?sort=asc&page=1", "links.next": projects + "?sort=asc&page=3", "links.last": projects + "?sort=asc&page=3",
		} {
			if got := middle.field(path); got != want {
				t.Errorf("%s = %v, want %v", path, got, want)
			}
		}
		beyond := s.want(s.form("GET", projects+"?page=9", ""), 200)
		if beyond.field("meta.from") != nil || beyond.field("meta.total") != 23.0 || beyond.field("links.next") != nil || beyond.field("links.prev") != projects+"?page=3" {
			t.Errorf("past the end: %s", beyond.body)
		}
	})
}

// Updates of different fields at once all succeed, and none is lost.
func TestRacingUpdates(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		one := s.analytics + "/api/v1/websites/1"
		s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://start.example"), 201)
		var group sync.WaitGroup
		for _, fields := range []string{"url=https://moved%d.example", "exclude_params=p%d", "exclude_ips=192.0.2.%d", "email=1"} {
			group.Go(func() {
				for i := range 20 {
					if got := s.form("PUT", one, strings.Replace(fields, "%d", fmt.Sprint(i), 1)); got.status != 200 {
						t.Errorf("PUT %s: %d %s", fields, got.status, got.body)
					}
				}
			})
		}
		group.Wait()
		s.want(s.form("GET", one, ""), 200, `"url":"https://moved19.example"`, `"exclude_params":"p19"`, `"exclude_ips":"192.0.2.19"`, `"email":1`)
	})
}
