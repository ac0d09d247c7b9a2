package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sightline/client"
	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/store/memory"
	"sightline/internal/web"
)

// A counter is a server in this process that keeps events, and a way to call the program with its address.
type counter struct {
	*testing.T
	address, key string
	fail         func(r *http.Request) bool // answers such a request with 500
}

func startCounter(t *testing.T) *counter {
	t.Helper()
	catalog, c := memory.Open(), &counter{T: t, key: "a-key-of-my-own-choice", fail: func(*http.Request) bool { return false }}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.fail(r) {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	owner := account.New("owner@localhost", now)
	if _, err := catalog.CreateOwner(t.Context(), &owner, &account.Key{Hash: account.HashSecret(c.key), Scopes: account.AllScopes(), CreatedAt: now}); err != nil {
		t.Fatal(err)
	}
	site := analytics.NewWebsite(owner.ID, now)
	if err := site.SetURL("https://example.com"); err != nil {
		t.Fatal(err)
	}
	if err := catalog.CreateWebsite(t.Context(), &site, nil); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now }
	place := &web.Place{URL: base}
	handler = (&web.Server{SEO: &web.Place{URL: base}, Analytics: place, Catalog: catalog, Gate: account.NewGate(catalog, clock), Events: memory.OpenEvents(clock),
		Version: "test", Now: clock, Log: slog.New(slog.DiscardHandler)}).Handler(place)
	c.address = server.URL
	return c
}

// run calls the program, which must exit with a code.
func (c *counter) run(code int, stdin string, args ...string) (stdout, stderr string) {
	c.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--analytics-url", c.address, "--api-key", c.key)
	if got := run(c.Context(), args, func(string) string { return "" }, &terminal{strings.NewReader(stdin), &out, &errs, func() time.Time { return now }}); got != code {
		c.Errorf("%v exits with %d, want %d: %s", args, got, code, &errs)
	}
	return out.String(), errs.String()
}

// line is a page view on the day before now.
func line(at time.Duration, visitor int, page string) string {
	return fmt.Sprintf(`{"at":"%s","kind":"pageview","page":"%s","visitor":"%016x","visit":"%016[3]x"}`+"\n", now.Add(at).Format(time.RFC3339), page, visitor)
}

func TestStatsCommand(t *testing.T) {
	c := startCounter(t)
	file := line(-24*time.Hour, 1, "/") + line(-23*time.Hour, 1, "/\\u001b[31mred") + line(-2*time.Hour, 2, "/") + line(-time.Hour, 3, "/")
	if out, _ := c.run(exitDone, file, "import", "1", "-"); out != "4 events are stored, 0 were there already.\n" {
		t.Errorf("import: %s", out)
	}
	today, yesterday := now.Format(time.DateOnly), now.AddDate(0, 0, -1).Format(time.DateOnly)
	for _, test := range []struct {
		args, want string
	}{
		{"stats 1", `
VISITORS  PAGEVIEWS
       3          4
`},
		{"stats 1 --by page --from 7d", `
PAGE       VISITORS  PAGEVIEWS
/                 3          3  ████████████████████████
/�[31mred         1          1  ████████
total             3          4
`},
		{"stats 1 --by day --from 2d --metrics visitors,bounce_rate,visit_duration", fmt.Sprintf(`
visitors  ▄█

DAY         VISITORS  BOUNCE RATE  VISIT DURATION
%s         1          0 %%          1h0m0s  ████████████
%s         2        100 %%              0s  ████████████████████████
total              3      66.67 %%           20m0s
`, yesterday, today)},
		{"stats 1 --by page --from today --compare previous_period --filter page:is:/", `
PAGE   VISITORS  PAGEVIEWS  CHANGE
/             2          2  +100 %  ████████████████████████
total         2          2  +100 %
`},
		{"stats 1 --by source --metrics visits", `
SOURCE  VISITS
(none)       3  ████████████████████████
total        3
`},
	} {
		if out, _ := c.run(exitDone, "", strings.Fields(test.args)...); out != strings.TrimPrefix(test.want, "\n") {
			t.Errorf("%s:\n%swant\n%s", test.args, out, test.want)
		}
	}
	if out, _ := c.run(exitDone, "", "stats", "1", "--json"); !strings.HasPrefix(out, `{"data":[{"visitors":3,"pageviews":4}],"totals":`) {
		t.Errorf("--json: %s", out)
	}
	if _, note := c.run(exitDone, "", "stats", "1", "--by", "page", "--limit", "1", "--from", today, "--to", today); note != today+" to "+today+", UTC.\n" {
		t.Errorf("note: %s", note)
	}
	if _, note := c.run(exitDone, "", "stats", "1", "--by", "page", "--limit", "1"); !strings.Contains(note, "Page 1 of 2, 2 rows in all") {
		t.Errorf("note: %s", note)
	}
	if _, complaint := c.run(exitFailed, "", "stats", "1", "--by", "colour"); !strings.HasPrefix(complaint, "sightline: website 1: by must be one of time,") {
		t.Errorf("complaint: %s", complaint)
	}
	if out, _ := c.run(exitDone, "", "events", "compact"); out != "The events are compacted. It took 0.0 s.\n" {
		t.Errorf("compact: %s", out)
	}
}

