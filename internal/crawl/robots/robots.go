// Package robots reads robots.txt by RFC 9309 and says what it allows.
package robots

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// MaxSize is how much of a file is read, in bytes; what follows is ignored.
	MaxSize = 500 << 10
	// MaxDelay is the longest crawl-delay that is honoured.
	MaxDelay = 30 * time.Second

	maxProblems = 100
)

// A File is a robots.txt that was read. The zero File allows everything.
type File struct {
	Sitemaps []string  // the sitemaps that it names, as written
	Problems []Problem // what is wrong with it, at most 100
	groups   []*group
}

// A Problem is a line that a crawler cannot follow.
type Problem struct {
	Line int
	Text string // what is wrong, in words
}

// A Rule is a line that allows or disallows addresses. The zero Rule is no line at all, and allows.
type Rule struct {
	Line     int
	Text     string // the line as written, such as "Disallow: /private"; at most 120 bytes of it
	Disallow bool
	pattern  pattern
}

// A group is the rules for some agents.
type group struct {
	agents  []string // product tokens in lower case, or *
	rules   []Rule
	delays  map[string]time.Duration // by agent: of those that stand before the crawl-delay
	delayed int                      // how many of the agents have one
}

// Parse reads a file. There is no text that it refuses: a line that makes no sense becomes a Problem.
func Parse(text []byte) *File {
	r := reader{file: &File{}}
	cut := len(text) > MaxSize
	if cut {
		text = text[:MaxSize]
	}
	rest := strings.TrimPrefix(string(text), "\ufeff")
	for rest != "" {
		r.line++
		line := rest
		if end := strings.IndexAny(rest, "\r\n"); end < 0 {
			rest = ""
		} else {
			line = rest[:end]
			if strings.HasPrefix(rest[end:], "\r\n") {
				end++
			}
			rest = rest[end+1:]
		}
		r.read(line)
	}
	if cut {
		r.problem("the file is larger than %d KiB: crawlers ignore the rest", MaxSize>>10)
	}
	return r.file
}

// Match finds the rule that decides about a path with its query, for an agent such as "SightlineBot": the longest one of
// the groups that name the agent, or else of those for all. Of two as long, one that allows wins.
func (f *File) Match(agent, target string) Rule {
	var best Rule
	if target == "/robots.txt" {
		return best
	}
	path := newPath(target)
	for _, g := range f.groupsOf(agent) {
		for _, rule := range g.rules {
			longer := rule.pattern.length - best.pattern.length
			if (best.Line == 0 || longer > 0 || longer == 0 && best.Disallow && !rule.Disallow) && rule.pattern.matches(path) {
				best = rule
			}
		}
	}
	return best
}

// Delay is the pause between requests that the file asks an agent for, at most MaxDelay; zero when it asks for none.
func (f *File) Delay(agent string) time.Duration {
	var longest time.Duration
	agent = strings.ToLower(agent)
	for _, g := range f.groupsOf(agent) {
		if slices.Contains(g.agents, agent) {
			longest = max(longest, g.delays[agent])
		} else {
			longest = max(longest, g.delays["*"])
		}
	}
	return longest
}

// groupsOf are the groups that name an agent or, when none does, those for all agents.
func (f *File) groupsOf(agent string) []*group {
	agent = strings.ToLower(agent)
	var named, all []*group
	for _, g := range f.groups {
		if slices.Contains(g.agents, agent) {
			named = append(named, g)
		} else if slices.Contains(g.agents, "*") {
			all = append(all, g)
		}
	}
	if named != nil {
		return named
	}
	return all
}

// A reader goes through a file line by line.
type reader struct {
	file  *File
	line  int
	group *group // the one that rules belong to; nil before the first user-agent
	ruled bool   // the group has rules: the next user-agent starts another
}

func (r *reader) problem(format string, args ...any) {
	if len(r.file.Problems) < maxProblems {
		r.file.Problems = append(r.file.Problems, Problem{r.line, fmt.Sprintf(format, args...)})
	}
}
