package beacon_test

import (
	"bytes"
	"fmt"
	"image/gif"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sightline/internal/collect"
)

// An example is a report as a client sends it, and the hits that it means.
type example struct {
	name, body string
	headers    []string
	want       []collect.Hit
}

func check(t *testing.T, examples []example, status int, answer string) {
	t.Helper()
	s := newServer(t)
	for _, e := range examples {
		for i := range e.want {
			e.want[i] = sent(e.want[i])
		}
		for _, kind := range []string{"text/plain;charset=UTF-8", "application/json", "application/json; charset=UTF-8", ""} {
			got := s.send("POST", "/api/event", e.body, append(e.headers, "Content-Type: "+kind)...)
			if got.Code != status || got.Body.String() != answer || got.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s as %q: %d %q %v", e.name, kind, got.Code, got.Body, got.Header())
			}
			if diff := cmp.Diff(e.want, got.hits, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
				t.Errorf("%s as %q: %s", e.name, kind, diff)
			}
		}
	}
}

func TestOwnFormat(t *testing.T) {
	check(t, []example{
		{"a page view", `{"s":"7hUqk2LwZ9xV4sNn0RbTyA","n":"pageview","u":"https://example.com/a?b=c","r":"https://news.example/","w":1920}`, nil,
			[]collect.Hit{{Site: "7hUqk2LwZ9xV4sNn0RbTyA", Name: "pageview", URL: "https://example.com/a?b=c", Referrer: "https://news.example/", Screen: "1920"}}},
		{"the least", `{"s":"abc"}`, nil, []collect.Hit{{Site: "abc", Name: "pageview"}}},
		{"engagement", `{"s":"abc","n":"engagement","u":"https://example.com/","e":12345,"d":63.4}`, nil,
			[]collect.Hit{{Site: "abc", Name: "engagement", URL: "https://example.com/", Engagement: 12345 * time.Millisecond, Depth: 63}}},
		{"beyond the end of the page, and after the clock was set back", `{"s":"abc","n":"engagement","e":-5,"d":104}`, nil,
			[]collect.Hit{{Site: "abc", Name: "engagement", Depth: 100}}},
		{"a page that was open for weeks", `{"s":"abc","n":"engagement","e":1e12}`, nil,
			[]collect.Hit{{Site: "abc", Name: "engagement", Engagement: 24 * time.Hour}}},
		{"an event", `{"s":"abc","n":"signup","u":"https://example.com/","p":{"plan":"pro","seats":3,"trial":true,"none":null,"blank":" ","list":[1]},"v":49.9}`, nil,
			[]collect.Hit{{Site: "abc", Name: "signup", URL: "https://example.com/", Props: map[string]string{"plan": "pro", "seats": "3", "trial": "true"}, Value: 49.9}}},
		{"hash mode", `{"s":"abc","u":"https://example.com/#/a","h":""}`, nil, []collect.Hit{{Site: "abc", Name: "pageview", URL: "https://example.com/#/a", HashMode: true}}},
		{"nulls", `{"s":"abc","n":null,"u":null,"r":null,"w":null,"p":null,"v":null,"e":null,"d":null,"h":null}`, nil, []collect.Hit{{Site: "abc", Name: "pageview"}}},
		{"hostile text", `{"s":"abc","n":"<script>\u0000'\"","u":"https://example.com/\ud800%zz"}`, nil,
			[]collect.Hit{{Site: "abc", Name: "<script>\x00'\"", URL: "https://example.com/\ufffd%zz"}}},
		{"headers", `{"s":"abc"}`, []string{"Accept-Language: de-AT,de;q=0.9,en;q=0.8", "Sec-Purpose: prefetch;prerender"},
			[]collect.Hit{{Site: "abc", Name: "pageview", Language: "de-AT", Speculative: true}}},
		{"odd headers", `{"s":"abc"}`, []string{"Accept-Language: *", "User-Agent: \xff", "Purpose: none"},
			[]collect.Hit{{Site: "abc", Name: "pageview", Agent: "\ufffd"}}},
		{"a forged address", `{"s":"abc","ip":"203.0.113.9","ua":"Other"}`, []string{"X-Forwarded-For: 203.0.113.9"},
			[]collect.Hit{{Site: "abc", Name: "pageview"}}},
		{"an unusual login", `{"s":"abc","ip":"203.0.113.9"}`, []string{"Authorization: Basic dTpw"}, []collect.Hit{{Site: "abc", Name: "pageview"}}},
	}, 202, "ok")
}

