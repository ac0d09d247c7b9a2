package export

import (
	"cmp"
	"slices"

	"sightline/internal/check"
	"sightline/internal/seo"
)

// A Group is what one check found.
type Group struct {
	check.Row
	Points float64 // what the score gains when it is fixed everywhere
	Count  int     // pages
	First  []seo.Finding
}

// More is how many findings the group does not show.
func (g *Group) More() int { return g.Count - len(g.First) }

// Groups are the findings by check, with the first few of each: errors, then warnings, then notices; what returns most first.
func (a *Audit) Groups(shown int) ([]Group, error) {
	table := rows()
	byCheck := map[string]*Group{}
	for f, err := range a.Findings {
		if err != nil {
			return nil, err
		}
		g := byCheck[f.Check]
		if g == nil {
			g = &Group{Row: table[f.Check]}
			byCheck[f.Check] = g
		}
		if g.Count++; len(g.First) < shown {
			g.First = append(g.First, f)
		}
	}
	var groups []Group
	for _, r := range a.Results {
		if g := byCheck[r.Check]; g != nil {
			g.Points = r.Points
			groups = append(groups, *g)
		}
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(Tenths(b.Points), Tenths(a.Points)), cmp.Compare(b.Count, a.Count))
	})
	return groups, nil
}

// stops says in words what ended a crawl.
var stops = map[string]string{
	"pages":       "it ended at the limit of pages",
	"depth":       "pages beyond the limit of depth were left out",
	"known":       "the site has more addresses than an audit remembers",
	"time":        "it ended at the limit of time",
	"unreachable": "the site stopped answering",
	"canceled":    "it was stopped",
}

// Incomplete says in words why not all of the site was audited; empty if all was, or if that was not asked for.
func (a *Audit) Incomplete() string {
	if a.StoppedBy == "" {
		return ""
	}
	return cmp.Or(stops[a.StoppedBy], a.StoppedBy)
}
