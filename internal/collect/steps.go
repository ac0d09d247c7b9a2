package collect

import (
	"net/netip"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect/agent"
	"sightline/internal/collect/page"
	"sightline/internal/collect/place"
	"sightline/internal/collect/referrer"
)

// A passage is a hit on its way to an event.
type passage struct {
	hit       *Hit
	site      *website
	today     *salt
	yesterday *salt // nil: there is none

	address  netip.Addr   // of the client
	url      page.Address // of the page
	domain   string       // of the page; empty: it names none
	campaign page.Campaign
	event    analytics.Event
}

// A step looks at a hit and fills in what it knows of the event. When it does not let the hit pass, its name is the reason.
type step interface {
	name() string
	pass(p *passage) bool
}

// newSteps lists the steps in their order.
func newSteps(places *place.Database) []step {
	agents := agent.NewReader()
	return []step{hostStep{}, addressStep{}, botStep{agents}, pageStep{}, originStep{}, placeStep{places}, agentStep{agents}, visitorStep{}}
}

// hostStep lets pass the pages of the website, and hits that do not say of which host they are.
type hostStep struct{}

func (hostStep) name() string { return string(WrongURL) }

func (hostStep) pass(p *passage) bool {
	p.event.Hostname = p.domain
	return p.url.OnSite() && (p.domain == "" || page.Within(p.domain, p.site.domain))
}

// addressStep lets pass addresses that the website does not exclude.
type addressStep struct{}

func (addressStep) name() string { return string(Address) }

func (addressStep) pass(p *passage) bool {
	return p.site.ips == nil || !p.address.IsValid() || !p.site.ips.Contains(p.address)
}

// botStep lets pass people; and bots, if the website counts them.
type botStep struct{ agents *agent.Reader }

func (botStep) name() string { return string(Bot) }

func (s botStep) pass(p *passage) bool {
	return !p.site.bots || !p.hit.Speculative && s.agents.Read(p.hit.Agent).Device != analytics.Bot
}

// pageStep reads the campaign and leaves out of the page what the website excludes.
type pageStep struct{}

func (pageStep) name() string { return "page" }

func (pageStep) pass(p *passage) bool {
	p.event.Page, p.campaign = p.site.params.Page(p.url, p.hit.HashMode)
	return true
}

// originStep says where the visitor came from.
type originStep struct{}

func (originStep) name() string { return "origin" }

func (originStep) pass(p *passage) bool {
	p.event.Origin = referrer.Read(p.hit.Referrer, p.site.domain, p.campaign)
	return true
}

// placeStep says where the visitor is.
type placeStep struct{ places *place.Database }

func (placeStep) name() string { return "place" }

func (s placeStep) pass(p *passage) bool {
	p.event.Place = s.places.Find(p.address)
	return true
}

// agentStep says what the visitor browses with.
type agentStep struct{ agents *agent.Reader }

func (agentStep) name() string { return "agent" }

func (s agentStep) pass(p *passage) bool {
	read := s.agents.Read(p.hit.Agent)
	p.event.Agent = analytics.Agent{
		Browser: read.Browser, BrowserVersion: read.BrowserVersion, OS: read.OS, OSVersion: read.OSVersion, Device: read.Device,
		Language: language(p.hit.Language), Screen: screen(p.hit.Screen),
	}
	return true
}

// language is the two letters that a language tag begins with.
func language(tag string) string {
	first := strings.ToLower(strings.TrimSpace(tag))
	if end := strings.IndexAny(first, "-_,;"); end >= 0 {
		first = first[:end]
	}
	if len(first) != 2 || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return first
}

// screen is a resolution such as 1920x1080, or a width; anything else is not known.
func screen(text string) string {
	width, height, both := strings.Cut(text, "x")
	if !isLength(width) || both && !isLength(height) {
		return ""
	}
	return text
}

// isLength says whether a text is a number of pixels.
func isLength(text string) bool {
	return len(text) > 0 && len(text) <= 5 && strings.Trim(text, "0123456789") == "" && text[0] != '0'
}

// visitorStep gives the visitor a number that lives one day.
type visitorStep struct{}

func (visitorStep) name() string { return "visitor" }

func (visitorStep) pass(p *passage) bool {
	p.event.Visitor = p.today.visitor(p.site.id, p.address, agent.Cut(p.hit.Agent))
	return true
}

// before is the number that the visitor had yesterday, if there was a salt then.
func (p *passage) before() (uint64, bool) {
	if p.yesterday == nil {
		return 0, false
	}
	return p.yesterday.visitor(p.site.id, p.address, agent.Cut(p.hit.Agent)), true
}

// begin is the event that a hit reports, before any step.
func begin(hit *Hit, site *website, now time.Time) passage {
	p := passage{hit: hit, site: site, address: hit.Address.Unmap().WithZone(""), url: page.Split(hit.URL)}
	p.domain = p.url.Domain()
	at := hit.At
	if at.IsZero() {
		at = now
	}
	p.event = analytics.Event{Website: site.id, At: at, Kind: analytics.Custom, Name: page.Cut(hit.Name, analytics.MaxText),
		Value: hit.Value, Unit: page.Cut(hit.Unit, analytics.MaxText),
		Engagement: max(0, min(hit.Engagement, day)), Depth: uint8(max(0, min(hit.Depth, 100)))}
	if len(hit.Props) > 0 {
		p.event.Props = analytics.Event{Props: hit.Props}.Stored().Props
	}
	switch hit.Name {
	case "", Pageview:
		p.event.Kind, p.event.Name = analytics.PageView, ""
	case Engagement:
		p.event.Kind, p.event.Name = analytics.Engagement, ""
	}
	return p
}

// maxSampleAgent is how much of a user agent the exclusion ledger keeps, in bytes.
const maxSampleAgent = 512

// drop is what the exclusion ledger keeps of a hit that was left out: nothing of its address, and no more of its page than would
// be stored.
func (p *passage) drop(reason Reason) analytics.Drop {
	shown, _ := p.site.params.Page(p.url, p.hit.HashMode)
	if reason == WrongURL {
		shown = page.Cut(p.domain+shown, analytics.MaxPage)
	}
	return analytics.Drop{Website: p.site.id, At: p.event.At, Reason: string(reason), Page: shown, Agent: page.Cut(p.hit.Agent, maxSampleAgent)}
}
