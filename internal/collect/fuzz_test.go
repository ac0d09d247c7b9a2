package collect_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"sightline/internal/analytics"
	"sightline/internal/collect"
)

// Whatever a client reports, it is stored within the limits or left out for a reason.
func FuzzCollect(f *testing.F) {
	f.Add("", "pageview", "https://example.com/a?b=c#d", "https://www.google.com/", "en-US", "1920x1080", chrome, "USD", 1.5, int64(1000), 50, true)
	f.Add("example.com", "engagement", "//\xff\\", "android-app://x", "-", "x", "\x00", "\xfe", -1.0, int64(-1), -1, false)
	i := install(f)
	i.stop(f)
	kept := &keeper{}
	i.start(f, i.catalog, kept)
	f.Fuzz(func(t *testing.T, domain, name, url, referring, language, screen, agent, unit string, value float64, engagement int64, depth int, hash bool) {
		hit := collect.Hit{Site: i.site.TrackingID, Domain: domain, Name: name, URL: url, Referrer: referring, Language: language, Screen: screen, Agent: agent, Unit: unit,
			Props: map[string]string{name: url, unit: agent}, Value: value, Engagement: time.Duration(engagement), Depth: depth, HashMode: hash, Address: netip.MustParseAddr("192.0.2.1")}
		if domain != "" {
			hit.Site = ""
		}
		outcomes, err := i.Collect(context.Background(), []collect.Hit{hit})
		if err != nil || len(outcomes) != 1 {
			t.Fatalf("%v, %v", outcomes, err)
		}
		for _, e := range kept.take() {
			for _, text := range []string{e.Name, e.Page, e.Hostname, e.Unit, e.Referrer, e.Source, e.UTMSource, e.Browser, e.OS, e.Screen, e.Language} {
				if len(text) > analytics.MaxText || !utf8.ValidString(text) {
					t.Errorf("%+v is stored as %+v", hit, e)
				}
			}
			if e.Visit == 0 || e.Depth > 100 || e.Engagement < 0 {
				t.Errorf("%+v is stored as %+v", hit, e)
			}
		}
	})
}

// A keeper hands out what was appended since it was asked last.
type keeper struct {
	forgetful
	mu     sync.Mutex
	events []analytics.Event
}

func (k *keeper) Append(ctx context.Context, b analytics.Batch) error {
	k.mu.Lock()
	k.events = append(k.events, b.Events...)
	k.mu.Unlock()
	return k.forgetful.Append(ctx, b)
}

func (k *keeper) take() []analytics.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := k.events
	k.events = nil
	return taken
}
