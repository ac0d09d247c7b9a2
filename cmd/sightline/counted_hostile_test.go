package main

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile are texts that something else might take for more than text.
var hostile = []string{
	`'; DROP TABLE events; --`, `" OR 1=1 --`, `') UNION SELECT 1 --`, `$1 ? :name %s %n`, `\'; \" \\`,
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `{{7*7}}${7*7}`, `../../../etc/passwd`,
	`=1+1`, `+cmd|' /C calc'!A0`, `@SUM(1)`, "-2+3", "\t=1", "＝1+1",
	"nul\x00inside", "bell\x07 escape\x1b[31m", "line\r\nSet-Cookie: a=b", "\u2028\u2029\u0085",
	"\u202egnp.exe", "عربى \u200f\u2067", "e\u0301 \u1e9b\u0323 \ufeff", "👩‍👩‍👧‍👦", "\U0010ffff",
}

// S7, the side of the input: whatever is in a report is stored and returned as it was, and nothing takes it for more than text.
func TestCountedHostileText(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"--data", t.TempDir()})
	c := count(t, p, programKey, "https://hostile.example")
	for _, text := range hostile {
		escaped := url.QueryEscape(text)
		body := must(json.Marshal(map[string]any{"s": c.tracking, "n": "n" + text, "u": "https://hostile.example/" + text + "x?utm_source=" + escaped + "&utm_campaign=c" + escaped,
			"r": "https://from.example/" + url.PathEscape(text), "p": map[string]string{"k" + text: "v" + text}}))(t)
		if reason := c.dropped(report(p.analytics, "198.51.100.1", string(body))); reason != "" {
			t.Errorf("%q is left out: %s", text, reason)
		}
	}
	stored := c.settled()
	if len(stored) != len(hostile) {
		t.Fatalf("%d events are stored of %d", len(stored), len(hostile))
	}
	for i, event := range stored { // in the order in which they came
		text := hostile[i]
		if event.Name != "n"+text || !strings.HasPrefix(event.Page, "/"+strings.SplitN(text, "?", 2)[0]) || event.Props["k"+text] != "v"+text {
			t.Errorf("%q is stored as %+v", text, event)
		}
		if !strings.ContainsFunc(text, unicode.IsControl) { // which are refused in questions
			c.findHostile(text)
		}
	}
	first := stored[0]
	if first.UTMSource != hostile[0] || first.UTMCampaign != "c"+hostile[0] || first.Source != hostile[0] || first.Referrer != "https://from.example/"+url.PathEscape(hostile[0]) {
		t.Errorf("the origin of the visit is %+v", first)
	}
	testTable(t, c)
}

// findHostile asks for events by their names and properties, as a dashboard would.
func (c *counted) findHostile(text string) {
	c.Helper()
	literal := strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(text)
	for _, filter := range []string{"event:is:n" + literal, "event:contains:" + literal} {
		var rows []map[string]any
		if err := json.Unmarshal([]byte(c.stats("metrics=events&by=event&filter="+url.QueryEscape(filter))), &rows); err != nil {
			c.Fatal(err)
		}
		if !slices.ContainsFunc(rows, func(row map[string]any) bool { return row["event"] == "n"+text && row["events"] == 1.0 }) {
			c.Errorf("%q finds %v", filter, rows)
		}
	}
}

// testTable looks for cells that a spreadsheet would run.
func testTable(t *testing.T, c *counted) {
	table := demandStatus(t, 200, programKey, "GET", c.address("/export?format=csv"), "").body
	if !utf8.ValidString(table) {
		t.Error("the table is not valid UTF-8")
	}
	for _, formula := range []string{`,=1+1`, `,"=1`, `,+cmd`, `,"+cmd`, `,@SUM`, `,-2+3,`, `,"` + "\t"} {
		if strings.Contains(table, formula) {
			t.Errorf("the table has a formula: %s", formula)
		}
	}
}

