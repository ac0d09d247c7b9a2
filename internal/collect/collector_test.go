package collect_test

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/trash"
)

func TestOutcomes(t *testing.T) {
	i := install(t)
	i.addWebsite(t, "https://other.example:8443")
	i.change(t, func(w *analytics.Website) { w.ExcludeIPs = "203.0.113.0/24 2001:db8::/32" })
	address := func(text string) func(*collect.Hit) {
		return func(h *collect.Hit) { h.Address = netip.MustParseAddr(text) }
	}
	url := func(text string) func(*collect.Hit) { return func(h *collect.Hit) { h.URL = text } }
	tests := []struct {
		name   string
		change func(*collect.Hit)
		want   collect.Reason
	}{
		{"a page view", func(*collect.Hit) {}, ""},
		{"of a subdomain", url("https://blog.example.com/"), ""},
		{"with www", url("https://WWW.example.com/"), ""},
		{"of another host", url("https://example.com.evil.example/"), collect.WrongURL},
		{"of another port", url("https://example.com:8443/"), collect.WrongURL},
		{"of no site", url("data:text/html,x"), collect.WrongURL},
		{"a path alone", url("/path"), ""},
		{"no address of a page", url(""), ""},
		{"an unknown tracking id", func(h *collect.Hit) { h.Site = "0000000000000000000000" }, collect.Unknown},
		{"a very long tracking id", func(h *collect.Hit) { h.Site = strings.Repeat("x", 10_000) }, collect.Unknown},
		{"found by its domain", func(h *collect.Hit) { h.Site, h.Domain = "", "www.Example.com" }, ""},
		{"found by the host of the page", func(h *collect.Hit) { h.Site = "" }, ""},
		{"found by host and port", func(h *collect.Hit) { h.Site, h.URL = "", "https://other.example:8443/a" }, ""},
		{"a subdomain alone", func(h *collect.Hit) { h.Site, h.URL = "", "https://blog.example.com/" }, collect.Unknown},
		{"a domain of nobody", func(h *collect.Hit) { h.Site, h.Domain = "", "nobody.example" }, collect.Unknown},
		{"nothing to find it by", func(h *collect.Hit) { h.Site, h.URL = "", "" }, collect.Unknown},
		{"an excluded address", address("203.0.113.7"), collect.Address},
		{"an excluded address inside IPv6", address("::ffff:203.0.113.7"), collect.Address},
		{"an excluded IPv6 address", address("2001:db8::1"), collect.Address},
		{"no address", func(h *collect.Hit) { h.Address = netip.Addr{} }, ""},
		{"a bot", func(h *collect.Hit) {
			h.Agent = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
		}, collect.Bot},
		{"no agent", func(h *collect.Hit) { h.Agent = "" }, collect.Bot},
		{"fetched ahead", func(h *collect.Hit) { h.Speculative = true }, collect.Bot},
		{"the host comes before the address", func(h *collect.Hit) { h.URL, h.Address = "https://x.example/", netip.MustParseAddr("203.0.113.7") }, collect.WrongURL},
		{"the address comes before the bot", func(h *collect.Hit) { h.Agent, h.Address = "", netip.MustParseAddr("203.0.113.7") }, collect.Address},
	}
	stored, dropped := 0, int64(0)
	for _, test := range tests {
		hit := i.hit()
		test.change(&hit)
		got := i.take(t, hit)
		if got.Dropped != test.want || got.Stored() != (test.want == "") || got.NoWebsite() != (test.want == collect.Unknown) {
			t.Errorf("%s: got %+v, want %q", test.name, got, test.want)
		}
		if got.Stored() && hit.URL != "https://other.example:8443/a" {
			stored++
		} else if test.want != collect.Unknown && !got.Stored() {
			dropped++
		}
	}
	i.stop(t)
	if got := len(i.stored(t, i.site.ID)); got != stored {
		t.Errorf("%d events are stored, want %d", got, stored)
	}
	reasons, _ := i.ledger(t)
	if want := map[string]int64{"host": 4, "ip": 4, "bot": 3}; !cmp.Equal(reasons, want) || dropped != 11 {
		t.Errorf("the ledger counts %v of %d, want %v", reasons, dropped, want)
	}
}

