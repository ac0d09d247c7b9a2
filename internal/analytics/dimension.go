package analytics

import (
	"slices"
	"strings"
)

// A Dimension is what rows are made by, and what filters look at.
type Dimension string

// The dimensions besides those of properties, see Prop.
const (
	None             Dimension = ""
	ByTime           Dimension = "time"
	ByPage           Dimension = "page"
	ByEntryPage      Dimension = "entry_page" // page of the visit's first page view in the range
	ByExitPage       Dimension = "exit_page"  // page of its last
	ByHostname       Dimension = "hostname"
	ByReferrer       Dimension = "referrer"
	BySource         Dimension = "source"
	ByChannel        Dimension = "channel"
	ByUTMSource      Dimension = "utm_source"
	ByUTMMedium      Dimension = "utm_medium"
	ByUTMCampaign    Dimension = "utm_campaign"
	ByUTMContent     Dimension = "utm_content"
	ByUTMTerm        Dimension = "utm_term"
	ByCountry        Dimension = "country"
	ByRegion         Dimension = "region" // with its country: "US:Texas"
	ByCity           Dimension = "city"   // with its country and region: "US:Austin, Texas"
	ByContinent      Dimension = "continent"
	ByLanguage       Dimension = "language"
	ByBrowser        Dimension = "browser"
	ByBrowserVersion Dimension = "browser_version" // with the browser: "Firefox 144"
	ByOS             Dimension = "os"
	ByOSVersion      Dimension = "os_version" // with the system: "Android 16"
	ByDevice         Dimension = "device"
	ByScreen         Dimension = "screen"
	ByEvent          Dimension = "event" // of custom events
)

// A dimensionRule says how a dimension reads an event. Those of a visit's pages have no function: their value is the visit's.
type dimensionRule struct {
	name Dimension
	// empty says whether events without a value have a row, as direct or unknown; else they have none.
	empty bool
	value func(e *Event) string
}

// dimensionRules is every dimension, besides time and properties.
var dimensionRules = []dimensionRule{
	{ByPage, false, func(e *Event) string { return e.Page }},
	{ByEntryPage, false, nil},
	{ByExitPage, false, nil},
	{ByHostname, false, func(e *Event) string { return e.Hostname }},
	{ByReferrer, true, func(e *Event) string { return e.Referrer }},
	{BySource, true, func(e *Event) string { return e.Source }},
	{ByChannel, true, func(e *Event) string { return e.Channel }},
	{ByUTMSource, false, func(e *Event) string { return e.UTMSource }},
	{ByUTMMedium, false, func(e *Event) string { return e.UTMMedium }},
	{ByUTMCampaign, false, func(e *Event) string { return e.UTMCampaign }},
	{ByUTMContent, false, func(e *Event) string { return e.UTMContent }},
	{ByUTMTerm, false, func(e *Event) string { return e.UTMTerm }},
	{ByCountry, true, func(e *Event) string { return e.Country }},
	{ByRegion, true, func(e *Event) string { return join(e.Region, e.Country+":"+e.Region) }},
	{ByCity, true, func(e *Event) string {
		return join(e.City, e.Country+":"+e.City+join(e.Region, ", "+e.Region))
	}},
	{ByContinent, true, func(e *Event) string { return continent(e.Country) }},
	{ByLanguage, true, func(e *Event) string { return e.Language }},
	{ByBrowser, true, func(e *Event) string { return e.Browser }},
	{ByBrowserVersion, true, func(e *Event) string { return join(e.BrowserVersion, e.Browser+" "+e.BrowserVersion) }},
	{ByOS, true, func(e *Event) string { return e.OS }},
	{ByOSVersion, true, func(e *Event) string { return join(e.OSVersion, e.OS+" "+e.OSVersion) }},
	{ByDevice, true, func(e *Event) string { return e.Device }},
	{ByScreen, true, func(e *Event) string { return e.Screen }},
	{ByEvent, false, func(e *Event) string {
		if e.Kind != Custom {
			return ""
		}
		return e.Name
	}},
}

// continent is the code of a country's continent; empty for what is none.
func continent(country string) string {
	found, _ := CountryOf(country)
	return found.Continent
}

// join is whole when part is there, else nothing.
func join(part, whole string) string {
	if part == "" {
		return ""
	}
	return whole
}

const propPrefix = "prop:"

// Prop is the dimension of a property.
func Prop(name string) Dimension { return Dimension(propPrefix + name) }

// Prop is the property that a dimension stands for, if it is one.
func (d Dimension) Prop() (name string, ok bool) {
	return strings.CutPrefix(string(d), propPrefix)
}

// Dimensions lists all of them besides time and properties.
func Dimensions() []Dimension {
	list := make([]Dimension, len(dimensionRules))
	for i, rule := range dimensionRules {
		list[i] = rule.name
	}
	return list
}

func (d Dimension) rule() (dimensionRule, bool) {
	i := slices.IndexFunc(dimensionRules, func(rule dimensionRule) bool { return rule.name == d })
	if i < 0 {
		return dimensionRule{}, false
	}
	return dimensionRules[i], true
}

// known says whether events can be filtered by d.
func (d Dimension) known() bool {
	if name, ok := d.Prop(); ok {
		return name != "" && len(name) <= MaxPropName && cut(name, MaxPropName) == name
	}
	_, ok := d.rule()
	return ok
}

// KeepsEmpty says whether events without a value have a row (direct, unknown) or none.
func (d Dimension) KeepsEmpty() bool {
	rule, _ := d.rule()
	return rule.empty
}

// OfVisit says whether the value is one of the whole visit, not of an event.
func (d Dimension) OfVisit() bool { return d == ByEntryPage || d == ByExitPage }

// Value is what an event has in a dimension that is neither time nor of the visit.
func (d Dimension) Value(e *Event) string {
	if name, ok := d.Prop(); ok {
		return e.Props[name]
	}
	if rule, ok := d.rule(); ok && rule.value != nil {
		return rule.value(e)
	}
	return ""
}