// What is too long is cut or refused, and what is no text is repaired or refused; nothing of it ends in an error of the program.
func TestCountedOddReports(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"--data", t.TempDir()})
	c := count(t, p, programKey, "https://odd.example")
	long := strings.Repeat("ü", 3000)
	for _, test := range []struct {
		name, body string
		status     int
	}{
		{"a long page", c.own("https://odd.example/"+long, `,"n":"long page"`), 202},
		{"a long referrer", c.own("https://odd.example/", `,"n":"long referrer","r":"https://from.example/`+long+`"`), 202},
		{"a long campaign", c.own("https://odd.example/?utm_source="+long, `,"n":"long campaign"`), 202},
		{"a long name", c.own("https://odd.example/", `,"n":"`+long+`"`), 400},
		{"a long property", c.own("https://odd.example/", `,"n":"property","p":{"a":"`+long+`"}`), 400},
		{"invalid UTF-8", `{"s":"` + c.tracking + `","u":"https://odd.example/` + "a\xffb\xc3" + `","n":"broken` + "\xfe" + `"}`, 202},
		{"half a surrogate", `{"s":"` + c.tracking + `","u":"https://odd.example/\ud800","n":"half\udfff"}`, 202},
		{"a huge number", c.own("https://odd.example/", `,"n":"huge","v":1e400`), 400},
		{"too large a body", c.own("https://odd.example/"+strings.Repeat("x", 17<<10), ""), 413},
		{"no JSON", "\x00\x01\x02", 400},
		{"a list", "[]", 400},
		{"deep JSON", strings.Repeat("[", 8000), 400},
		{"nothing", "", 400},
	} {
		if got := report(p.analytics, "198.51.100.1", test.body); got.err != nil || got.status != test.status {
			t.Errorf("%s: %d %s %v", test.name, got.status, got.body, got.err)
		}
	}
	pages := map[string]string{}
	for _, event := range c.settled() {
		pages[event.Name] = event.Page
		if len(event.Page) > 2048 || len(event.Referrer) > 2048 || len(event.UTMSource) > 300 || !utf8.ValidString(event.Page+event.Name) {
			t.Errorf("stored: %+v", event)
		}
	}
	if len(pages) != 5 || pages["broken\ufffd"] != "/a\ufffdb\ufffd" || pages["half\ufffd"] != "/\ufffd" || len(pages["long page"]) < 2040 {
		t.Errorf("stored: %.300q", pages)
	}
}

// S13: who a hit comes from cannot be forged: neither to get around exclude_ips nor to be somebody else.
func TestCountedForgedAddresses(t *testing.T) {
	t.Parallel()
	const excluded, other = "203.0.113.9", "198.51.100.1"
	for _, test := range []struct {
		name    string
		flags   []string
		ips     string
		headers []string
		reason  string
	}{
		{"a proxy says who it is", nil, excluded, []string{"X-Forwarded-For", excluded}, "ip"},
		{"the caller put somebody else before", nil, excluded, []string{"X-Forwarded-For", other + ", " + excluded}, "ip"},
		{"the caller put an excluded one before", nil, excluded, []string{"X-Forwarded-For", excluded + ", " + other}, ""},
		{"a header that the proxy does not set", nil, excluded, []string{"X-Forwarded-For", other, "X-Real-IP", excluded, "Forwarded", "for=" + excluded}, ""},
		{"another header is the proxy's", []string{"--client-header", "X-Real-IP"}, excluded, []string{"X-Forwarded-For", other, "X-Real-IP", excluded}, "ip"},
		{"nobody is believed: not triggered", []string{"--trusted-proxies", "none"}, excluded, []string{"X-Forwarded-For", excluded}, ""},
		{"nobody is believed: not evaded", []string{"--trusted-proxies", "none"}, "127.0.0.1 ::1", []string{"X-Forwarded-For", other}, "ip"},
		{"the peer is no proxy", []string{"--trusted-proxies", "10.0.0.0/8"}, "127.0.0.1 ::1", []string{"X-Forwarded-For", other}, "ip"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, append([]string{"--data", t.TempDir()}, test.flags...))
			c := count(t, p, programKey, "https://forged.example", "exclude_ips", test.ips)
			if reason := c.dropped(report(p.analytics, other, c.own("https://forged.example/", ""), test.headers...)); reason != test.reason {
				t.Errorf("left out for %q, not %q", reason, test.reason)
			}
			// An address or agent inside the report counts only with a key.
			forged := c.own("https://forged.example/", `,"n":"inside","ip":"192.0.2.77","ua":"`+googlebot+`"`)
			if reason := c.dropped(report(p.analytics, other, forged, test.headers...)); reason != test.reason {
				t.Errorf("with an address inside it is left out for %q, not %q", reason, test.reason)
			}
			if test.reason == "" {
				if stored := c.settled(); len(stored) != 2 || stored[0].Visitor != stored[1].Visitor {
					t.Errorf("one caller is stored as %+v", stored)
				}
			}
		})
	}
}