func TestStoredEvent(t *testing.T) {
	i := install(t)
	i.change(t, func(w *analytics.Website) { w.ExcludeParams = "session" })
	hit := collect.Hit{Site: i.site.TrackingID, Name: "signup", URL: "https://www.example.com/a?session=1&b=2&utm_source=news&utm_medium=email#x",
		Referrer: "https://mail.google.com/mail?secret", Screen: "1920x1080", Language: "en-US,en;q=0.9", Props: map[string]string{"plan": "pro", "": "x", "y": ""},
		Value: 9.5, Unit: "EUR", Engagement: 1500 * time.Millisecond, Depth: 300, Address: netip.MustParseAddr("88.198.1.1"), Agent: chrome}
	i.take(t, hit)
	i.stop(t)
	got := i.stored(t, i.site.ID)
	if len(got) != 1 || got[0].Visit == 0 || got[0].Visitor == 0 {
		t.Fatalf("got %+v", got)
	}
	want := analytics.Event{Website: i.site.ID, At: i.now(), Visitor: got[0].Visitor, Visit: got[0].Visit, Kind: analytics.Custom, Name: "signup",
		Page: "/a?b=2", Hostname: "example.com",
		Origin: analytics.Origin{Referrer: "https://mail.google.com/mail", Source: "news", Channel: "email", UTMSource: "news", UTMMedium: "email"},
		Place:  analytics.Place{Country: "DE"},
		Agent:  analytics.Agent{Language: "en", Browser: "Chrome", BrowserVersion: "126", OS: "Windows", OSVersion: "10", Device: "desktop", Screen: "1920x1080"},
		Value:  9.5, Unit: "EUR", Props: map[string]string{"plan": "pro"}, Engagement: 1500 * time.Millisecond, Depth: 100}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestLanguagesAndScreens(t *testing.T) {
	i := install(t)
	tests := []struct{ language, screen, wantLanguage, wantScreen string }{
		{"de", "390", "de", "390"}, {"pt_BR", "1920x1080", "pt", "1920x1080"}, {"EN-gb", "0x0", "en", ""}, {"", "", "", ""}, {"-", "x", "", ""},
		{"<b>", "1920x<b>", "", ""}, {"fil-PH", "1234567", "", ""}, {"*", "10x10x10", "", ""},
	}
	for _, test := range tests {
		hit := i.hit()
		hit.Language, hit.Screen = test.language, test.screen
		i.take(t, hit)
	}
	i.stop(t)
	for n, e := range i.stored(t, i.site.ID) {
		if e.Language != tests[n].wantLanguage || e.Screen != tests[n].wantScreen {
			t.Errorf("%+v became %q and %q", tests[n], e.Language, e.Screen)
		}
	}
}

func TestCountedBots(t *testing.T) {
	i := install(t)
	i.change(t, func(w *analytics.Website) { w.ExcludeBots = false })
	hit := i.hit()
	hit.Agent = "curl/8.5.0"
	if got := i.take(t, hit); !got.Stored() {
		t.Errorf("a bot on a website that counts them: %+v", got)
	}
	i.stop(t)
	if got := i.stored(t, i.site.ID); len(got) != 1 || got[0].Device != analytics.Bot {
		t.Errorf("stored %+v", got)
	}
}

// Hostile text is stored as it is; nothing of it is interpreted.
func TestHostileText(t *testing.T) {
	i := install(t)
	hostile := "<script>alert(1)</script>'\"; DROP TABLE events; -- \x00 =cmd|' /C calc'!A0 \r\nX: y {{7*7}} \u202e"
	hit := i.hit()
	hit.Name, hit.URL, hit.Unit, hit.Props = hostile, "https://example.com/"+hostile, hostile, map[string]string{hostile: hostile}
	i.take(t, hit)
	i.stop(t)
	got := i.stored(t, i.site.ID)
	if len(got) != 1 || got[0].Name != hostile || got[0].Page != "/"+hostile || got[0].Props[hostile] != hostile {
		t.Errorf("stored %+v", got)
	}
}

// Changes, deletions and restorations act within a second.
func TestChangesAct(t *testing.T) {
	i := install(t)
	want := func(reason collect.Reason) {
		t.Helper()
		if got := i.take(t, i.hit()); got.Dropped != reason {
			t.Errorf("got %q, want %q", got.Dropped, reason)
		}
	}
	want("")
	i.change(t, func(w *analytics.Website) { w.ExcludeIPs = "88.198.0.0/16" })
	want(collect.Address)
	i.change(t, func(w *analytics.Website) { w.ExcludeIPs = "" })
	want("")
	if err := i.catalog.DeleteWebsite(t.Context(), i.owner, i.site.ID, trash.Deletion{At: i.now()}); err != nil {
		t.Fatal(err)
	}
	i.clock.add(time.Second)
	want(collect.Unknown)
	var restored analytics.Website
	if err := i.catalog.RestoreWebsite(t.Context(), i.owner, i.site.ID, &restored, nil); err != nil {
		t.Fatal(err)
	}
	i.clock.add(time.Second)
	want("")
}

func TestSamplesOfTheLedger(t *testing.T) {
	i := install(t)
	i.change(t, func(w *analytics.Website) { w.ExcludeParams, w.ExcludeIPs = "token", "203.0.113.0/24" })
	for _, change := range []func(*collect.Hit){
		func(h *collect.Hit) { h.Agent = "curl/8.5.0" + strings.Repeat("x", 5000) },
		func(h *collect.Hit) { h.Address = netip.MustParseAddr("203.0.113.77") },
		func(h *collect.Hit) { h.URL = "https://elsewhere.example/p" },
	} {
		hit := i.hit()
		hit.URL = "https://example.com/p?token=secret&a=1"
		change(&hit)
		i.take(t, hit)
	}
	i.stop(t)
	_, samples := i.ledger(t)
	pages := map[string]string{}
	for _, sample := range samples {
		pages[sample.Reason] = sample.Page
		if len(sample.Agent) > 512 {
			t.Errorf("a sample keeps %d bytes of an agent", len(sample.Agent))
		}
	}
	if want := map[string]string{"bot": "/p?a=1", "ip": "/p?a=1", "host": "elsewhere.example/p"}; !cmp.Equal(pages, want) {
		t.Errorf("samples %v, want %v", pages, want)
	}
}

// No address is in any file.
func TestNoAddressIsKept(t *testing.T) {
	i := install(t)
	i.change(t, func(w *analytics.Website) { w.ExcludeIPs = "203.0.113.77" })
	for _, text := range []string{"203.0.113.77", "198.51.100.99", "2001:db8:77:99::1234"} {
		hit := i.hit()
		hit.Address = netip.MustParseAddr(text)
		i.take(t, hit)
	}
	files, err := filepath.Glob(filepath.Join(i.dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"203.0.113.77", "198.51.100.99", "2001:db8:77:99::1234"} {
			raw := netip.MustParseAddr(text).AsSlice()
			if bytes.Contains(content, []byte(text)) || bytes.Contains(content, raw) {
				t.Errorf("%s contains %s", filepath.Base(file), text)
			}
		}
	}
}

func TestManyHitsAtOnce(t *testing.T) {
	i := install(t)
	hits := []collect.Hit{i.hit(), {Site: "nobody"}, i.hit(), i.hit()}
	hits[3].Agent = ""
	outcomes, err := i.Collect(t.Context(), hits)
	if want := []collect.Outcome{{}, {Dropped: collect.Unknown}, {}, {Dropped: collect.Bot}}; err != nil || !cmp.Equal(outcomes, want) {
		t.Errorf("got %v, %v; want %v", outcomes, err, want)
	}
	if outcomes, err = i.Collect(t.Context(), nil); err != nil || len(outcomes) != 0 {
		t.Errorf("no hits: %v, %v", outcomes, err)
	}
	i.stop(t)
	if got := len(i.stored(t, i.site.ID)); got != 2 {
		t.Errorf("%d events, want 2", got)
	}
}
