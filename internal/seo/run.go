package seo

import (
	"context"
	"time"

	"sightline/internal/listing"
)

// A Run is one audit of a report. Earlier runs stay, the newest MaxRuns of them.
type Run struct {
	Number    int // from 1
	State     State
	QueuedAt  time.Time
	StartedAt time.Time // zero: not yet
	EndedAt   time.Time // zero: not yet
	Outcome
}

// A RunRef names a run: its report and its number, where 0 is the newest that ended, or the newest while none has.
type RunRef struct {
	Report int64
	Number int
}

// A PageResult is a page of a run, with how it was rated.
type PageResult struct {
	*Page
	Score    PageScore // zero until the run is nearly done
	Findings int       // how many checks it fails
}

// A PageClass says in a word what became of a page.
type PageClass string

// What can become of a page.
const (
	PageOK         PageClass = "ok"
	PageRedirect   PageClass = "redirect"
	PageBroken     PageClass = "broken"
	PageDisallowed PageClass = "disallowed"
)

// Class says in a word what became of the page.
func (p *Page) Class() PageClass {
	switch {
	case p.IsRedirect():
		return PageRedirect
	case p.Disallowed():
		return PageDisallowed
	case p.Broken():
		return PageBroken
	}
	return PageOK
}

// What a list of the pages of a run can be sorted by. A page that does not count has the lowest score.
const (
	SortPagesByURL   = "url"
	SortPagesByScore = "score"
)

// A PageFilter narrows the pages of a run. The zero filter lets all through.
type PageFilter struct {
	Class PageClass
}

// A FindingFilter narrows the findings of a run. The zero filter lets all through.
type FindingFilter struct {
	Check    string
	Severity Severity
	Page     string // its address
}

// A Comparison says what changed from one run to another in one check. A page that the later run did not reach counts as fixed.
type Comparison struct {
	Check            string
	Severity         Severity
	New, Fixed, Open int      // pages
	NewPages         []string // the first ComparedPages of them, by address
	FixedPages       []string
}

// ComparedPages is how many pages a comparison names.
const ComparedPages = 10

// Results is where what audits found can be read. Every method is bound to one account: what another account owns is NotFound.
type Results interface {
	// ReportRuns lists one page of the runs of a report, the newest first.
	ReportRuns(ctx context.Context, account, report int64, r listing.Request) (listing.Page[Run], error)
	// ReportRun reads one.
	ReportRun(ctx context.Context, account int64, run RunRef) (Run, error)
	// ReportPages lists one page of the pages of a run. Search looks in the address, byte by byte.
	ReportPages(ctx context.Context, account int64, run RunRef, f PageFilter, r listing.Request) (listing.Page[PageResult], error)
	// ReportFindings lists one page of the findings of a run: errors, then warnings, then notices, by check and by address.
	ReportFindings(ctx context.Context, account int64, run RunRef, f FindingFilter, r listing.Request) (listing.Page[Finding], error)
	// EachPage calls each with every page of a run, by address, and ends with its error. It holds few of them at a time.
	EachPage(ctx context.Context, account int64, run RunRef, each func(PageResult) error) error
	// EachFinding calls each with every finding of a run in the order of ReportFindings, and ends with its error.
	EachFinding(ctx context.Context, account int64, run RunRef, f FindingFilter, each func(Finding) error) error
	// CompareRuns says what changed from one run of a report to another, for each check that finds something in either: errors
	// first, then by check.
	CompareRuns(ctx context.Context, account, report int64, from, to int) ([]Comparison, error)
}
