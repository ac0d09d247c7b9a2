package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/web/analyticsapi"
)

// hostile are texts that something on their way might take for more than text.
var hostile = []string{"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", `=HYPERLINK("http://evil.example","x")`, "a\r\nb", `"quoted", with a comma`, "'",
	"<script>alert(1)</script>", "\u2028\u2029", "x\x00y", "\u202eabc", "🦊", "';DROP TABLE events--", `\u0000`, "{{7*7}}", "%00", strings.Repeat("x", analytics.MaxText)}

// everything is an event with something in every field.
func everything(t *testing.T) analytics.Event {
	t.Helper()
	return analytics.Event{Website: 1, At: at(t, "2026-11-10T10:00:00.123Z"), Visitor: 1<<64 - 1, Visit: 1, Kind: analytics.Custom, Name: "buy", Page: "/p?a=b", Hostname: "www.example.com",
		Origin: analytics.Origin{Referrer: "https://r.example/x", Source: "R", Channel: "referral", UTMSource: "a", UTMMedium: "b", UTMCampaign: "c", UTMContent: "d", UTMTerm: "e"},
		Place:  analytics.Place{Country: "DE", Region: "BE", City: "Berlin"},
		Agent:  analytics.Agent{Language: "de", Browser: "Firefox", BrowserVersion: "144", OS: "Linux", OSVersion: "6", Device: analytics.Desktop, Screen: "1920x1080"},
		Value:  -12.5, Unit: "EUR", Props: map[string]string{"plan": "=pro", "": "dropped"}, Engagement: 1500 * time.Millisecond, Depth: 100}
}

func (s *server) stored(website int64) []analytics.Event {
	s.Helper()
	var list []analytics.Event
	for event, err := range s.events.Events(s.Context(), website, time.Unix(0, 0), start.AddDate(1, 0, 0)) {
		if err != nil {
			s.Fatal(err)
		}
		event.Website = 0
		list = append(list, event)
	}
	return list
}

// What was exported as NDJSON can be imported, and is then the same; a second import stores nothing.
func TestExportAndImport(t *testing.T) {
	s := counting(t)
	s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://copy.example"), 201)
	twin := view(t, "2026-11-12T10:00:00Z", 5, "/", "")
	s.keep(everything(t), twin, twin)
	for i, text := range hostile {
		event := view(t, "2026-11-13T10:00:00Z", uint64(i+10), text, "")
		event.Referrer, event.Props = text, map[string]string{"x": text[:min(len(text), 100)]}
		s.keep(event)
	}
	file := s.want(s.do("GET", s.analytics+"/api/v1/websites/1/export?format=ndjson", "", "Authorization: Bearer "+s.key, "Accept: text/plain"), 200)
	if lines := strings.Count(file.body, "\n"); lines != 3+len(hostile) || file.header.Get("Content-Disposition") != `attachment; filename="website-1.ndjson"` {
		t.Errorf("%d lines, headers %v", lines, file.header)
	}
	first, _, _ := strings.Cut(file.body, "\n")
	if want := `{"at":"2026-11-10T10:00:00.123Z","kind":"event","name":"buy","page":"/p?a=b","hostname":"www.example.com","visitor":"ffffffffffffffff","visit":"0000000000000001",` +
		`"referrer":"https://r.example/x","source":"R","channel":"referral","utm_source":"a","utm_medium":"b","utm_campaign":"c","utm_content":"d","utm_term":"e",` +
		`"country":"DE","region":"BE","city":"Berlin","language":"de","browser":"Firefox","browser_version":"144","os":"Linux","os_version":"6","device":"desktop","screen":"1920x1080",` +
		`"value":-12.5,"unit":"EUR","props":{"plan":"=pro"},"engagement_ms":1500,"scroll_depth":100}`; first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	send := func(body string, known int) {
		t.Helper()
		s.want(s.do("POST", s.analytics+"/api/v1/websites/2/import", body, "Authorization: Bearer "+s.key, lineType), 200,
			fmt.Sprintf(`{"stored":%d,"known":%d,"status":200}`, 3+len(hostile)-known, known))
	}
	half := strings.Join(strings.SplitAfter(file.body, "\n")[:2], "")
	s.want(s.do("POST", s.analytics+"/api/v1/websites/2/import", half, "Authorization: Bearer "+s.key, lineType), 200, `{"stored":2,"known":0,"status":200}`)
	send(file.body, 2) // the twin was there once
	if difference := cmp.Diff(s.stored(1), s.stored(2)); difference != "" {
		t.Errorf("the copy differs:\n%s", difference)
	}
	send("\n"+file.body+"\n\n", 3+len(hostile))
	if difference := cmp.Diff(s.stored(1), s.stored(2)); difference != "" {
		t.Errorf("after the second import:\n%s", difference)
	}
}