func TestClassicFormat(t *testing.T) {
	check(t, []example{
		{"a page view", `{"page":"https://example.com/a","referrer":"","screen_resolution":"1920x1080"}`, nil,
			[]collect.Hit{{Name: "pageview", URL: "https://example.com/a", Screen: "1920x1080"}}},
		{"an event", `{"page":"https://example.com/a","referrer":"https://news.example/","screen_resolution":"390x844","event":{"name":"buy","value":"19.99","unit":"USD"}}`, nil,
			[]collect.Hit{{Name: "buy", URL: "https://example.com/a", Referrer: "https://news.example/", Screen: "390x844", Value: 19.99, Unit: "USD"}}},
		{"the value as a number", `{"page":"https://example.com/a","event":{"name":"buy","value":5}}`, nil,
			[]collect.Hit{{Name: "buy", URL: "https://example.com/a", Value: 5}}},
		{"values that do not count", `{"page":"https://example.com/a","event":{"name":"buy","value":12345678901,"unit":"` + strings.Repeat("x", 33) + `"}}`, nil,
			[]collect.Hit{{Name: "buy", URL: "https://example.com/a"}}},
		{"a negative value", `{"page":"https://example.com/a","event":{"name":"buy","value":-1}}`, nil, []collect.Hit{{Name: "buy", URL: "https://example.com/a"}}},
	}, 200, "200")
	check(t, []example{
		{"an event without a name", `{"page":"https://example.com/a","event":{"value":5}}`, nil, nil},
		{"an event that is none", `{"page":"https://example.com/a","event":"buy"}`, nil, nil},
	}, 200, "403")
}

func TestPlausibleFormat(t *testing.T) {
	hit := func(h collect.Hit) []collect.Hit {
		if h.Name == "" {
			h.Name = "pageview"
		}
		if h.URL == "" {
			h.URL = "https://example.com/a"
		}
		if h.Domain == "" {
			h.Domain = "example.com"
		}
		return []collect.Hit{h}
	}
	check(t, []example{
		{"plausible-tracker", `{"n":"pageview","u":"https://example.com/a","d":"example.com","r":null,"w":1280,"h":0}`, nil, hit(collect.Hit{Screen: "1280"})},
		{"plausible-tracker's event", `{"n":"Signup","u":"https://example.com/a","d":"example.com","r":"https://news.example/","w":1280,"h":1,"p":"{\"plan\":\"pro\",\"seats\":3}"}`, nil,
			hit(collect.Hit{Name: "Signup", Referrer: "https://news.example/", Screen: "1280", HashMode: true, Props: map[string]string{"plan": "pro", "seats": "3"}})},
		{"the newer tracker", `{"n":"pageview","v":36,"u":"https://example.com/a","d":"example.com","r":null,"p":{"author":"Ada"},"h":1}`, nil,
			hit(collect.Hit{HashMode: true, Props: map[string]string{"author": "Ada"}})},
		{"its engagement", `{"n":"engagement","sd":75,"d":"example.com","u":"https://example.com/a","p":{},"e":12034,"v":36}`, nil,
			hit(collect.Hit{Name: "engagement", Depth: 75, Engagement: 12034 * time.Millisecond})},
		{"its revenue", `{"n":"Purchase","v":36,"u":"https://example.com/a","d":"example.com","$":{"currency":"eur","amount":1322.22},"i":false}`, nil,
			hit(collect.Hit{Name: "Purchase", Value: 1322.22, Unit: "EUR"})},
		{"revenue as text", `{"n":"Purchase","u":"https://example.com/a","d":"example.com","revenue":"{\"currency\":\"USD\",\"amount\":\"10.5\"}"}`, nil,
			hit(collect.Hit{Name: "Purchase", Value: 10.5, Unit: "USD"})},
		{"revenue that is none", `{"n":"Purchase","u":"https://example.com/a","d":"example.com","$":{"currency":"dollars","amount":1}}`, nil, hit(collect.Hit{Name: "Purchase"})},
		{"a program", `{"name":"pageview","url":"https://example.com/a","domain":"example.com","referrer":"https://news.example/","props":{"a":"b"},"interactive":true}`, nil,
			hit(collect.Hit{Referrer: "https://news.example/", Props: map[string]string{"a": "b"}})},
		{"a number as the name", `{"n":404,"u":"https://example.com/a","d":"www.example.com"}`, nil, hit(collect.Hit{Name: "404"})},
		{"props that are none", `{"n":"pageview","u":"https://example.com/a","d":"example.com","p":"oops"}`, nil, hit(collect.Hit{})},
		{"several sites", `{"n":"pageview","u":"https://a.example/","d":"a.example, www.b.example,"}`, nil,
			[]collect.Hit{{Name: "pageview", URL: "https://a.example/", Domain: "a.example"}, {Name: "pageview", URL: "https://a.example/", Domain: "b.example"}}},
		{"no site", `{"n":"pageview","u":"https://example.com/a"}`, nil, []collect.Hit{{Name: "pageview", URL: "https://example.com/a"}}},
		{"long", `{"n":"pageview","u":"https://example.com/a","d":"example.com","r":"` + strings.Repeat("x", 3000) + `"}`, nil, hit(collect.Hit{Referrer: strings.Repeat("x", 2000)})},
	}, 202, "ok")
}

