package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What visitors browse with, in tests of the program.
const (
	firefox   = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	iphone    = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// A counted is a website of a running program whose visits tests report.
type counted struct {
	*testing.T
	*program
	id       int64
	tracking string
}

// count creates a website.
func count(t *testing.T, p *program, key, address string, fields ...string) *counted {
	t.Helper()
	form := url.Values{"url": {address}}
	for ; len(fields) > 1; fields = fields[2:] {
		form.Set(fields[0], fields[1])
	}
	got := demandStatus(t, 201, key, "POST", p.analytics+"/api/v1/websites", form.Encode())
	var document struct {
		Data struct {
			ID         int64
			TrackingID string `json:"tracking_id"`
		}
	}
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		t.Fatal(err)
	}
	return &counted{t, p, document.Data.ID, document.Data.TrackingID}
}

// report sends a report as the browser of the visitor at an address does; loopback is believed about that. Headers are NAME, VALUE, ….
func report(base, visitor, body string, headers ...string) reply {
	return ask("", "POST", base+"/api/event", body, append([]string{"Authorization", "", "Content-Type", "text/plain", "User-Agent", firefox,
		"X-Forwarded-For", visitor}, headers...)...)
}

// own is a report in our format: the page of a website, and more fields as JSON.
func (c *counted) own(page, fields string) string {
	return fmt.Sprintf(`{"s":%q,"u":%q%s}`, c.tracking, page, fields)
}

// dropped is why a report in our format was left out; empty if it was counted.
func (c *counted) dropped(got reply) string {
	c.Helper()
	if got.err != nil || got.status != 202 || got.body != "ok" {
		c.Fatalf("report: %d %s %v", got.status, got.body, got.err)
	}
	return got.header.Get("X-Sightline-Dropped")
}

// address is that of an operation on the website.
func (c *counted) address(rest string) string {
	return fmt.Sprintf("%s/api/v1/websites/%d%s", c.analytics, c.id, rest)
}

// stats asks for the data of a question.
func (c *counted) stats(query string) string {
	c.Helper()
	got := demandStatus(c.T, 200, programKey, "GET", c.address("/stats?"+query), "")
	var document struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		c.Fatal(err)
	}
	return string(document.Data)
}

// shown is how soon accepted hits are in the statistics.
const shown = 2 * time.Second

// awaitStats waits until a question has an answer. It is given more time than promised, for a machine that is busy.
func (c *counted) awaitStats(query, want string) {
	c.Helper()
	since := time.Now()
	for {
		began := time.Now()
		got := c.stats(query)
		if got == want {
			c.Logf("%s shows after %v", query, began.Sub(since).Round(time.Millisecond))
			return
		}
		if began.Sub(since) > shown+slack {
			c.Fatalf("%s: %s, want %s", query, got, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// An exported is what tests look at of an event.
type exported struct {
	Kind, Name, Page, Referrer, Source, Country string
	UTMSource                                   string `json:"utm_source"`
	UTMCampaign                                 string `json:"utm_campaign"`
	Props                                       map[string]string
	Visitor                                     string
}

// events exports everything that is stored of the website.
func (c *counted) events() (list []exported) {
	c.Helper()
	got := demandStatus(c.T, 200, programKey, "GET", c.address("/export?format=ndjson"), "")
	lines := bufio.NewScanner(strings.NewReader(got.body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event exported
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			c.Fatalf("%s: %v", lines.Text(), err)
		}
		list = append(list, event)
	}
	if err := lines.Err(); err != nil {
		c.Fatal(err)
	}
	return list
}

// settled waits until everything that was accepted is stored, and returns it. The spool keeps the order: when the last hit is stored, so
// are all before it.
func (c *counted) settled() []exported {
	c.Helper()
	last := fmt.Sprintf("last %d", time.Now().UnixNano())
	if reason := c.dropped(report(c.analytics, "198.51.100.250", fmt.Sprintf(`{"s":%q,"n":%q}`, c.tracking, last))); reason != "" {
		c.Fatalf("the last hit is left out: %s", reason)
	}
	c.awaitStats("metrics=events&filter="+url.QueryEscape("event:is:"+last), `[{"events":1}]`)
	var list []exported
	for _, event := range c.events() {
		if !strings.HasPrefix(event.Name, "last ") {
			list = append(list, event)
		}
	}
	return list
}

// ledger sums up what was left out, by reason, as the exclusion ledger has it.
func (c *counted) ledger() (events map[string]int, samples []string) {
	c.Helper()
	got := demandStatus(c.T, 200, programKey, "GET", c.address("/exclusions"), "")
	var document struct {
		Data []struct {
			Reason string
			Events int
		}
		Samples []struct{ Reason, Page, Agent string }
	}
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		c.Fatal(err)
	}
	events = map[string]int{}
	for _, row := range document.Data {
		events[row.Reason] += row.Events
	}
	for _, sample := range document.Samples {
		samples = append(samples, sample.Reason+" "+sample.Page+" "+sample.Agent)
	}
	return events, samples
}

// actsSoon tries until something holds: a try that begins more than a second after now must hold.
func actsSoon(t *testing.T, wrong string, holds func() bool) {
	t.Helper()
	since := time.Now()
	for {
		began := time.Now()
		if holds() {
			t.Logf("acts after %v", began.Sub(since).Round(time.Millisecond))
			return
		}
		if began.Sub(since) > time.Second {
			t.Fatalf("%s %v later", wrong, began.Sub(since).Round(time.Millisecond))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
