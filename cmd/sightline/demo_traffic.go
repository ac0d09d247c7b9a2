package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect/page"
	"sightline/internal/collect/referrer"
)

// demoBatch is how many events of the demo are stored at once.
const demoBatch = 20_000

// eventTarget is where the demo's traffic goes.
type eventTarget interface {
	Append(ctx context.Context, b analytics.Batch) error
}

// fillTraffic gives example websites the visits that they had since they were created. The same websites get the same visits.
func fillTraffic(ctx context.Context, events eventTarget, websites []analytics.Website, now time.Time) error {
	var batch analytics.Batch
	flush := func() error {
		err := events.Append(ctx, batch)
		batch = analytics.Batch{}
		return err
	}
	for _, site := range websites {
		t := newTraffic(site)
		for day := site.CreatedAt.UTC().Truncate(24 * time.Hour); day.Before(now); day = day.AddDate(0, 0, 1) {
			t.day(day, now, &batch)
			if len(batch.Events) < demoBatch {
				continue
			}
			if err := flush(); err != nil {
				return fmt.Errorf("example visits to %s: %w", site.URL, err)
			}
		}
	}
	return flush()
}

// traffic makes the visits to one website.
type traffic struct {
	*rand.Rand
	site  analytics.Website
	host  string
	pages []weighted[string]
	daily float64 // visits on a usual day, a year after its start
}

// newTraffic is the traffic of a website. Some are busy, most are quiet.
func newTraffic(site analytics.Website) *traffic {
	r := rand.New(rand.NewPCG(uint64(site.ID), 0x5167)) // the same for each demo
	host := site.Domain
	if at, err := url.Parse(site.URL); err == nil {
		host = at.Hostname()
	}
	pages := demoBlog
	if slices.ContainsFunc(demoWares, func(ware string) bool { return strings.Contains(host, ware) }) {
		pages = demoShop
	}
	return &traffic{r, site, host, pages, 6 + 60*math.Pow(r.Float64(), 3)}
}

// day adds the visits of a day: fewer at weekends, more from month to month, and now and then far more than usual.
func (t *traffic) day(day, now time.Time, batch *analytics.Batch) {
	expected := t.daily * (0.4 + 0.6*math.Min(1, day.Sub(t.site.CreatedAt).Hours()/24/300)) * (0.75 + 0.5*t.Float64())
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		expected *= 0.6
	}
	if t.IntN(60) == 0 {
		expected *= 3
	}
	for range int(expected) {
		t.visit(day.Add(t.hour()), now, batch)
	}
	for range t.IntN(4) {
		at := day.Add(t.hour())
		if at.Before(now) && t.site.ExcludeBots {
			batch.Drops = append(batch.Drops, analytics.Drop{Website: t.site.ID, At: at, Reason: "bot", Page: t.pick(), Agent: choose(t.Rand, demoBots)})
		}
	}
}

// hour is a time of day: seldom at night, most often in the afternoon.
func (t *traffic) hour() time.Duration {
	hours := math.Mod(14+4.5*t.NormFloat64()+48, 24)
	return time.Duration(hours * float64(time.Hour)).Truncate(time.Millisecond)
}

func (t *traffic) pick() string { return choose(t.Rand, t.pages) }

// visit adds the events of a visit: pages one after the other, how long they were looked at, and sometimes what the visitor did there.
func (t *traffic) visit(at, now time.Time, batch *analytics.Batch) {
	event := analytics.Event{Website: t.site.ID, Visitor: t.Uint64(), Visit: t.Uint64(), Hostname: t.host,
		Origin: choose(t.Rand, demoOrigins), Place: analytics.Place{Country: choose(t.Rand, demoCountries)}, Agent: choose(t.Rand, demoAgents)}
	event.Language = demoLanguages[event.Country]
	views, attention := 1+int(t.ExpFloat64()*1.8), 45_000.0
	if t.IntN(100) < 45 { // not what they were looking for
		views, attention = 1, 2_500
	}
	for ; views > 0 && at.Before(now); views-- {
		looked := time.Duration(1500+t.ExpFloat64()*attention) * time.Millisecond
		event.Kind, event.At, event.Page = analytics.PageView, at, t.pick()
		batch.Events = append(batch.Events, event)
		if at = at.Add(looked); at.After(now) {
			return
		}
		look := event
		look.Kind, look.At, look.Engagement, look.Depth = analytics.Engagement, at, looked, uint8(20+t.IntN(81))
		batch.Events = append(batch.Events, look)
		if t.IntN(25) == 0 {
			batch.Events = append(batch.Events, t.custom(event, at))
		}
		at = at.Add(time.Duration(500+t.IntN(4000)) * time.Millisecond)
	}
}

// custom is an event of the site's own, on a page that was just left.
func (t *traffic) custom(event analytics.Event, at time.Time) analytics.Event {
	event.Kind, event.At = analytics.Custom, at
	switch t.IntN(4) {
	case 0:
		event.Name, event.Value, event.Unit = "purchase", math.Round(1500+t.ExpFloat64()*4000)/100, "EUR"
		event.Props = map[string]string{"payment": choose(t.Rand, []weighted[string]{{5, "card"}, {3, "paypal"}, {1, "invoice"}})}
	case 1:
		event.Name, event.Props = "download", map[string]string{"file": "price-list.pdf"}
	default:
		event.Name = "newsletter"
	}
	return event
}