// Plausible takes the first 30 properties of more.
func TestManyProperties(t *testing.T) {
	s := newServer(t)
	entries := make([]string, 40)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"p%02d":"x"`, i)
	}
	props := "{" + strings.Join(entries, ",") + "}"
	got := s.send("POST", "/api/event", `{"n":"pageview","u":"https://example.com/","p":`+props+`}`)
	if len(got.hits) != 1 || len(got.hits[0].Props) != 30 || got.hits[0].Props["p29"] != "x" {
		t.Errorf("%d %+v", got.Code, got.hits)
	}
	if got := s.send("POST", "/api/event", `{"s":"abc","p":`+props+`}`); got.Code != 400 {
		t.Errorf("ours took 40: %d", got.Code)
	}
}

func TestRefused(t *testing.T) {
	s := newServer(t)
	long := strings.Repeat("x", 2001)
	for _, test := range []struct {
		body  string
		want  int
		field string
	}{
		{``, 400, `"request":[`},
		{`{`, 400, `"request":[`},
		{`null`, 400, `"request":[`},
		{`[]`, 400, `"request":[`},
		{`"text"`, 400, `"request":[`},
		{`{} {}`, 400, `"request":[`},
		{`page=x`, 400, `"request":[`},
		{`{"s":"abc","u":"` + strings.Repeat("x", 16<<10) + `"}`, 413, ``},
		{`{"s":""}`, 400, `"s":[`},
		{`{"s":true}`, 400, `"s":[`},
		{`{"s":"abc","n":"` + strings.Repeat("x", 121) + `"}`, 400, `"n":[`},
		{`{"s":"abc","u":["x"]}`, 400, `"u":[`},
		{`{"s":"abc","v":"much"}`, 400, `"v":[`},
		{`{"s":"abc","v":1e999}`, 400, `"v":[`},
		{`{"s":"abc","v":"NaN"}`, 400, `"v":[`},
		{`{"s":"abc","e":"long"}`, 400, `"e":[`},
		{`{"s":"abc","d":{}}`, 400, `"d":[`},
		{`{"s":"abc","p":["x"]}`, 400, `"p":[`},
		{`{"s":"abc","p":{"a":"` + long + `"}}`, 400, `"p":[`},
		{`{"s":"abc","ip":"here"}`, 400, `"ip":[`},
		{`{}`, 400, `"event_name":[`},
		{`{"n":"pageview"}`, 400, `"url":[`},
		{`{"n":"pageview","u":5,"d":"example.com"}`, 202, `ok`},
		{`{"n":"pageview","u":["x"],"d":"example.com"}`, 400, `"url":[`},
		{`{"n":"pageview","u":"data:text/html,x","d":"example.com"}`, 400, `"url":[`},
		{`{"n":"pageview","u":"https://example.com/` + long + `"}`, 400, `"url":[`},
		{`{"n":"pageview","u":"/path"}`, 400, `"domain":["can't be blank"]`},
		{`{"n":"pageview","u":"https://example.com/","d":" , "}`, 400, `"domain":[`},
		{`{"n":"pageview","u":"https://example.com/","d":"` + strings.Repeat("a,", 21) + `"}`, 400, `"domain":[`},
		{`{"n":"` + strings.Repeat("x", 121) + `","u":"https://example.com/"}`, 400, `"event_name":[`},
		{`{"n":"engagement","u":"https://example.com/"}`, 400, `"event_name":[`},
		{`{"n":"pageview","u":"https://example.com/","m":{"a":"` + long + `"}}`, 400, `"props":[`},
	} {
		got := s.send("POST", "/api/event", test.body)
		if got.Code != test.want || !strings.Contains(got.Body.String(), test.field) || (len(got.hits) > 0) != (got.Code == 202) {
			t.Errorf("%.60s: %d %s %v", test.body, got.Code, got.Body, got.hits)
		}
	}
}

func TestDropped(t *testing.T) {
	s := newServer(t)
	s.collector.dropAs = map[string]collect.Reason{"nobody": collect.Unknown, "mine": collect.Address, "gone.example": collect.Unknown, "bots.example": collect.Bot}
	for _, test := range []struct{ body, answer, header, value string }{
		{`{"s":"nobody"}`, "ok", "X-Sightline-Dropped", "site"},
		{`{"s":"mine"}`, "ok", "X-Sightline-Dropped", "ip"},
		{`{"s":"other"}`, "ok", "X-Sightline-Dropped", ""},
		{`{"n":"pageview","u":"https://a.example","d":"gone.example,bots.example,fine.example"}`, "ok", "X-Plausible-Dropped", "2"},
		{`{"n":"pageview","u":"https://a.example","d":"fine.example"}`, "ok", "X-Plausible-Dropped", ""},
	} {
		got := s.send("POST", "/api/event", test.body)
		if got.Code != 202 || got.Body.String() != test.answer || got.Header().Get(test.header) != test.value {
			t.Errorf("%s: %d %q %v", test.body, got.Code, got.Body, got.Header())
		}
		if exposed := strings.Contains(got.Header().Get("Access-Control-Expose-Headers"), test.header); exposed != (test.value != "") {
			t.Errorf("%s: exposed %v", test.body, exposed)
		}
	}
	for reason, want := range map[collect.Reason]string{collect.Unknown: "404", collect.Bot: "403", collect.Address: "403"} {
		s.collector.dropAs = map[string]collect.Reason{"": reason}
		if got := s.send("POST", "/api/event", `{"page":"https://example.com/"}`); got.Code != 200 || got.Body.String() != want {
			t.Errorf("%s: %d %q, want %q", reason, got.Code, got.Body, want)
		}
	}
}

// A program that may write reports for its visitors; nobody else does.
func TestReportsForOthers(t *testing.T) {
	s := newServer(t)
	visitor := netip.MustParseAddr("203.0.113.9")
	const ours, theirs = `{"s":"abc","ip":"::ffff:203.0.113.9","ua":"Visitor/1.0"}`, `{"n":"pageview","u":"https://example.com/"}`
	for _, test := range []struct {
		name, key, body, header string
		want                    int
		address                 netip.Addr
		agent                   string
	}{
		{"ours", "write", ours, "X-Other: x", 202, visitor, "Visitor/1.0"},
		{"ours by header", "write", `{"s":"abc"}`, "X-Forwarded-For: 203.0.113.9, 10.0.0.1", 202, visitor, agent},
		{"Plausible's", "write", theirs, "X-Forwarded-For: 203.0.113.9", 202, visitor, agent},
		{"nobody named", "write", theirs, "X-Forwarded-For: unknown", 202, peer, agent},
		{"without a key", "", ours, "X-Forwarded-For: 203.0.113.9", 202, peer, agent},
		{"a key that only reads", "read", ours, "X-Other: x", 403, netip.Addr{}, ""},
		{"an unknown key", "unknown", ours, "X-Other: x", 401, netip.Addr{}, ""},
	} {
		headers := []string{test.header}
		if test.key != "" {
			headers = append(headers, "Authorization: bearer "+s.keys[test.key])
		}
		got := s.send("POST", "/api/event", test.body, headers...)
		if got.Code != test.want || (got.Code == 202) != (len(got.hits) == 1) {
			t.Errorf("%s: %d %s", test.name, got.Code, got.Body)
			continue
		}
		if got.Code == 202 && (got.hits[0].Address != test.address || got.hits[0].Agent != test.agent) {
			t.Errorf("%s: %s %q", test.name, got.hits[0].Address, got.hits[0].Agent)
		}
	}
}

func TestPixel(t *testing.T) {
	s := newServer(t)
	s.collector.dropAs = map[string]collect.Reason{"nobody": collect.Unknown}
	for _, test := range []struct {
		query, referer, dropped string
		want                    collect.Hit
	}{
		{"s=abc&u=https%3A%2F%2Fexample.com%2Fa%3Fb&r=https://news.example/", "https://other.example/", "",
			collect.Hit{Site: "abc", Name: "pageview", URL: "https://example.com/a?b", Referrer: "https://news.example/"}},
		{"s=abc", "https://example.com/page", "", collect.Hit{Site: "abc", Name: "pageview", URL: "https://example.com/page"}},
		{"s=abc&n=opened&v=3&p=%7B%22mail%22%3A%22may%22%7D&w=640", "", "",
			collect.Hit{Site: "abc", Name: "opened", Value: 3, Props: map[string]string{"mail": "may"}, Screen: "640"}},
		{"s=nobody", "", "site", collect.Hit{Site: "nobody", Name: "pageview"}},
	} {
		got := s.send("GET", "/api/event.gif?"+test.query, "", "Referer: "+test.referer)
		if diff := cmp.Diff([]collect.Hit{sent(test.want)}, got.hits, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Errorf("%s: %s", test.query, diff)
		}
		if got.Code != 200 || got.Header().Get("Content-Type") != "image/gif" || got.Header().Get("Cache-Control") != "no-store" ||
			got.Header().Get("X-Sightline-Dropped") != test.dropped || got.Body.Len() != 43 {
			t.Errorf("%s: %d %v", test.query, got.Code, got.Header())
		}
		if picture, err := gif.Decode(bytes.NewReader(got.Body.Bytes())); err != nil || picture.Bounds().Dx() != 1 || picture.Bounds().Dy() != 1 {
			t.Errorf("%s: %v", test.query, err)
		}
	}
	for _, query := range []string{"", "s=", "s=abc&v=x", "s=%zz", "s=abc&s=abd", "s=abc&v=1&v=1"} {
		if got := s.send("GET", "/api/event.gif?"+query, ""); got.Code != 400 || len(got.hits) > 0 {
			t.Errorf("%q: %d", query, got.Code)
		}
	}
	if got := s.send("HEAD", "/api/event.gif?s=abc", ""); got.Code != 200 || len(got.hits) > 0 {
		t.Errorf("HEAD: %d, %d hits", got.Code, len(got.hits))
	}
}

// Browsers ask before they send JSON from another site.
func TestPreflight(t *testing.T) {
	s := newServer(t)
	got := s.send("OPTIONS", "/api/event", "", "Origin: https://example.com", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type")
	if got.Code != 204 || !strings.Contains(got.Header().Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(got.Header().Get("Access-Control-Allow-Headers"), "Content-Type") {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}
