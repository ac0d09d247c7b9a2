// Package check holds the checks of an audit: one small pure function and one row of the table for each.
package check

import (
	"slices"
	"strconv"
	"strings"

	"sightline/internal/seo"
)

// A Scope says what a check looks at.
type Scope string

// What a check looks at.
const (
	ScopePage Scope = "page" // one page, with the answers of what it links to
	ScopeSite Scope = "site" // a page among all others, or the host as a whole
)

// A Row describes a check.
type Row struct {
	ID       string
	Severity seo.Severity
	Scope    Scope
	Title    string // the defect in a few words
	Finds    string // when exactly a page fails
	Fix      string // what to do, for the owner of the site
	Min, Max int    // the thresholds, where there are any; both are still good; texts name them {min} and {max}

	on where
	// Exactly one of these is set. A check of one page runs while the crawl goes on, the others when it is finished.
	page  func(p *seo.Page, r *Row) hit
	graph func(p *seo.Page, g *graph, r *Row) hit
	host  func(s *seo.Site, r *Row) hit

	asked func(s *seo.Site) bool // of a check of the host: the audit asked for what it needs
}

// A where says to which pages a check applies.
type where struct {
	name  string
	holds func(p *seo.Page) bool
}

// On names the pages to which the check applies.
func (r *Row) On() string { return r.on.name }

// A hit is what a check finds on a page. The zero hit is a page that passes.
type hit struct {
	value    string
	count    int
	evidence []string
}

// maxEvidence is how many pieces of evidence a finding shows; its count goes on.
const maxEvidence = 10

// add counts one more defect.
func (h *hit) add(evidence string) {
	if h.count++; len(h.evidence) < maxEvidence {
		h.evidence = append(h.evidence, evidence)
	}
}

// fail is a hit of one defect.
func fail(value string, evidence ...string) hit {
	return hit{value: value, count: 1, evidence: evidence}
}

// finding is what a hit means for a page.
func (r *Row) finding(p *seo.Page, h hit) seo.Finding {
	return seo.Finding{
		Check: r.ID, Page: p.URL, Severity: r.Severity, Value: h.value, Count: h.count, Evidence: h.evidence, Points: r.Severity.Points(),
	}
}

// Table lists all checks, in the order in which reports show them.
func Table() []Row {
	rows := slices.Clone(table)
	for i := range rows {
		r := &rows[i]
		limits := strings.NewReplacer("{min}", strconv.Itoa(r.Min), "{max}", strconv.Itoa(r.Max))
		r.Finds, r.Fix = limits.Replace(r.Finds), limits.Replace(r.Fix)
	}
	return rows
}

// Page runs the checks that need nothing but the page itself, while the crawl goes on.
func Page(p *seo.Page) []seo.Finding {
	var findings []seo.Finding
	for i := range table {
		r := &table[i]
		if r.page == nil || !r.on.holds(p) {
			continue
		}
		if h := r.page(p, r); h.count > 0 {
			findings = append(findings, r.finding(p, h))
		}
	}
	return findings
}