// No cell of the table is a formula, and nothing gets lost in it.
func TestExportCSV(t *testing.T) {
	s := counting(t)
	s.keep(everything(t))
	for i, text := range hostile {
		s.keep(view(t, "2026-11-13T10:00:00Z", uint64(i+1), text, ""))
	}
	file := s.want(s.form("GET", s.analytics+"/api/v1/websites/1/export", ""), 200)
	reader := csv.NewReader(strings.NewReader(strings.ReplaceAll(file.body, "\r\n", "\r\r\n"))) // the reader takes the first of two for part of the line break
	rows, err := reader.ReadAll()
	if err != nil || len(rows) != 2+len(hostile) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	page := slices.Index(rows[0], "page")
	for i, row := range rows[1:] {
		for j, cell := range row {
			if numeric := rows[0][j] == "value"; strings.IndexAny(cell, "=+-@\t\r\n＝＋－＠") == 0 && !numeric {
				t.Errorf("the cell %q of %s is a formula", cell, rows[0][j])
			}
		}
		if i > 0 && strings.TrimPrefix(row[page], "'") != hostile[i-1] && row[page] != hostile[i-1] {
			t.Errorf("got %q for %q", row[page], hostile[i-1])
		}
	}
	if got := strings.Join(rows[1], "|"); got != `2026-11-10T10:00:00.123Z|event|buy|/p?a=b|www.example.com|ffffffffffffffff|0000000000000001|https://r.example/x|R|referral|a|b|c|d|e|DE|BE|Berlin|de|Firefox|144|Linux|6|desktop|1920x1080|-12.5|EUR|{"plan":"=pro"}|1500|100` {
		t.Errorf("row %s", got)
	}
}

func TestExportRange(t *testing.T) {
	s := november(t)
	address := s.analytics + "/api/v1/websites/1/export?format=ndjson"
	for query, lines := range map[string]int{
		"": 7, "&from=2026-11-11": 2, "&to=2026-11-10": 5, "&from=2026-11-10&to=2026-11-10": 4, "&from=2026-11-11&to=2026-11-11&timezone=Europe/Berlin": 3, "&from=today": 0,
	} {
		if got := s.want(s.form("GET", address+query, ""), 200); strings.Count(got.body, "\n") != lines {
			t.Errorf("%s: %d lines, want %d", query, strings.Count(got.body, "\n"), lines)
		}
	}
	s.want(s.form("GET", s.analytics+"/api/v1/websites/1/export?format=xml&from=x&timezone=y", ""), 422, `"format":["must be csv or ndjson"]`, `"from":[`, `"timezone":[`)
	if head := s.want(s.form("HEAD", address, ""), 200); !strings.HasPrefix(head.header.Get("Content-Type"), "application/x-ndjson") || head.body != "" {
		t.Errorf("HEAD: %v %s", head.header, head.body)
	}
}

func TestImportRefused(t *testing.T) {
	const good = `{"at":"2026-11-10T10:00:00Z","kind":"pageview","visitor":"00000000000000aa","visit":"00000000000000aa","page":"/"}`
	with := func(fields string) string { return strings.Replace(good, `"page":"/"`, fields, 1) }
	s := counting(t)
	address := s.analytics + "/api/v1/websites/1/import"
	send := func(body string) answer {
		return s.do("POST", address, body, "Authorization: Bearer "+s.key, lineType)
	}
	for _, test := range []struct{ line, field string }{
		{"{}", "at"}, {"{}", "kind"}, {"{}", "visitor"}, {"{}", "visit"},
		{"[]", "line"}, {"nonsense", "line"}, {good + good, "line"}, {good[:20], "line"}, {"\xff" + good, "line"}, {with(`"page":"\ud800"`), "line"},
		{with(`"colour":"red"`), "line"}, {with(`"Page":"/"`), "line"}, {with(`"page":"/","page":"/"`), "page"}, {with(`"page":7`), "page"},
		{strings.Replace(good, "2026", "1969", 1), "at"}, {strings.Replace(good, "2026-11-10", "2026-11-16", 1), "at"}, {strings.Replace(good, "T10", " 10", 1), "at"},
		{strings.Replace(good, "pageview", "view", 1), "kind"}, {strings.Replace(good, "pageview", "event", 1), "name"},
		{strings.Replace(good, "00aa", "00ag", 1), "visitor"}, {strings.Replace(good, "00aa", "aa", 1), "visitor"},
		{with(`"page":"` + strings.Repeat("x", 2049) + `"`), "page"}, {with(`"country":"de"`), "country"}, {with(`"device":"phone"`), "device"},
		{with(`"value":"7"`), "value"}, {with(`"value":1e999`), "value"}, {with(`"props":["x"]`), "props"}, {with(`"props":{"x":7}`), "props"}, {with(`"props":{"x":""}`), "props"},
		{with(`"engagement_ms":-1`), "engagement_ms"}, {with(`"engagement_ms":1.5`), "engagement_ms"}, {with(`"scroll_depth":101`), "scroll_depth"},
	} {
		s.want(send(good+"\n\n"+test.line+"\n"), 422, `"3.`+test.field+`":[`)
	}
	many := s.want(send(strings.Repeat("x\n", 200)), 422)
	if named, _ := many.field("errors").(map[string]any); len(named) != 100 {
		t.Errorf("%d bad lines are named, want 100", len(named))
	}
	s.want(send(strings.Repeat(good+"\n", 5<<20/len(good))), 413, "4096 KiB")
	s.want(send(good+"\n"+with(`"page":"`+strings.Repeat("x", 1<<20)+`"`)), 422, `"2.line":["must be at most 1024 KiB"]`)
	s.want(s.do("POST", address, good, "Authorization: Bearer "+s.key, jsonType), 415)
	s.want(s.do("POST", address, good, "Authorization: Bearer "+s.key, lineType, "Content-Encoding: gzip"), 415)
	s.want(s.do("POST", s.analytics+"/api/v1/websites/9/import", good, "Authorization: Bearer "+s.key, lineType), 404)
	if left := s.stored(1); len(left) != 0 {
		t.Errorf("refused requests stored %d events", len(left))
	}
	s.want(send(with(`"page":null,"props":{},"value":0`)), 200, `"stored":1`)
}

