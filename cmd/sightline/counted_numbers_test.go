package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// Hits in every format give exactly the right numbers, and what is excluded is in the ledger and nowhere else.
func TestCountedNumbers(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"--data", t.TempDir()})
	c := count(t, p, programKey, "https://shop.example", "exclude_params", "session, tok*", "exclude_ips", "203.0.113.0/24 2001:db8::/32")
	for _, visit := range visits(c) {
		got := report(p.analytics, visit.visitor, visit.body, visit.headers...)
		if got.err != nil || got.status != visit.status || got.body != visit.answer || got.header.Get(visit.header) != visit.said {
			t.Errorf("%s: %d %s %v %v", visit.body, got.status, got.body, got.header, got.err)
		}
	}
	pixel := fmt.Sprintf("%s/api/event.gif?s=%s&u=%s", p.analytics, c.tracking, url.QueryEscape("https://shop.example/?gclid=1"))
	if got := ask("", "GET", pixel, "", "Authorization", "", "User-Agent", iphone, "X-Forwarded-For", "198.51.100.4"); got.status != 200 || !strings.HasPrefix(got.body, "GIF89a") {
		t.Errorf("pixel: %d %q", got.status, got.body)
	}
	c.awaitStats("metrics=pageviews,events", `[{"pageviews":5,"events":3}]`)
	for query, want := range numbers {
		if got := c.stats(query); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, got, want)
		}
	}
	expect(t, 200, `"data":[{"value":"/","count":4},{"value":"/products?color=red","count":1}]`, "GET", fmt.Sprintf("%s/api/v1/stats/%d?name=page&from=%s&to=%s", p.analytics, c.id, day(-1), day(1)))
	expect(t, 200, `"visitors":4`, "GET", c.address("/realtime"))
	if list := c.events(); len(list) != 9 {
		t.Errorf("%d events are stored: %+v", len(list), list)
	}
	testLedger(t, c)
}

// A sent is a report and the answer that its client expects.
type sent struct {
	visitor, body, answer string
	status                int
	header, said          string // what one header of the answer says
	headers               []string
}

// visits are what people and others do: four people in four ways (the fourth by the pixel), then what must not count.
func visits(c *counted) []sent {
	const dropped, plausible = "X-Sightline-Dropped", "X-Plausible-Dropped"
	ok := func(visitor, body string) sent { return sent{visitor, body, "ok", 202, dropped, "", nil} }
	out := func(visitor, body, reason string, headers ...string) sent {
		return sent{visitor, body, "ok", 202, dropped, reason, headers}
	}
	const home, mobile = "https://shop.example/", "https://m.shop.example/"
	return []sent{
		ok("198.51.100.1", c.own(home, `,"r":"https://www.google.com/","w":1920`)),
		ok("198.51.100.1", c.own("https://www.shop.example/products?session=1&color=red&token=x#top", `,"r":"https://shop.example/"`)),
		ok("198.51.100.1", c.own(home+"products?session=2&color=red", `,"n":"engagement","e":15000,"d":80`)),
		ok("198.51.100.1", c.own(home+"products?color=red", `,"n":"purchase","v":49.9,"p":{"plan":"pro"}`)),

		{"198.51.100.2", `{"page":"` + home + `","referrer":"https://news.example/a?b=c","screen_resolution":"1440x900"}`, "200", 200, dropped, "", nil},
		{"198.51.100.2", `{"page":"` + home + `","event":{"name":"signup","value":5,"unit":"EUR"}}`, "200", 200, dropped, "", nil},

		ok("198.51.100.3", `{"n":"pageview","u":"`+mobile+`?utm_source=newsletter&utm_medium=email&session=3","d":"shop.example"}`),
		ok("198.51.100.3", `{"name":"purchase","url":"`+mobile+`","domain":"shop.example","props":"{\"plan\":\"team\"}","revenue":{"amount":"12.5","currency":"eur"}}`),

		out("203.0.113.9", c.own(home+"from-inside", ""), "ip"),
		out("[2001:db8::7]:443", c.own(home, ""), "ip"),
		out("::ffff:203.0.113.9", c.own(home, ""), "ip"),
		{"203.0.113.9", `{"page":"` + home + `"}`, "403", 200, "", "", nil},
		{"203.0.113.9", `{"n":"pageview","u":"` + home + `","d":"shop.example"}`, "ok", 202, plausible, "1", nil},
		out("198.51.100.5", c.own(home, ""), "bot", "User-Agent", googlebot),
		out("198.51.100.5", c.own(home, ""), "bot", "User-Agent", ""),
		out("198.51.100.5", c.own(home+"?token=secret", ""), "bot", "Sec-Purpose", "prefetch;prerender"),
		{"198.51.100.5", `{"page":"` + home + `"}`, "403", 200, "", "", []string{"User-Agent", googlebot}},
		out("198.51.100.6", c.own("https://shop.example.evil.example/", ""), "host"),
		out("198.51.100.6", c.own("https://evilshop.example/", ""), "host"),
		{"198.51.100.6", `{"page":"https://unknown.example/"}`, "404", 200, "", "", nil},
		{"198.51.100.6", `{"n":"pageview","u":"https://unknown.example/"}`, "ok", 202, plausible, "1", nil},
		out("198.51.100.6", `{"s":"no-such-website","u":"`+home+`"}`, "site"),
	}
}

