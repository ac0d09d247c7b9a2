package beacon

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sightline/internal/collect"
	"sightline/internal/fault"
)

// plausible is the format of Plausible's scripts and of programs that use its events API.
var plausible = format{decodePlausible, answerPlausible}

// Limits of a Plausible report.
const (
	maxURL     = 2000 // bytes
	maxDomains = 20   // websites that one report may count for
)

// decodePlausible reads a report: one hit for each domain. The names of bad fields are those that Plausible gives them.
func decodePlausible(p payload) ([]collect.Hit, error) {
	bad := fault.Invalid{}
	hit := collect.Hit{HashMode: flag(p.first("h", "hashMode"))}
	hit.Name, _ = text(p.first("n", "name"))
	switch {
	case hit.Name == "":
		bad.Add("event_name", "can't be blank")
	case utf8.RuneCountInString(hit.Name) > maxName:
		bad.Add("event_name", fmt.Sprintf("should be at most %d character(s)", maxName))
	}
	hit.URL = plausibleURL(p, bad)
	hit.Referrer, _ = text(p.first("r", "referrer"))
	hit.Referrer = strings.ToValidUTF8(hit.Referrer[:min(len(hit.Referrer), maxURL)], "")
	hit.Screen, _ = text(p.first("w"))
	var err error
	if hit.Props, err = properties(p.first("m", "meta", "p", "props")); err != nil && err != errProps {
		bad.Add("props", err.Error())
	}
	hit.Props = firstProps(hit.Props)
	hit.Value, hit.Unit = revenue(p.first("$", "revenue"))
	if hit.Name == collect.Engagement {
		var read, seen bool
		hit.Depth, read = percent(p.first("sd"))
		hit.Engagement, seen = inView(p.first("e"))
		if !read && !seen {
			bad.Add("event_name", "engagement needs a number in sd (percent read) or e (milliseconds in view)")
		}
	}
	hits := forDomains(hit, p, bad)
	return hits, bad.OrNil()
}

// plausibleURL reads the address of the page.
func plausibleURL(p payload, bad fault.Invalid) string {
	raw := p.first("u", "url")
	address, ok := text(raw)
	scheme, _, _ := strings.Cut(address, ":")
	switch {
	case raw == nil:
		bad.Add("url", "is required")
	case !ok || len(address) > maxURL:
		bad.Add("url", fmt.Sprintf("must be a valid url of at most %d bytes", maxURL))
	case strings.EqualFold(strings.TrimSpace(scheme), "data"):
		bad.Add("url", "scheme is not allowed")
	}
	return address
}

// forDomains repeats a hit for every domain that the report names. Without any, the host of the page decides.
func forDomains(hit collect.Hit, p payload, bad fault.Invalid) []collect.Hit {
	raw := p.first("d", "domain")
	list, _ := text(raw)
	if raw == nil || raw[0] != '"' {
		if !hasHost(hit.URL) {
			bad.Add("domain", "can't be blank")
		}
		return []collect.Hit{hit}
	}
	var hits []collect.Hit
	for domain := range strings.SplitSeq(list, ",") {
		if hit.Domain = strings.TrimPrefix(strings.TrimSpace(domain), "www."); hit.Domain != "" {
			hits = append(hits, hit)
		}
	}
	if len(hits) == 0 {
		bad.Add("domain", "can't be blank")
	}
	if len(hits) > maxDomains {
		bad.Add("domain", fmt.Sprintf("must be at most %d domains", maxDomains))
	}
	return hits
}

// hasHost says whether an address names a host.
func hasHost(address string) bool {
	_, rest, found := strings.Cut(address, "://")
	return found && rest != "" && !strings.ContainsRune("/?#", rune(rest[0]))
}

// revenue reads what an event is worth: an object, or one written as text. One that is not valid is worth nothing.
func revenue(raw json.RawMessage) (amount float64, currency string) {
	if written, ok := text(raw); ok {
		raw = json.RawMessage(written)
	}
	p, err := parsePayload(raw)
	if err != nil {
		return 0, ""
	}
	amount, worth := number(p.first("amount"))
	currency, named := text(p.first("currency"))
	if !worth || !named || len(currency) != 3 {
		return 0, ""
	}
	return amount, strings.ToUpper(currency)
}

// firstProps are the first properties by name, as many as an event may have.
func firstProps(props map[string]string) map[string]string {
	if len(props) <= maxProps {
		return props
	}
	first := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(props))[:maxProps] {
		first[key] = props[key]
	}
	return first
}

// answerPlausible answers 202, and in a header how many hits were left out.
func answerPlausible(w http.ResponseWriter, outcomes []collect.Outcome) {
	dropped := 0
	for _, outcome := range outcomes {
		if !outcome.Stored() {
			dropped++
		}
	}
	if dropped > 0 {
		expose(w, "X-Plausible-Dropped", strconv.Itoa(dropped))
	}
	writeText(w, http.StatusAccepted, "ok")
}
