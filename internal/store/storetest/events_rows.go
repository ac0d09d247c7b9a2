package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/store"
	"sightline/internal/store/memory"
)

var always = [2]time.Time{time.UnixMilli(0), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}

// all reads a website's events.
func all(t testing.TB, events store.Events, website int64, span [2]time.Time) []analytics.Event {
	t.Helper()
	var list []analytics.Event
	for event, err := range events.Events(context.Background(), website, span[0], span[1]) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, event)
	}
	return list
}

// same compares everything that both hold.
func (p pair) same(t testing.TB) {
	t.Helper()
	for website := range int64(5) {
		if want, got := all(t, p.oracle, website, always), all(t, p.engine, website, always); !reflect.DeepEqual(want, got) {
			t.Errorf("the events of website %d differ (-oracle +engine)\n%s", website, cmp.Diff(want, got))
		}
		want, wantErr := p.oracle.Exclusions(t.Context(), website, always[0], always[1])
		got, gotErr := p.engine.Exclusions(t.Context(), website, always[0], always[1])
		if diff := cmp.Diff(want, got); diff != "" || wantErr != nil || gotErr != nil {
			t.Errorf("the exclusions of website %d differ (-oracle +engine): %v, %v\n%s", website, wantErr, gotErr, diff)
		}
	}
	want, wantErr := p.oracle.Position(t.Context())
	if got, err := p.engine.Position(t.Context()); got != want || err != nil || wantErr != nil {
		t.Errorf("the position is %d, %v; want %d, %v", got, err, want, wantErr)
	}
}

// view is a page view of a visitor who is the visit, too.
func view(website int64, at time.Time, visit uint64, page string) analytics.Event {
	return analytics.Event{Website: website, At: at, Visitor: visit, Visit: visit, Kind: analytics.PageView, Page: page}
}

