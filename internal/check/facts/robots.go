package facts

import (
	"strings"
	"time"

	"sightline/internal/seo"
)

// valued are the directives that carry a value after a colon; any other word before a colon names an agent.
var valued = map[string]bool{"unavailable_after": true, "max-snippet": true, "max-image-preview": true, "max-video-preview": true}

// engines are the agents whose name a robots meta element may carry.
var engines = map[string]bool{
	"googlebot": true, "bingbot": true, "slurp": true, "duckduckbot": true, "baiduspider": true, "yandex": true, "applebot": true,
}

// parseRobotsMeta reads a meta element by its name and content; nil when the name is not about robots.
func parseRobotsMeta(name, content string) []seo.RobotsRule {
	name = strings.ToLower(strings.TrimSpace(name))
	switch {
	case name == "robots":
		return parseRules("", content)
	case engines[name]:
		return parseRules(name, content)
	}
	return nil
}

// parseRules reads directives that commas part. In an X-Robots-Tag header the name of an agent and a colon may stand before
// those that are for it alone. A date may hold a comma itself.
func parseRules(agent, text string) []seo.RobotsRule {
	var rules []seo.RobotsRule
	for text != "" && len(rules) < maxRules {
		var item string
		item, text, _ = strings.Cut(text, ",")
		name, value, colon := strings.Cut(item, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if colon && name != "" && !valued[name] && !strings.Contains(name, " ") {
			agent = clean(name, maxLinkText)
			name, value, _ = strings.Cut(value, ":")
			name = strings.ToLower(strings.TrimSpace(name))
		}
		if name == "unavailable_after" {
			var until time.Time
			until, text = parseUntil(value, text)
			rules = append(rules, seo.RobotsRule{Agent: agent, Name: name, Until: until})
			continue
		}
		for word := range strings.FieldsSeq(name) { // some write spaces for commas
			if rules = append(rules, seo.RobotsRule{Agent: agent, Name: clean(word, maxLinkText)}); len(rules) == maxRules {
				break
			}
		}
	}
	return rules[:min(len(rules), maxRules)]
}

// parseUntil reads a date that may go on behind the next comma, and returns what follows it.
func parseUntil(value, rest string) (time.Time, string) {
	if until, ok := parseDate(value); ok {
		return until, rest
	}
	more, after, _ := strings.Cut(rest, ",")
	if until, ok := parseDate(value + "," + more); ok {
		return until, after
	}
	return time.Time{}, rest
}

var dates = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02",
	"Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 -0700", "Monday, 02-Jan-06 15:04:05 MST", "2 Jan 2006 15:04:05 MST",
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 MST", "2 Jan 06 15:04 MST", "2 Jan 06 15:04 -0700", "2-Jan-2006 15:04:05 MST", "2 Jan 2006",
}

func parseDate(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 64 {
		return time.Time{}, false
	}
	for _, layout := range dates {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
