package seo

// A PageScore says how a page comes to its score: the points of the checks that it passes, out of those that apply to it.
type PageScore struct {
	Passed, Applicable int
	Counted            bool // the page is part of the site's score
	Value              int  // 0 to 100
}

// ScorePage rates a page by the points of its checks. A page that does not answer well has nothing to offer and gets 0.
func ScorePage(p *Page, passed, applicable int) PageScore {
	s := PageScore{Passed: passed, Applicable: applicable}
	isPage := p.IsHTML || p.Broken() // what robots.txt disallows is neither
	s.Counted = isPage && applicable > 0 && !p.IsRedirect() && !p.NoIndex()
	if applicable > 0 && !p.Broken() {
		s.Value = percent(passed, applicable)
	}
	return s
}

// percent is rounded to the nearest whole number, halves up.
func percent(part, whole int) int { return (200*part + whole) / (2 * whole) }

// A Score rates a site and says what it is made of.
type Score struct {
	Value    *int // 0 to 100, the mean of the pages that count; nil: there is no such page
	Pages    int  // how many count
	Complete bool // the whole site was crawled
	Checks   []CheckScore
}

// A CheckScore says how a site does in one check.
type CheckScore struct {
	Check    string
	Severity Severity
	Pages    int     // to which the check applies
	Failed   int     // pages that fail it
	Points   float64 // what the site's score gains when it is fixed everywhere
}

// Result says in a word how good a score is; empty while there is none.
func Result(score *int) string {
	switch {
	case score == nil:
		return ""
	case *score >= 80:
		return "good"
	case *score >= 50:
		return "decent"
	default:
		return "bad"
	}
}
