package collect_test

import (
	"net/netip"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/fault"
)

// visitsOf numbers the visits and visitors of events in the order in which they appear.
func visitsOf(events []analytics.Event) (visits, visitors []int) {
	number := func(seen map[uint64]int, id uint64) int {
		if _, known := seen[id]; !known {
			seen[id] = len(seen) + 1
		}
		return seen[id]
	}
	seenVisits, seenVisitors := map[uint64]int{}, map[uint64]int{}
	for _, e := range events {
		visits, visitors = append(visits, number(seenVisits, e.Visit)), append(visitors, number(seenVisitors, e.Visitor))
	}
	return visits, visitors
}

func TestVisits(t *testing.T) {
	pause := func(d time.Duration) func(*installation, *collect.Hit) {
		return func(i *installation, _ *collect.Hit) { i.clock.add(d) }
	}
	const nothing = time.Duration(0)
	tests := []struct {
		name             string
		between          func(*installation, *collect.Hit)
		visits, visitors int // after two hits with something between them
	}{
		{"at once", pause(nothing), 1, 1},
		{"just within the gap", pause(30*time.Minute - time.Millisecond), 1, 1},
		{"after the gap", pause(30 * time.Minute), 2, 1},
		{"over midnight", pause(0), 1, 1},
		{"another address", func(_ *installation, h *collect.Hit) { h.Address = netip.MustParseAddr("192.0.2.9") }, 2, 2},
		{"another agent", func(_ *installation, h *collect.Hit) { h.Agent += " OPR/112.0" }, 2, 2},
		{"the clock is set back a little", pause(-10 * time.Minute), 1, 1},
		{"the clock is set back a lot", pause(-5 * time.Hour), 2, 1},
		{"the clock is set forward", pause(9 * time.Hour), 2, 1},
		{"a day later", pause(24 * time.Hour), 2, 2},
		{"the clock is set back a day", pause(-24 * time.Hour), 2, 2},
		{"long reading", func(i *installation, h *collect.Hit) {
			i.clock.add(50 * time.Minute)
			h.Name, h.Engagement = collect.Engagement, 45*time.Minute
		}, 1, 1},
	}
	for _, test := range tests {
		i := install(t)
		hit := i.hit()
		i.take(t, hit)
		test.between(i, &hit)
		i.take(t, hit)
		i.stop(t)
		visits, visitors := visitsOf(i.stored(t, i.site.ID))
		if len(visits) != 2 || max(visits[0], visits[1]) != test.visits || max(visitors[0], visitors[1]) != test.visitors {
			t.Errorf("%s: visits %v of visitors %v, want %d of %d", test.name, visits, visitors, test.visits, test.visitors)
		}
	}
}

// A visit goes on over midnight under the old salt; whoever comes back later is somebody new.
func TestMidnight(t *testing.T) {
	i := install(t)
	i.clock.add(11*time.Hour + 50*time.Minute) // 23:50
	for range 4 {
		i.take(t, i.hit())
		i.clock.add(20 * time.Minute)
	}
	i.clock.add(2 * time.Hour)
	i.take(t, i.hit())
	i.take(t, i.hit())
	i.clock.add(24 * time.Hour)
	i.take(t, i.hit())
	i.stop(t)
	visits, visitors := visitsOf(i.stored(t, i.site.ID))
	want := []int{1, 1, 1, 1, 2, 2, 3}
	for n := range want {
		if len(visits) != len(want) || visits[n] != want[n] || visitors[n] != want[n] {
			t.Fatalf("visits %v of visitors %v, want both %v", visits, visitors, want)
		}
	}
}

// Every event of a visit carries the origin of the first.
func TestOriginOfAVisit(t *testing.T) {
	i := install(t)
	first, second := i.hit(), i.hit()
	first.Referrer, second.Referrer = "https://www.google.com/", "https://example.com/"
	i.take(t, first)
	i.take(t, second)
	i.stop(t)
	for _, e := range i.stored(t, i.site.ID) {
		if e.Source != "Google" || e.Channel != "search" {
			t.Errorf("an event of the visit comes from %q by %q", e.Source, e.Channel)
		}
	}
}

// A visit goes on after a restart, whether its events were stored or still lie in the spool.
func TestVisitsOutlastARestart(t *testing.T) {
	for _, stored := range []bool{true, false} {
		i := install(t)
		i.stop(t)
		closed := &faultyStore{Store: i.events, failing: !stored}
		i.start(t, i.catalog, closed)
		hit := i.hit()
		hit.Referrer = "https://www.google.com/"
		i.take(t, hit)
		i.stop(t)
		if got := len(i.stored(t, i.site.ID)); got != map[bool]int{true: 1, false: 0}[stored] {
			t.Fatalf("%d events are stored", got)
		}
		i.clock.add(29 * time.Minute)
		i.start(t, i.catalog, i.events)
		i.take(t, i.hit())
		i.stop(t)
		events := i.stored(t, i.site.ID)
		if visits, _ := visitsOf(events); len(visits) != 2 || visits[1] != 1 || events[1].Source != "Google" {
			t.Errorf("stored %v: visits %v, %+v", stored, visits, events)
		}
	}
}

// Two servers on one catalog know a visitor as the same.
func TestServersShareSalts(t *testing.T) {
	one := install(t)
	two := &installation{clock: one.clock, dir: t.TempDir(), catalog: one.catalog, events: one.events, owner: one.owner, site: one.site}
	two.start(t, two.catalog, &faultyStore{Store: one.events, apart: true})
	one.take(t, one.hit())
	two.take(t, two.hit())
	one.stop(t)
	two.stop(t)
	if _, visitors := visitsOf(one.stored(t, one.site.ID)); len(visitors) != 2 || visitors[1] != 1 {
		t.Errorf("visitors %v, want one", visitors)
	}
}

// A salt is made a day ahead and erased when its visits are over.
func TestSaltsLiveTwoDays(t *testing.T) {
	i := install(t)
	midnight := i.now().Truncate(24 * time.Hour)
	exists := func(day int) bool {
		t.Helper()
		_, err := i.catalog.Salt(t.Context(), midnight.AddDate(0, 0, day), nil)
		return err == nil
	}
	for day := range 4 {
		i.take(t, i.hit())
		if !exists(day) {
			t.Errorf("on day %d its salt is missing", day)
		}
		i.stop(t)
		i.start(t, i.catalog, i.events) // it looks after the salts when it starts
		eventually(t, "the salt of the next day is made", func() bool { return exists(day + 1) })
		eventually(t, "the salt of two days ago is erased", func() bool { return !exists(day - 2) })
		if day > 0 && !exists(day-1) {
			t.Errorf("on day %d the salt of the day before is gone too early", day)
		}
		i.clock.add(24 * time.Hour)
	}
}

// At midnight the catalog need not answer.
func TestMidnightWithoutCatalog(t *testing.T) {
	i := install(t)
	i.stop(t)
	catalog := &faultyCatalog{Catalog: i.catalog}
	i.start(t, catalog, i.events)
	i.clock.add(12*time.Hour - 10*time.Second)
	i.take(t, i.hit())
	catalog.fail(fault.Unavailable)
	i.clock.add(20 * time.Second)
	if outcome := i.take(t, i.hit()); !outcome.Stored() {
		t.Errorf("a minute after midnight: %+v", outcome)
	}
}
