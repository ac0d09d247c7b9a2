package collect

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect/place"
)

func nobody() (uint64, bool) { return 0, false }

// However many visitors there are, a bounded number of visits is known, those of the newest visitors among them.
func TestVisitsAreBounded(t *testing.T) {
	const size = 100
	v, now := newVisits(size), time.Unix(1_700_000_000, 0)
	ids := map[uint64]uint64{}
	for visitor := uint64(1); visitor <= 10*size; visitor++ {
		e := analytics.Event{Visitor: visitor, At: now}
		v.join(&e, nobody, now)
		ids[visitor] = e.Visit
		if known := len(v.young) + len(v.old); known > size {
			t.Fatalf("%d visits are known", known)
		}
	}
	for visitor := uint64(10*size - size/2 + 1); visitor <= 10*size; visitor++ {
		e := analytics.Event{Visitor: visitor, At: now}
		if v.join(&e, nobody, now); e.Visit != ids[visitor] {
			t.Fatalf("the visit of visitor %d is forgotten", visitor)
		}
	}
}

// Visits that are over are forgotten, even if nobody is new.
func TestVisitsAreForgotten(t *testing.T) {
	v, now := newVisits(1000), time.Unix(1_700_000_000, 0)
	for visitor := range uint64(100) {
		e := analytics.Event{Visitor: visitor, At: now}
		v.join(&e, nobody, now)
	}
	for range 3 {
		now = now.Add(visitGap)
		v.join(&analytics.Event{Visitor: 1, At: now}, nobody, now)
	}
	if known := len(v.young) + len(v.old); known > 2 {
		t.Errorf("%d visits are known", known)
	}
}

// Visitors differ by website, address, agent and salt, and by nothing else.
func TestVisitorNumbers(t *testing.T) {
	one, two := newSalt([]byte("one")), newSalt([]byte("two"))
	address := netip.MustParseAddr
	seen := map[uint64]string{}
	for _, s := range []*salt{one, two} {
		for website := range int64(3) {
			for _, from := range []netip.Addr{{}, address("192.0.2.1"), address("192.0.2.2"), address("2001:db8::1")} {
				for _, agent := range []string{"", "a", "b", "1a"} {
					number, what := s.visitor(website, from, agent), fmt.Sprint(s == one, website, from, agent)
					if other, twice := seen[number]; twice {
						t.Errorf("%s and %s are the same visitor", what, other)
					}
					seen[number] = what
					if again := s.visitor(website, from, agent); again != number {
						t.Errorf("%s is %d and then %d", what, number, again)
					}
				}
			}
		}
	}
}

func BenchmarkVisitor(b *testing.B) {
	s, address := newSalt(make([]byte, saltSize)), netip.MustParseAddr("192.0.2.1")
	const agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
	for b.Loop() {
		s.visitor(1, address, agent)
	}
}

func BenchmarkJoin(b *testing.B) {
	v, now := newVisits(maxVisits), time.Unix(1_700_000_000, 0)
	for i := uint64(0); b.Loop(); i++ {
		v.join(&analytics.Event{Visitor: i % 100_000 * 0x9e3779b97f4a7c15, At: now}, nobody, now)
	}
}

// BenchmarkSteps measures what a hit costs besides the disk: all steps, the visit and the record.
func BenchmarkSteps(b *testing.B) {
	places, err := place.Open("")
	if err != nil {
		b.Fatal(err)
	}
	site, err := newWebsite(analytics.Website{ID: 1, Domain: "example.com", ExcludeBots: true, ExcludeIPs: "203.0.113.0/24", ExcludeParams: "session token*"})
	if err != nil {
		b.Fatal(err)
	}
	c := &Collector{steps: newSteps(places), visits: newVisits(maxVisits)}
	today, yesterday, now := newSalt([]byte("today")), newSalt([]byte("yesterday")), time.Now()
	hit := Hit{URL: "https://example.com/page/7?utm_source=news&session=1&a=2", Referrer: "https://www.google.com/", Screen: "1920x1080", Language: "en-US",
		Agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"}
	var record []byte
	p := new(passage)
	b.ReportAllocs()
	for n := uint32(0); b.Loop(); n++ {
		hit.Address = netip.AddrFrom4([4]byte{88, byte(n >> 16 & 1), byte(n >> 8), byte(n)})
		*p = begin(&hit, site, now)
		p.today, p.yesterday = today, yesterday
		if outcome := c.walk(p); !outcome.Stored() {
			b.Fatal(outcome)
		}
		c.visits.join(&p.event, p.before, now)
		record = encode(record[:0], []analytics.Event{p.event}, nil)
	}
	b.ReportMetric(float64(len(record)), "bytes/record")
}