func TestExportCommand(t *testing.T) {
	c := startCounter(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "visits.ndjson")
	c.run(exitDone, line(-time.Hour, 1, "/"), "import", "1", "-")
	if _, note := c.run(exitDone, "", "export", "1", "--format", "ndjson", "--output", name); !strings.HasPrefix(note, "Exported the events of website 1 into ") {
		t.Errorf("note: %s", note)
	}
	out, _ := c.run(exitDone, "", "export", "1", "--format", "ndjson")
	if content, err := os.ReadFile(name); err != nil || string(content) != out || strings.Count(out, "\n") != 1 {
		t.Errorf("%s, %v, on standard output %s", content, err, out)
	}
	if _, complaint := c.run(exitFailed, "", "export", "1", "--output", name); !strings.Contains(complaint, "exists already") {
		t.Errorf("complaint: %s", complaint)
	}
	if out, _ := c.run(exitDone, "", "export", "1", "--from", "2020-01-01", "--to", "2020-01-02"); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "at,kind,") {
		t.Errorf("an empty table: %s", out)
	}
	c.run(exitFailed, "", "export", "7", "--output", filepath.Join(dir, "none.csv"))
	if left, err := filepath.Glob(filepath.Join(dir, "none*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A large file goes in pieces. Bad lines are named by their numbers in the file, and an import that broke off goes on.
func TestImportCommand(t *testing.T) {
	c := startCounter(t)
	var content strings.Builder
	long := strings.Repeat("x", 2000)
	const lines = 3000 // 6 MB, three pieces
	for i := range lines {
		content.WriteString(line(-time.Duration(lines-i/2)*time.Second, i%2, "/"+long)) // two in each second
	}
	name := filepath.Join(t.TempDir(), "visits.ndjson")
	if err := os.WriteFile(name, []byte(content.String()+"{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, complaint := c.run(exitFailed, "", "import", "1", name)
	if !strings.HasPrefix(complaint, "sightline: line 3001: at must be a time") || !strings.Contains(complaint, "the lines before ") {
		t.Errorf("complaint: %s", complaint)
	}
	if err := os.WriteFile(name, []byte(content.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := 0
	c.fail = func(r *http.Request) bool { calls++; return calls == 2 }
	_, complaint = c.run(exitFailed, "", "import", "1", name)
	var from int
	if _, rest, found := strings.Cut(complaint, "--from-line "); !found {
		t.Errorf("complaint: %s", complaint)
	} else if _, err := fmt.Sscan(rest, &from); err != nil || from < 900 || from > 1100 || from%2 != 1 { // never between events of the same second
		t.Errorf("go on from line %d: %s", from, complaint)
	}
	out, _ := c.run(exitDone, "", "import", "1", name, "--from-line", fmt.Sprint(from), "--json")
	var stored, known int
	if _, err := fmt.Sscanf(out, `{"stored":%d,"known":%d}`, &stored, &known); err != nil || stored+known != lines-from+1 {
		t.Errorf("%s, %v", out, err)
	}
	if out, _ := c.run(exitDone, "", "import", "1", name); out != "0 events are stored, 3000 were there already.\n" {
		t.Errorf("the second time: %s", out)
	}
	if out, _ := c.run(exitDone, "", "stats", "1", "--metrics", "pageviews", "--json"); !strings.Contains(out, `"totals":{"pageviews":3000}`) {
		t.Errorf("stored: %s", out)
	}
	for _, test := range []struct{ stdin, want string }{
		{"x\n", "sightline: line 1: line is not one JSON object\n"},
		{strings.Repeat("x", 1<<20+1), "sightline: line 1: is longer than 1024 KiB\n"},
	} {
		if _, complaint := c.run(exitFailed, test.stdin, "import", "1", "-"); complaint != test.want {
			t.Errorf("complaint: %s", complaint)
		}
	}
	if _, complaint := c.run(exitFailed, "", "import", "1", "no such file"); !strings.HasPrefix(complaint, "sightline: cannot read no such file: ") {
		t.Errorf("complaint: %s", complaint)
	}
	if _, complaint := c.run(exitFailed, line(-time.Hour, 1, "/"), "import", "7", "-"); complaint != "sightline: website 7: There is no such record.\n" {
		t.Errorf("complaint: %s", complaint)
	}
}

func TestBars(t *testing.T) {
	for _, test := range []struct {
		value, most float64
		want        string
	}{{0, 10, ""}, {10, 10, strings.Repeat("█", 24)}, {1, 1e6, "▏"}, {1, 48, "▌"}, {5, 10, strings.Repeat("█", 12)}, {0, 0, ""}, {-1, 5, ""}} {
		if got := bar(test.value, test.most); got != test.want {
			t.Errorf("bar(%v, %v) = %q, want %q", test.value, test.most, got, test.want)
		}
	}
	stats := client.Stats{Metrics: []string{"visits"}}
	for i := range 120 {
		stats.Items = append(stats.Items, client.StatsRow{Metrics: client.Metrics{"visits": float64(i)}})
	}
	if got := []rune(sparkline(stats)); len(got) != 60 || got[0] != '▁' || got[59] != '█' {
		t.Errorf("sparkline %s", string(got))
	}
}