// broken is a store of events that fails after some of them.
type broken struct {
	analyticsapi.Store
	after int
}

func (b broken) Events(context.Context, int64, time.Time, time.Time) iter.Seq2[analytics.Event, error] {
	return func(yield func(analytics.Event, error) bool) {
		for i := range b.after {
			if !yield(analytics.Event{Kind: analytics.PageView, Page: strings.Repeat("x", 1000), Visitor: uint64(i)}, nil) {
				return
			}
		}
		yield(analytics.Event{}, errors.New("the disk broke"))
	}
}

// A caller notices when an export breaks off: by the status, or by an end that is missing.
func TestExportBreaksOff(t *testing.T) {
	for after, want := range map[int]string{0: "500", 1000: "unexpected EOF"} {
		s := serveWith(t, func(s *server) { s.web.Events = broken{s.events, after} })
		s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com"), 201)
		request, err := http.NewRequestWithContext(t.Context(), "GET", s.analytics+"/api/v1/websites/1/export?format=ndjson", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+s.key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		if got := fmt.Sprint(response.StatusCode, err); !strings.Contains(got, want) || after == 0 && !json.Valid(content) {
			t.Errorf("after %d events: %s, want %s", after, got, want)
		}
		if !strings.Contains(s.log.String(), "the disk broke") || !strings.Contains(s.log.String(), "msg=request route=\"GET /api/v1/websites/{id}/export\"") {
			t.Errorf("the log says %s", s.log)
		}
	}
}

// A server that keeps no events says so.
func TestStatsWithoutEvents(t *testing.T) {
	s := serveWith(t, func(s *server) { s.web.Events = nil })
	s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com"), 201)
	for _, path := range []string{"websites/1/stats", "stats/1?name=page", "websites/1/realtime", "websites/1/exclusions", "websites/1/export", "websites/7/stats"} {
		s.want(s.form("GET", s.analytics+"/api/v1/"+path, ""), 503, "This server keeps no events, so it knows no visits: it runs with --events none, or was built without cgo.")
	}
	s.want(s.do("POST", s.analytics+"/api/v1/websites/1/import", "", "Authorization: Bearer "+s.key, lineType), 503)
	s.want(s.form("POST", s.analytics+"/api/v1/events/compact", ""), 503)
}

func TestCompact(t *testing.T) {
	s := counting(t)
	s.want(s.form("POST", s.analytics+"/api/v1/events/compact", ""), 200, `{"compacted":true,"status":200}`)
	_, stranger := s.account("other@example.com")
	s.want(s.do("POST", s.analytics+"/api/v1/events/compact", "", "Authorization: Bearer "+stranger), 403, "Only the account that was created first")
	writer := s.newKey(s.owner.ID, account.Scopes{account.AnalyticsWrite}, time.Time{})
	s.want(s.do("POST", s.analytics+"/api/v1/events/compact", "", "Authorization: Bearer "+writer), 403, "account:write")
}

// The same lines, sent many times at once, are stored once.
func TestImportsAtOnce(t *testing.T) {
	s := counting(t)
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, `{"at":"2026-11-10T10:%02d:00Z","kind":"pageview","visitor":"%016x","visit":"%016[2]x","page":"/"}`+"\n", i%60, i+1)
	}
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			s.want(s.do("POST", s.analytics+"/api/v1/websites/1/import", body.String(), "Authorization: Bearer "+s.key, lineType), 200)
		})
	}
	group.Wait()
	if stored := len(s.stored(1)); stored != 500 {
		t.Errorf("%d events are stored, want 500", stored)
	}
}
