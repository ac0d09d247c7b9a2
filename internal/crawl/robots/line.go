package robots

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// read takes in one line.
func (r *reader) read(line string) {
	content, _, _ := strings.Cut(line, "#")
	content = strings.Trim(content, " \t\x00")
	if content == "" {
		return
	}
	if !utf8.ValidString(content) {
		r.problem("the line is not UTF-8 text")
	}
	name, value, ok := r.split(content)
	if !ok {
		return
	}
	switch strings.ToLower(name) {
	case "user-agent":
		r.agent(value)
	case "allow", "disallow":
		r.rule(content, strings.EqualFold(name, "disallow"), value)
	case "crawl-delay":
		r.delay(value)
	case "sitemap":
		r.sitemap(value)
	case "host", "clean-param", "request-rate", "visit-time", "content-signal":
		// directives of single search engines: known, and not for us
	default:
		r.problem("%s is not a directive that crawlers know", quote(name))
	}
}

// split cuts a line at its colon. A known directive without one is taken at its first space, as large search engines do.
func (r *reader) split(content string) (name, value string, ok bool) {
	if name, value, ok = strings.Cut(content, ":"); ok {
		return strings.TrimSpace(name), strings.TrimSpace(value), true
	}
	space := strings.IndexAny(content, " \t")
	if space > 0 {
		name, value = content[:space], strings.TrimSpace(content[space:])
		switch strings.ToLower(name) {
		case "user-agent", "allow", "disallow", "sitemap", "crawl-delay":
			r.problem("the colon after %s is missing", quote(name))
			return name, value, !strings.ContainsAny(value, " \t")
		}
	}
	r.problem("%s is not a directive with a colon and a value", quote(content))
	return "", "", false
}

func (r *reader) agent(value string) {
	if value == "" {
		r.problem("the user-agent has no name")
	}
	if r.group == nil || r.ruled {
		r.group, r.ruled = &group{}, false
		r.file.groups = append(r.file.groups, r.group)
	}
	r.group.agents = append(r.group.agents, token(value))
}

// token is the product token at the start of an agent's name: Bot/2.1 is bot.
func token(value string) string {
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		return "*"
	}
	end := 0
	for end < len(value) && (isLetter(value[end]) || value[end] == '-' || value[end] == '_') {
		end++
	}
	return strings.ToLower(value[:end])
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func (r *reader) rule(line string, disallow bool, value string) {
	if r.group == nil {
		r.problem("the rule stands before the first user-agent and belongs to nobody")
		return
	}
	r.ruled = true
	if value == "" {
		return
	}
	if value[0] != '/' && value[0] != '*' {
		r.problem("the path %s does not begin with / or *", quote(value))
	}
	if value == "$" {
		return
	}
	r.group.rules = append(r.group.rules, Rule{Line: r.line, Text: shown(line), Disallow: disallow, pattern: newPattern(value)})
}

func (r *reader) delay(value string) {
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || !(seconds >= 0):
		r.problem("the crawl-delay %s is not a number of seconds", quote(value))
	case r.group == nil:
		r.problem("the crawl-delay stands before the first user-agent and belongs to nobody")
	default:
		r.group.setDelay(time.Duration(min(seconds, MaxDelay.Seconds()) * float64(time.Second)))
	}
}

// setDelay gives a delay to the agents that have none yet.
func (g *group) setDelay(delay time.Duration) {
	if g.delays == nil {
		g.delays = map[string]time.Duration{}
	}
	for _, agent := range g.agents[g.delayed:] {
		if _, has := g.delays[agent]; !has {
			g.delays[agent] = delay
		}
	}
	g.delayed = len(g.agents)
}

func (r *reader) sitemap(value string) {
	lower := strings.ToLower(value)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
		r.problem("the sitemap %s is not a whole address such as https://example.com/sitemap.xml", quote(value))
		return
	}
	r.file.Sitemaps = append(r.file.Sitemaps, value)
}

// quote shows a piece of a line.
func quote(text string) string { return strconv.Quote(shown(text)) }

// shown is a piece of a line that people can read and databases store: not too long, and text only.
func shown(text string) string {
	const most = 120
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}
