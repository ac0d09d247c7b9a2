package analytics

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Stored is an event as every store keeps it: times to the millisecond, text as valid UTF-8 within its limits, a finite
// value. Stores call it on what they append, so that no event can be refused once its hit was answered.
func (e Event) Stored() Event {
	e.At = e.At.UTC().Truncate(time.Millisecond)
	e.Engagement = max(0, min(e.Engagement, maxEngagement)).Truncate(time.Millisecond)
	e.Depth = min(e.Depth, 100)
	if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		e.Value = 0
	}
	e.cutTexts()
	e.Props = storedProps(e.Props)
	return e
}

// maxEngagement is the longest time that one event can add to a page.
const maxEngagement = 24 * time.Hour

// cutTexts brings the fields that hold text within their limit.
func (e *Event) cutTexts() {
	for _, field := range [...]*string{&e.Name, &e.Page, &e.Hostname, &e.Unit,
		&e.Referrer, &e.Source, &e.Channel, &e.UTMSource, &e.UTMMedium, &e.UTMCampaign, &e.UTMContent, &e.UTMTerm,
		&e.Country, &e.Region, &e.City,
		&e.Language, &e.Browser, &e.BrowserVersion, &e.OS, &e.OSVersion, &e.Device, &e.Screen} {
		*field = cut(*field, MaxText)
	}
}

// storedProps keeps the first properties by name, cut to their limits, and leaves out those without a name or a value. Most
// need nothing of that and stay as they are.
func storedProps(props map[string]string) map[string]string {
	if len(props) == 0 {
		return nil
	}
	if len(props) <= MaxProps && fit(props) {
		return props
	}
	var kept map[string]string
	for _, name := range slices.Sorted(maps.Keys(props)) {
		short, value := cut(name, MaxPropName), cut(props[name], MaxPropValue)
		if short == "" || value == "" {
			continue
		}
		if len(kept) == MaxProps {
			break
		}
		if kept == nil {
			kept = make(map[string]string, min(len(props), MaxProps))
		}
		kept[short] = value
	}
	return kept
}

// fit says whether every property can be stored as it is.
func fit(props map[string]string) bool {
	for name, value := range props {
		if name == "" || value == "" || cut(name, MaxPropName) != name || cut(value, MaxPropValue) != value {
			return false
		}
	}
	return true
}

// cut makes text valid UTF-8 of at most so many bytes.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Stored is a drop as every store keeps it.
func (d Drop) Stored() Drop {
	d.At = d.At.UTC().Truncate(time.Millisecond)
	d.Reason, d.Page, d.Agent = cut(d.Reason, MaxText), cut(d.Page, MaxPage), cut(d.Agent, MaxText)
	return d
}
