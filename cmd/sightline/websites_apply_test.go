package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sightline/client"
)

func TestSplit(t *testing.T) {
	many := func(n int, entry string) []json.RawMessage {
		entries := make([]json.RawMessage, n)
		for i := range entries {
			entries[i] = json.RawMessage(entry)
		}
		return entries
	}
	for _, c := range []struct {
		what    string
		entries []json.RawMessage
		want    string // first entry and number of entries of each batch
	}{
		{"nothing", nil, "0+0"},
		{"one", many(1, `{}`), "0+1"},
		{"a full one", many(1000, `{}`), "0+1000"},
		{"one more", many(1001, `{}`), "0+1000 1000+1"},
		{"many", many(2500, `{}`), "0+1000 1000+1000 2000+500"},
		{"passwords", many(120, `{"password":"secret"}`), "0+50 50+50 100+20"},
		{"no passwords", many(120, `{"password":""}`), "0+120"},
		{"removed passwords", many(120, `{"password":null}`), "0+120"},
		{"large ones", many(5, `{"url":"`+strings.Repeat("x", 400<<10)+`"}`), "0+2 2+2 4+1"},
		{"too large ones", many(2, `{"url":"`+strings.Repeat("x", 2<<20)+`"}`), "0+1 1+1"},
	} {
		var got []string
		for _, b := range split(c.entries) {
			got = append(got, fmt.Sprintf("%d+%d", b.first, len(b.entries)))
			if sent, err := json.Marshal(b.entries); err != nil || len(b.entries) > 1 && (len(sent) >= client.MaxApplyBytes || b.size < len(sent)) {
				t.Errorf("%s: %d bytes are sent, %d were foreseen, %v", c.what, len(sent), b.size, err)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func TestCheckTwins(t *testing.T) {
	entries := []json.RawMessage{[]byte(`{"url":"https://example.com"}`), []byte(`{"url":7}`), []byte(`{}`), []byte(`{"domain":"www.example.com"}`)}
	if err := checkTwins(entries[:3]); err != nil {
		t.Error(err)
	}
	if err := checkTwins(entries); err == nil || err.Error() != "entries 0 and 3 have the same domain example.com" {
		t.Errorf("got %v", err)
	}
}

func TestLocated(t *testing.T) {
	b := &batch{first: 1000, entries: []json.RawMessage{[]byte(`{"url":"https://a.example"}`), []byte(`{"privacy":3}`)}}
	refused := &client.Error{Status: 422, Fields: map[string][]string{"0.privacy": {"must be 0", "or 1"}, "1.url": {"is required"}, "dry_run": {"must be 0\x1b"}, "7.url": {"is odd"}}}
	const want = "dry_run must be 0\uFFFD; entry 1000 (https://a.example): privacy must be 0, or 1; entry 1001 (): url is required; 7.url is odd"
	if got := b.located(refused).Error(); got != want {
		t.Errorf("got %s", got)
	}
	for i := range 9 {
		refused.Fields[fmt.Sprintf("1.%d", i)] = []string{"is bad"}
	}
	if got := b.located(refused).Error(); !strings.HasSuffix(got, "; and 8 more") {
		t.Errorf("got %s", got)
	}
}

func TestWriteDifference(t *testing.T) {
	old := client.Website{ID: 1, URL: "https://example.com", Privacy: client.Private, ExcludeBots: true, ExcludeParams: "a\nb", UpdatedAt: now}
	changed := old
	changed.URL, changed.Privacy, changed.HasPassword, changed.Email, changed.ExcludeBots = "http://example.com/x", client.Password, true, true, false
	changed.ExcludeParams, changed.ExcludeIPs, changed.UpdatedAt = "", "10.0.0.1", now.Add(time.Hour)
	later := old
	later.UpdatedAt = now.Add(time.Hour)
	rewritten := old
	rewritten.ExcludeParams = "a, b"
	var out bytes.Buffer
	after := []client.Website{old, changed, later, rewritten, {ID: 2, URL: "https://new.example"}, {URL: "https://newer.example\x1b[2J"}}
	if err := writeDifference(&out, map[int64]client.Website{1: old}, after); err != nil {
		t.Fatal(err)
	}
	const want = `= https://example.com
~ http://example.com/x  url: https://example.com → http://example.com/x; privacy: private → password; password: none → set; email: no → yes; exclude_bots: yes → no; exclude_params: a, b → none; exclude_ips: none → 10.0.0.1
~ https://example.com  password: set → another
~ https://example.com  exclude_params: a, b → a, b
+ https://new.example
+ https://newer.example` + "\uFFFD[2J\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
