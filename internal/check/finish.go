package check

import (
	"context"
	"fmt"

	"sightline/internal/seo"
)

// Finish runs over a finished crawl the checks that need more than one page, and rates every page and the site. It calls each
// once for every page, with the findings that Page could not have and the score of the page with all of them.
func Finish(ctx context.Context, c seo.Crawl, each func(*seo.Page, []seo.Finding, seo.PageScore) error) (seo.Score, error) {
	g, err := newGraph(ctx, c)
	if err != nil {
		return seo.Score{}, err
	}
	t := tally{checks: make([]seo.CheckScore, len(table))}
	for p, err := range c.Pages(ctx) {
		if err != nil {
			return seo.Score{}, fmt.Errorf("read the pages: %w", err)
		}
		v := g.judge(p)
		score := v.score(p)
		t.add(v, score)
		if err := each(p, v.late, score); err != nil {
			return seo.Score{}, err
		}
	}
	return t.score(g.site.Complete), nil
}

// A verdict is how a page does in every check.
type verdict struct {
	passed, failed []int // rows of the table
	late           []seo.Finding
}

// judge runs all checks over a page. Those of the host count on the start page, others of the site where they name the page.
func (g *graph) judge(p *seo.Page) verdict {
	var v verdict
	for i := range table {
		r := &table[i]
		var h hit
		switch {
		case r.host != nil:
			if p.URL != g.start || !r.asked(&g.site) {
				continue
			}
			h = r.host(&g.site, r)
		case !r.on.holds(p):
			continue
		case r.page != nil:
			h = r.page(p, r)
		default:
			h = r.graph(p, g, r)
		}
		switch {
		case h.count > 0:
			v.failed = append(v.failed, i)
		case r.Scope == ScopePage || r.host != nil:
			v.passed = append(v.passed, i)
		}
		if h.count > 0 && r.page == nil {
			v.late = append(v.late, r.finding(p, h))
		}
	}
	return v
}

func (v *verdict) score(p *seo.Page) seo.PageScore {
	passed, failed := points(v.passed), points(v.failed)
	return seo.ScorePage(p, passed, passed+failed)
}

func points(rows []int) int {
	sum := 0
	for _, i := range rows {
		sum += table[i].Severity.Points()
	}
	return sum
}

// A tally adds up the score of a site. The order of the pages does not matter.
type tally struct {
	sum, pages int
	checks     []seo.CheckScore // Points are the sum over the pages until score divides it
}

func (t *tally) add(v verdict, s seo.PageScore) {
	if s.Counted {
		t.sum += s.Value
		t.pages++
	}
	for _, i := range v.passed {
		t.checks[i].Pages++
	}
	for _, i := range v.failed {
		c := &t.checks[i]
		c.Pages++
		c.Failed++
		if s.Counted {
			c.Points += gain(&table[i], s)
		}
	}
}

// gain is by how much the score of a page rises when it passes one more check, before rounding. A check of the site that no longer
// names a page does not apply to it either.
func gain(r *Row, s seo.PageScore) float64 {
	now := share(s.Passed, s.Applicable)
	if s.Value == 0 {
		now = 0 // also of a page that does not answer, whatever else it passes
	}
	if worth := r.Severity.Points(); r.Scope == ScopeSite && r.host == nil {
		s.Applicable -= worth
	} else {
		s.Passed += worth
	}
	return share(s.Passed, s.Applicable) - now
}

func share(passed, applicable int) float64 {
	if applicable == 0 {
		return 0
	}
	return 100 * float64(passed) / float64(applicable)
}

func (t *tally) score(complete bool) seo.Score {
	s := seo.Score{Pages: t.pages, Complete: complete, Checks: t.checks}
	for i := range s.Checks {
		s.Checks[i].Check, s.Checks[i].Severity = table[i].ID, table[i].Severity
		if t.pages > 0 {
			s.Checks[i].Points /= float64(t.pages)
		}
	}
	if t.pages > 0 {
		value := (2*t.sum + t.pages) / (2 * t.pages)
		s.Value = &value
	}
	return s
}