// testAppend sends batches again, and out of order: each is stored once.
func testAppend(t *testing.T, p pair) {
	if position, err := p.engine.Position(t.Context()); position != 0 || err != nil {
		t.Errorf("the first position is %d, %v", position, err)
	}
	for i, position := range []int64{10, 10, 25, 7, 25, 0, 0, 26} {
		p.append(t, analytics.Batch{Events: []analytics.Event{view(1, eventsNow, 1, fmt.Sprint("/", i))}, Position: position,
			Drops: []analytics.Drop{{Website: 1, At: eventsNow, Reason: "bot"}}})
		p.same(t)
	}
	var pages []string
	for _, event := range all(t, p.engine, 1, always) {
		pages = append(pages, event.Page)
	}
	if got := strings.Join(pages, " "); got != "/0 /2 /5 /6 /7" {
		t.Errorf("stored are %s, want /0 /2 /5 /6 /7", got)
	}
	p.append(t, analytics.Batch{Position: 30})
	p.same(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.engine.Append(gone, analytics.Batch{Events: []analytics.Event{view(1, eventsNow, 1, "/x")}, Position: 40}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone gets %v", err)
	}
	p.same(t)
}

// testStored keeps hostile and impossible values.
func testStored(t *testing.T, p pair) {
	long := strings.Repeat("ä", 3000)
	many := map[string]string{"": "no name", "empty": "", long: long}
	for i := range 40 {
		many[fmt.Sprint("key", i)] = hostile[i%len(hostile)]
	}
	events := []analytics.Event{
		{Website: math.MaxInt64, At: eventsNow},
		{Website: 1, At: eventsNow.Add(1234567), Visitor: math.MaxUint64, Visit: math.MaxUint64, Kind: analytics.Custom, Name: long, Page: long, Props: many,
			Value: math.Inf(1), Engagement: math.MaxInt64, Depth: 255, Place: analytics.Place{City: "broken \xff\xfe"}},
		{Website: 1, At: eventsNow.In(zone(t, "Asia/Kolkata")), Kind: analytics.Custom, Value: math.NaN(), Engagement: -5},
		{Website: 1, At: eventsNow, Kind: analytics.Custom, Value: -0.1, Engagement: 1500500 * time.Microsecond, Props: map[string]string{"\xff": "\xff"}},
	}
	for i, text := range hostile {
		events = append(events, analytics.Event{Website: 2, At: eventsNow.Add(time.Duration(i)), Kind: analytics.PageView, Name: text, Page: text, Hostname: text, Unit: text,
			Origin: analytics.Origin{Referrer: text, Source: text, Channel: text, UTMSource: text, UTMMedium: text, UTMCampaign: text, UTMContent: text, UTMTerm: text},
			Place:  analytics.Place{Country: text, Region: text, City: text},
			Agent:  analytics.Agent{Language: text, Browser: text, BrowserVersion: text, OS: text, OSVersion: text, Device: text, Screen: text},
			Props:  map[string]string{text: text}})
	}
	drops := []analytics.Drop{{Website: 2, At: eventsNow, Reason: "bot", Page: long, Agent: "\xff"}}
	for _, text := range hostile {
		drops = append(drops, analytics.Drop{Website: 2, At: eventsNow, Reason: text, Page: text, Agent: text})
	}
	p.append(t, analytics.Batch{Events: events, Drops: drops})
	p.same(t)
	stored := all(t, p.engine, 2, always)
	for i, text := range hostile {
		if stored[i].Page != text || stored[i].Props[text] != text || stored[i].Screen != text {
			t.Errorf("%q came back as %+v", text, stored[i])
		}
	}
	if first := all(t, p.engine, 1, always)[0]; len(first.Props) > analytics.MaxProps || len(first.Page) > analytics.MaxPage {
		t.Errorf("%d properties and a page of %d bytes are kept", len(first.Props), len(first.Page))
	}
}

// testStream reads parts of a website, and more than one window of them, by time, then in the order of arrival.
func testStream(t *testing.T, p pair) {
	var events []analytics.Event
	for i := range 22_000 { // many at the same time, most of them late
		at := eventsNow.Add(-time.Duration(i%5000) * time.Minute).Truncate(time.Hour)
		events = append(events, view(1+int64(i%2), at, uint64(i), "/"))
	}
	p.append(t, analytics.Batch{Events: events})
	p.same(t)
	hour := eventsNow.Add(-50 * time.Hour)
	for _, span := range [][2]time.Time{{hour, hour}, {hour, hour.Add(1)}, {hour.Add(1), hour.Add(time.Hour)}, {hour.Add(-time.Hour), hour.Add(time.Nanosecond)}, {always[1], always[0]}} {
		if diff := cmp.Diff(all(t, p.oracle, 1, span), all(t, p.engine, 1, span)); diff != "" {
			t.Errorf("from %s to %s the engine differs\n%s", span[0], span[1], diff)
		}
	}
	read := 0
	for range p.engine.Events(t.Context(), 1, always[0], always[1]) {
		if read++; read == 10 {
			break
		}
	}
	p.append(t, analytics.Batch{Events: []analytics.Event{view(1, eventsNow, 1, "/after")}}) // nothing is held by a reader who left
	p.same(t)
}

func testOpenVisits(t *testing.T, p pair) {
	events := world()
	p.append(t, analytics.Batch{Events: events})
	slices.SortFunc(events, func(a, b analytics.Event) int { return a.At.Compare(b.At) })
	for _, since := range []time.Time{always[0], events[len(events)/2].At, events[len(events)-1].At.Add(-1), always[1]} {
		want, wantErr := p.oracle.OpenVisits(t.Context(), since)
		got, err := p.engine.OpenVisits(t.Context(), since)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || wantErr != nil {
			t.Errorf("since %s the open visits differ (-oracle +engine): %v\n%s", since, err, diff)
		}
	}
}

// testExclusions counts every drop and keeps the newest for a week.
func testExclusions(t *testing.T, p pair) {
	for batch := range 12 {
		var drops []analytics.Drop
		for i := range 40 {
			at := eventsNow.Add(-time.Duration(batch*40+i) * 37 * time.Minute)
			drops = append(drops, analytics.Drop{Website: int64(1 + i%2), At: at, Reason: []string{"bot", "ip", "host"}[i%3], Page: fmt.Sprint("/", i), Agent: "curl/8"})
		}
		p.append(t, analytics.Batch{Drops: drops})
	}
	p.same(t)
	ledger, err := p.engine.Exclusions(t.Context(), 1, eventsNow.Add(-30*time.Hour), eventsNow.Add(-10*time.Hour))
	if err != nil || len(ledger.Days) != 6 {
		t.Errorf("two days with three reasons: %v, %v", ledger.Days, err)
	}
	for _, sample := range ledger.Samples {
		if sample.At.Before(eventsNow.Add(-analytics.SampleTime)) || sample.Website != 1 {
			t.Errorf("there is a sample %+v", sample)
		}
	}
	whole, err := p.engine.Exclusions(t.Context(), 1, always[0], always[1])
	if sum := sumExclusions(whole); err != nil || sum != 12*20 || len(whole.Samples) != 3*analytics.SampleCount {
		t.Errorf("%d counted and %d samples, %v; want 240 and 60", sum, len(whole.Samples), err)
	}
}

func sumExclusions(ledger analytics.Exclusions) (sum int64) {
	for _, day := range ledger.Days {
		sum += day.Events
	}
	return sum
}

// testErase erases one website, what is old, and both; all of it is really gone, and nothing else.
func testErase(t *testing.T, p pair) {
	var drops []analytics.Drop
	for i := range 60 {
		drops = append(drops, analytics.Drop{Website: int64(1 + i%3), At: eventsNow.Add(-time.Duration(i) * 3 * time.Hour), Reason: "ip"})
	}
	p.append(t, analytics.Batch{Events: world(), Drops: drops, Position: 3})
	for _, erasure := range []struct {
		website int64
		before  time.Time
	}{{1, time.Date(2026, 10, 28, 5, 0, 0, 1, time.UTC)}, {0, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}, {2, time.Time{}}, {0, eventsNow.Add(-40 * time.Hour)}, {77, time.Time{}}} {
		for _, events := range []store.Events{p.engine, p.oracle} {
			if err := events.Erase(t.Context(), erasure.website, erasure.before); err != nil {
				t.Fatal(err)
			}
		}
		p.same(t)
	}
	if left := all(t, p.engine, 2, always); len(left) > 0 {
		t.Errorf("%d events of an erased website are left", len(left))
	}
	if err := p.engine.Erase(t.Context(), 0, time.Time{}); !errors.Is(err, analytics.ErrEraseAll) {
		t.Errorf("erasing everything answers %v", err)
	}
	p.append(t, analytics.Batch{Events: world()[:50], Position: 4})
	p.same(t)
}

// testCompact rewrites while others read and write.
func testCompact(t *testing.T, p pair) {
	p.append(t, analytics.Batch{Events: world(), Position: 1, Drops: []analytics.Drop{{Website: 1, At: eventsNow, Reason: "bot"}}})
	if err := p.engine.Erase(t.Context(), 3, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := p.oracle.Erase(t.Context(), 3, time.Time{}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.engine.Compact(context.Background()) }()
	position := int64(2)
	for running := true; running; position++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		p.append(t, analytics.Batch{Events: []analytics.Event{view(1, eventsNow, uint64(position), "/meanwhile")}, Position: position,
			Drops: []analytics.Drop{{Website: 1, At: eventsNow, Reason: "ip"}}})
		p.ask(t, season(true))
	}
	p.same(t)
	if err := p.engine.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.same(t)
	p.append(t, analytics.Batch{Events: []analytics.Event{view(1, eventsNow, 5, "/late")}, Position: 1}) // the position was kept
	p.same(t)
}

// RunReopenedEvents closes an engine and opens it again between batches: each is stored once, and all is still there. open opens
// what rests under a name, or makes it.
func RunReopenedEvents(t *testing.T, open func(t *testing.T, name string, now func() time.Time) store.Events) {
	clock := func() time.Time { return eventsNow }
	name := t.TempDir()
	p := pair{oracle: memory.OpenEvents(clock)}
	events := world()
	for i, position := range []int64{3, 3, 9, 4, 9, 12} {
		p.engine = open(t, name, clock)
		p.same(t)
		p.append(t, analytics.Batch{Events: events[100*i : 100*(i+1)], Position: position, Drops: []analytics.Drop{{Website: 1, At: eventsNow, Reason: "bot"}}})
		p.same(t)
		if i == 3 {
			if err := p.engine.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
	clock = func() time.Time { return eventsNow.Add(2 * analytics.SampleTime) }
	p.engine = open(t, name, clock)
	ledger, err := p.engine.Exclusions(t.Context(), 1, always[0], always[1])
	if err != nil || len(ledger.Days) != 1 || len(ledger.Samples) != 0 {
		t.Errorf("two weeks later the ledger is %+v, %v: want the counts and no samples", ledger, err)
	}
	if err := p.engine.Close(); err != nil {
		t.Fatal(err)
	}
}

func testEventsClosed(t *testing.T, p pair) {
	if err := p.engine.Close(); err != nil {
		t.Fatal(err)
	}
	_, position := p.engine.Position(t.Context())
	_, query := p.engine.Query(t.Context(), season(true))
	var stream error
	for _, err := range p.engine.Events(t.Context(), 1, always[0], always[1]) {
		stream = err
	}
	for name, err := range map[string]error{"Append": p.engine.Append(t.Context(), analytics.Batch{Position: 1}), "Position": position, "Query": query, "Events": stream} {
		if !errors.Is(err, fault.Unavailable) {
			t.Errorf("%s of a closed store answers %v, want fault.Unavailable", name, err)
		}
	}
	if err := p.engine.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}
