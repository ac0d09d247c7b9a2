package check

import (
	"strconv"

	"sightline/internal/seo"
)

func askedRobots(s *seo.Site) bool { return s.Robots.URL != "" }

func robotsInvalid(s *seo.Site, _ *Row) hit {
	h := problems(s.Robots.Problems)
	h.value = number(h.count, "bad line")
	return h
}

// problems shows where a file is wrong.
func problems(list []seo.Problem) hit {
	var h hit
	for _, p := range list {
		line := p.What
		if p.Text != "" {
			line += ": " + p.Text
		}
		if p.Line > 0 {
			line = "line " + strconv.Itoa(p.Line) + ": " + line
		}
		h.add(line)
	}
	return h
}

func robotsUnreachable(s *seo.Site, _ *Row) hit {
	status := strconv.Itoa(s.Robots.Status)
	switch {
	case s.Robots.Failure.Unanswered():
		return fail(string(s.Robots.Failure), s.Robots.URL+" → "+reason(s.Robots.Failure, s.Robots.Reason))
	case s.Robots.Status >= 500 || s.Robots.Status == 429:
		return fail(status, s.Robots.URL+" → "+status)
	}
	return hit{}
}