// weighted is something that is chosen the more often the greater its weight is.
type weighted[T any] struct {
	weight int
	value  T
}

func choose[T any](r *rand.Rand, list []weighted[T]) T {
	sum := 0
	for _, item := range list {
		sum += item.weight
	}
	n := r.IntN(sum)
	for _, item := range list {
		if n -= item.weight; n < 0 {
			return item.value
		}
	}
	return list[0].value
}

// demoWares are parts of the names of shops.
var demoWares = []string{"shop", "furniture", "outdoor", "telescopes", "games", "books", "seeds", "computers", "cards", "cider"}

// The pages of the example websites.
var (
	demoBlog = []weighted[string]{{40, "/"}, {18, "/blog"}, {14, "/blog/how-we-work"}, {9, "/blog/five-mistakes"}, {8, "/about"}, {6, "/contact"},
		{5, "/blog/a-year-in-numbers"}, {3, "/imprint"}, {2, "/search?q=opening+hours"}}
	demoShop = []weighted[string]{{34, "/"}, {20, "/products"}, {12, "/products/no-1"}, {9, "/products/no-7"}, {8, "/cart"}, {5, "/checkout"}, {4, "/thanks"},
		{4, "/about"}, {3, "/shipping"}, {1, "/products?sort=price"}}
)

// demoOrigins is where the visitors of the examples come from.
var demoOrigins = func() []weighted[analytics.Origin] {
	var list []weighted[analytics.Origin]
	for _, from := range []struct {
		weight   int
		referrer string
		campaign page.Campaign
	}{
		{34, "", page.Campaign{}},
		{30, "https://www.google.com/", page.Campaign{}},
		{5, "https://www.bing.com/", page.Campaign{}},
		{4, "https://duckduckgo.com/", page.Campaign{}},
		{6, "https://www.instagram.com/", page.Campaign{}},
		{4, "https://www.facebook.com/", page.Campaign{}},
		{3, "https://news.ycombinator.com/item", page.Campaign{}},
		{2, "https://chatgpt.com/", page.Campaign{}},
		{3, "https://juniper-agency.example/work", page.Campaign{}},
		{4, "", page.Campaign{Source: "newsletter", Medium: "email", Name: "autumn"}},
		{3, "https://www.google.com/", page.Campaign{Source: "google", Medium: "cpc", Name: "brand", Paid: true}},
	} {
		list = append(list, weighted[analytics.Origin]{from.weight, referrer.Read(from.referrer, "", from.campaign)})
	}
	return list
}()

// demoCountries is where they are, and demoLanguages what they speak there.
var (
	demoCountries = []weighted[string]{{24, "DE"}, {20, "US"}, {10, "GB"}, {8, "FR"}, {7, "NL"}, {6, "AT"}, {5, "CH"}, {5, "CA"}, {4, "PL"}, {3, "IN"}, {3, "JP"}, {2, "BR"}, {1, "ZA"}}
	demoLanguages = map[string]string{"DE": "de", "AT": "de", "CH": "de", "FR": "fr", "NL": "nl", "PL": "pl", "JP": "ja", "BR": "pt", "US": "en", "GB": "en", "CA": "en", "IN": "en", "ZA": "en"}
)

// demoAgents is what they browse with.
var demoAgents = []weighted[analytics.Agent]{
	{26, analytics.Agent{Browser: "Chrome", BrowserVersion: "142", OS: "Android", OSVersion: "16", Device: analytics.Mobile, Screen: "412x915"}},
	{22, analytics.Agent{Browser: "Safari", BrowserVersion: "26", OS: "iOS", OSVersion: "26.1", Device: analytics.Mobile, Screen: "390x844"}},
	{20, analytics.Agent{Browser: "Chrome", BrowserVersion: "142", OS: "Windows", OSVersion: "10.0", Device: analytics.Desktop, Screen: "1920x1080"}},
	{9, analytics.Agent{Browser: "Firefox", BrowserVersion: "144", OS: "Windows", OSVersion: "10.0", Device: analytics.Desktop, Screen: "1920x1080"}},
	{8, analytics.Agent{Browser: "Safari", BrowserVersion: "26", OS: "macOS", OSVersion: "26.0", Device: analytics.Desktop, Screen: "1512x982"}},
	{6, analytics.Agent{Browser: "Edge", BrowserVersion: "142", OS: "Windows", OSVersion: "10.0", Device: analytics.Desktop, Screen: "2560x1440"}},
	{4, analytics.Agent{Browser: "Firefox", BrowserVersion: "144", OS: "Linux", Device: analytics.Desktop, Screen: "1920x1200"}},
	{4, analytics.Agent{Browser: "Safari", BrowserVersion: "26", OS: "iOS", OSVersion: "26.1", Device: analytics.Tablet, Screen: "820x1180"}},
}

// demoBots are user agents that are left out.
var demoBots = []weighted[string]{
	{5, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{3, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"},
	{2, "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"},
}