// numbers are the answers to questions about the visits.
var numbers = map[string]string{
	"metrics=visitors,visits,pageviews,views_per_visit,bounce_rate,events,event_value,scroll_depth":// only the fourth saw one page and did nothing
	`[{"visitors":4,"visits":4,"pageviews":5,"views_per_visit":1.25,"bounce_rate":25,"events":3,"event_value":67.4,"scroll_depth":80}]`,
	"by=page&metrics=pageviews,visitors":           `[{"page":"/","pageviews":4,"visitors":4},{"page":"/products?color=red","pageviews":1,"visitors":1}]`,
	"by=entry_page&metrics=visits":                 `[{"entry_page":"/","visits":4}]`,
	"by=exit_page&metrics=visits":                  `[{"exit_page":"/","visits":3},{"exit_page":"/products?color=red","visits":1}]`,
	"by=source&metrics=visits&sort=source":         `[{"source":"","visits":1},{"source":"Google","visits":1},{"source":"news.example","visits":1},{"source":"newsletter","visits":1}]`,
	"by=channel&metrics=visits&sort=channel":       `[{"channel":"email","visits":1},{"channel":"paid","visits":1},{"channel":"referral","visits":1},{"channel":"search","visits":1}]`,
	"by=referrer&metrics=pageviews&sort=referrer":  `[{"referrer":"","pageviews":2},{"referrer":"https://news.example/a","pageviews":1},{"referrer":"https://www.google.com/","pageviews":2}]`,
	"by=utm_source&metrics=visits":                 `[{"utm_source":"newsletter","visits":1}]`,
	"by=event&metrics=events,event_value":          `[{"event":"purchase","events":2,"event_value":62.4},{"event":"signup","events":1,"event_value":5}]`,
	"by=prop:plan&metrics=events":                  `[{"prop:plan":"pro","events":1},{"prop:plan":"team","events":1}]`,
	"by=browser&metrics=visitors":                  `[{"browser":"Firefox","visitors":3},{"browser":"Safari","visitors":1}]`,
	"by=device&metrics=visitors":                   `[{"device":"desktop","visitors":3},{"device":"mobile","visitors":1}]`,
	"metrics=visitors&filter=page:contains:inside": `[{"visitors":0}]`,
	"metrics=bounce_rate&filter=source:is:Google":  `[{"bounce_rate":0}]`,
}

// day is the UTC day so many days from now.
func day(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }

func testLedger(t *testing.T, c *counted) {
	events, samples := c.ledger()
	if want := map[string]int{"ip": 5, "bot": 4, "host": 2}; !maps.Equal(events, want) {
		t.Errorf("left out: %v, want %v", events, want)
	}
	for _, want := range []string{"ip /from-inside " + firefox, "bot / " + googlebot, "host shop.example.evil.example/ " + firefox} {
		if !slices.Contains(samples, want) {
			t.Errorf("no sample %q in %q", want, samples)
		}
	}
	if all := strings.Join(samples, "\n"); len(samples) != 11 || strings.Contains(all, "203.0.113") || strings.Contains(all, "secret") {
		t.Errorf("%d samples:\n%s", len(samples), all)
	}
}

// A change of a website's fields, its deletion and its restoration act on the next hits within a second.
func TestCountedChanges(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"--data", t.TempDir()})
	c := count(t, p, programKey, "https://changing.example")
	const visitor = "198.51.100.1"
	reported := func(headers ...string) func() string {
		return func() string {
			return c.dropped(report(p.analytics, visitor, c.own("https://changing.example/", ""), headers...))
		}
	}
	person, bot := reported(), reported("User-Agent", googlebot)
	for _, test := range []struct {
		method, path, fields string
		hit                  func() string
		before, after        string
	}{
		{"PUT", "", "exclude_bots=0", bot, "bot", ""},
		{"PUT", "", "exclude_bots=1", bot, "", "bot"},
		{"PUT", "", "exclude_ips=" + visitor, person, "", "ip"},
		{"PUT", "", "exclude_ips=", person, "ip", ""},
		{"PUT", "", "url=https://moved.example", person, "", "host"},
		{"PUT", "", "url=https://changing.example", person, "host", ""},
		{"DELETE", "", "", person, "", "site"},
		{"POST", "restore", "", person, "site", ""},
	} {
		if got := test.hit(); got != test.before {
			t.Errorf("before %s %s: left out for %q, not %q", test.method, test.fields, got, test.before)
		}
		address := c.address("")
		if test.path == "restore" {
			address = fmt.Sprintf("%s/api/v1/trash/website/%d/restore", p.analytics, c.id)
		}
		demandStatus(t, 200, programKey, test.method, address, test.fields)
		actsSoon(t, test.method+" "+test.fields+test.path+" does not act", func() bool { return test.hit() == test.after })
	}
	demandStatus(t, 200, programKey, "PUT", c.address(""), "exclude_params=%26")
	number := 0
	actsSoon(t, "exclude_params does not act", func() bool {
		number++
		name := fmt.Sprint("try ", number)
		report(p.analytics, visitor, c.own("https://changing.example/list?page=2", fmt.Sprintf(`,"n":%q`, name)))
		return slices.ContainsFunc(c.settled(), func(e exported) bool { return e.Name == name && e.Page == "/list" })
	})
}
