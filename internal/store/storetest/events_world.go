package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the suite knows the zones wherever it runs

	"sightline/internal/analytics"
)

// eventsNow is the time of the clock in these tests.
var eventsNow = time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)

// zones have clocks that are changed by an hour, by half an hour and never.
var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// hostile is text that must be stored and returned as it is, and never be read as anything but text.
var hostile = []string{
	`'; DROP TABLE events; --`, `" OR ""="`, `$1`, `?`, `%_\`, `a*b`, `{"a":1}`, `=HYPERLINK("http://example.com")`, "+1", "@SUM(A1)",
	"<script>alert(1)</script>", "line\nbreak\r\ttab", "\x01\x7f", "\u202eright to left", "Ünïcödé ΑΣ ς İı", "e\u0301", "日本語", "👩‍👩‍👧", "\u0000NUL", " ", "NULL",
}

// pick is one of a list.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// world is days of traffic on three websites in two seasons, each around changes of clocks. It is the same every time.
func world() []analytics.Event {
	r := rand.New(rand.NewPCG(4, 2))
	var events []analytics.Event
	for _, start := range []time.Time{time.Date(2026, 3, 27, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC)} {
		for range 120 {
			visitor := analytics.Event{Website: int64(1 + r.IntN(3)), Visitor: uint64(r.IntN(40)), Visit: r.Uint64(),
				At: start.Add(time.Duration(r.Int64N(int64(11 * 24 * time.Hour)))), Origin: origin(r), Place: place(r), Agent: agent(r)}
			events = append(events, visitEvents(r, visitor)...)
		}
	}
	r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return events
}

// visitEvents is what happens in a visit.
func visitEvents(r *rand.Rand, first analytics.Event) []analytics.Event {
	var events []analytics.Event
	for at := first.At; len(events) < 1+r.IntN(6); at = at.Add(time.Duration(r.IntN(4)) * 7001 * time.Millisecond) {
		e := first
		e.At = at
		e.Page = pick(r, "/", "/a", "/a?x=1", "/b/c", "/B/C", "/100%_sure", "/ä", pick(r, hostile...))
		e.Hostname = pick(r, "example.com", "www.example.com", "")
		e.Kind = pick(r, analytics.PageView, analytics.PageView, analytics.Custom, analytics.Engagement)
		switch e.Kind {
		case analytics.Custom:
			e.Name, e.Value, e.Unit = pick(r, "signup", "Buy", pick(r, hostile...)), float64(r.IntN(400))/4, pick(r, "", "EUR")
			for i := range r.IntN(3) {
				if e.Props == nil {
					e.Props = map[string]string{}
				}
				e.Props[pick(r, "plan", fmt.Sprint("key", i), pick(r, hostile...))] = pick(r, "free", "paid", pick(r, hostile...))
			}
		case analytics.Engagement:
			e.Engagement, e.Depth = time.Duration(r.IntN(15_000))*time.Millisecond, uint8(r.IntN(101))
		}
		events = append(events, e)
	}
	return events
}

func origin(r *rand.Rand) analytics.Origin {
	return analytics.Origin{Referrer: pick(r, "", "https://search.example/", "https://social.example/x", pick(r, hostile...)),
		Source: pick(r, "", "Search", "Social"), Channel: pick(r, "direct", "search", "social"),
		UTMSource: pick(r, "", "letter"), UTMMedium: pick(r, "", "mail"), UTMCampaign: pick(r, "", "spring", pick(r, hostile...)),
		UTMContent: pick(r, "", "top"), UTMTerm: pick(r, "", "shoes")}
}

func place(r *rand.Rand) analytics.Place {
	return analytics.Place{Country: pick(r, "", "DE", "US", "AU", "IN", "BR", "ZA", "AQ", "XX"), Region: pick(r, "", "Texas"), City: pick(r, "", "Austin", "Köln")}
}

func agent(r *rand.Rand) analytics.Agent {
	return analytics.Agent{Language: pick(r, "", "en", "de"), Browser: pick(r, "", "Firefox", "Chrome"), BrowserVersion: pick(r, "", "144", "9"),
		OS: pick(r, "", "Android", "Windows"), OSVersion: pick(r, "", "16", "11"), Device: pick(r, "", analytics.Desktop, analytics.Mobile),
		Screen: pick(r, "", "1920x1080", "360x800")}
}

// dimensions is every dimension that rows can be made by and events filtered by, some of properties among them.
func dimensions() []analytics.Dimension {
	list := append(analytics.Dimensions(), analytics.Prop("plan"), analytics.Prop("no such"))
	for _, name := range hostile {
		list = append(list, analytics.Prop(name))
	}
	return list
}

// season is a question with every metric about one of the two seasons.
func season(spring bool) analytics.Query {
	from := time.Date(2026, 10, 23, 7, 11, 0, 0, time.UTC)
	if spring {
		from = time.Date(2026, 3, 28, 7, 11, 0, 0, time.UTC)
	}
	return analytics.Query{Website: 1, From: from, To: from.AddDate(0, 0, 11), Zone: time.UTC, Metrics: analytics.Metrics, Totals: true}
}
