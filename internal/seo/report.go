package seo

import (
	"context"
	"reflect"
	"time"

	"sightline/internal/access"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/site"
	"sightline/internal/trash"
)

// The limits of reports.
const (
	DefaultPages = 500    // pages of a whole site, unless its report says otherwise
	MaxPages     = 50_000 // as many as one sitemap may list, and as checks over a whole site are measured with
	MaxDepth     = 100    // clicks from the start; no visitor goes that far
	MaxRuns      = 20     // runs kept of a report, the newest ones; each has the facts of all its pages
	MaxWaiting   = 1000   // reports of an account that wait for their audit or are in it, so that one flood does not bury the others
)

// A Report is an address under audit, with what came of its newest audit.
type Report struct {
	ID, AccountID int64
	ProjectID     int64
	Project       string // the name of its project; follows from URL
	URL           string
	Scope         Scope
	MaxPages      int    // how many pages are audited; 1 in page scope
	MaxDepth      int    // how many clicks from the start; 0: as many as there are
	Sitemap       string // whose pages are audited as well; empty: of those that the site names
	IgnoreRobots  bool   // what its robots.txt disallows is audited too; for owners of the host alone
	Privacy       access.Privacy
	PasswordHash  string // argon2id; empty when no password is set
	State         State
	Run           int  // the number of its newest run, from 1
	Stopping      bool // the run is to end before its time
	Progress      Progress
	Outcome                 // of the newest run that ended; empty before
	Version       int64     // grows with each change, progress aside
	QueuedAt      time.Time // when the newest run was asked for
	GeneratedAt   time.Time // when the newest run that ended did so; zero: none has
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// A Scope says how much of a site is audited.
type Scope string

// The scopes.
const (
	ScopePage Scope = "page" // the one page, with its links and images
	ScopeSite Scope = "site" // all pages that can be found from it
)

// A State says where an audit stands.
type State string

// The states.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"  // there is nothing to rate; Failure says why
	Stopped State = "stopped" // by its owner
)

// Ended says that an audit is over.
func (s State) Ended() bool { return s != Queued && s != Running }

// Progress is how far an audit is.
type Progress struct {
	Done, Found int    // pages
	Current     string // the address that was fetched last
}

// An Outcome is what an audit came to.
type Outcome struct {
	Score     *int // 0 to 100; nil: there is no page to rate
	Issues    Issues
	Pages     int    // that were audited
	StoppedBy string // the limit that ended the crawl, such as pages; empty: it is complete
	Failure   string // why there is no score, in a sentence for people
	Results   []CheckResult
}

// Issues counts findings.
type Issues struct{ Errors, Warnings, Notices int }

// Add counts some of a severity.
func (i *Issues) Add(s Severity, n int) {
	switch s {
	case Error:
		i.Errors += n
	case Warning:
		i.Warnings += n
	default:
		i.Notices += n
	}
}

// A CheckResult is how a report does in one check that applies to it.
type CheckResult struct {
	Check    string
	Severity Severity
	Passed   bool
	Value    string  // what was measured, in a few words; where there is one page
	Findings int     // how many pages fail it
	Points   float64 // what the score gains when it is fixed everywhere
}

// NewReport is a report with the defaults, whose first run waits. It still needs a URL.
func NewReport(account int64, now time.Time) Report {
	now = now.UTC().Truncate(time.Second)
	return Report{AccountID: account, Scope: ScopePage, MaxPages: 1, Privacy: access.Private, State: Queued, Run: 1, Version: 1,
		QueuedAt: now, CreatedAt: now, UpdatedAt: now}
}

// SetURL reads an address into URL and Project.
func (r *Report) SetURL(text string) error {
	var p Project
	if err := p.SetURL(text); err != nil {
		return err
	}
	address, err := site.Parse(text)
	if err != nil {
		return fault.Field("url", err.Error())
	}
	r.URL, r.Project = address.URL, p.Name
	return nil
}

// SetScope takes over how much is audited, with the number of pages that is usual for it.
func (r *Report) SetScope(scope Scope) {
	r.Scope, r.MaxPages = scope, 1
	if scope == ScopeSite {
		r.MaxPages = DefaultPages
	}
}

// SetSitemap reads the address of a sitemap.
func (r *Report) SetSitemap(text string) error {
	address, err := site.Parse(text)
	if err != nil {
		return fault.Field("sitemap", err.Error())
	}
	r.Sitemap = address.URL
	return nil
}

// Check reports every field that breaks a rule.
func (r *Report) Check() error {
	bad := fault.Invalid{}
	if r.URL == "" {
		bad.Add("url", "is required: an http or https address such as https://example.com")
	}
	if r.Scope != ScopePage && r.Scope != ScopeSite {
		bad.Add("scope", "must be page or site")
	}
	switch {
	case r.MaxPages < 1 || r.MaxPages > MaxPages:
		bad.Add("max_pages", "must be 1 to 50000")
	case r.Scope == ScopePage && r.MaxPages != 1:
		bad.Add("max_pages", "must be 1, or not sent, when scope is page")
	}
	if r.MaxDepth < 0 || r.MaxDepth > MaxDepth {
		bad.Add("max_depth", "must be 0 to 100; 0 is without limit")
	}
	if r.Scope == ScopePage && r.Sitemap != "" {
		bad.Add("sitemap", "needs scope site")
	}
	if err := bad.Merge(r.Privacy.Check(r.PasswordHash)); err != nil {
		return err
	}
	return bad.OrNil()
}

// Apply makes a change and checks the result. It reports every field that either finds bad.
func (r *Report) Apply(change func(*Report) error) error {
	bad := fault.Invalid{}
	if err := bad.Merge(change(r)); err != nil {
		return err
	}
	if err := bad.Merge(r.Check()); err != nil {
		return err
	}
	return bad.OrNil()
}

// Edit applies a change to a stored report. One that breaks a rule, or that changes nothing, leaves it as it was.
func (r *Report) Edit(now time.Time, change func(*Report) error) error {
	edited := *r
	if err := edited.Apply(change); err != nil || reflect.DeepEqual(edited, *r) {
		return err
	}
	edited.Version++
	edited.UpdatedAt = now.UTC().Truncate(time.Second)
	*r = edited
	return nil
}

// Edited is the report with what an owner may change taken over from an edited copy.
func (r Report) Edited(by Report) Report {
	r.Privacy, r.PasswordHash = by.Privacy, by.PasswordHash
	r.State, r.Run, r.Stopping, r.Progress, r.QueuedAt = by.State, by.Run, by.Stopping, by.Progress, by.QueuedAt
	r.Version, r.UpdatedAt = by.Version, by.UpdatedAt
	return r
}

// Again asks for another run. A report that waits for one, or is in one, gets that.
func (r *Report) Again(now time.Time) {
	if !r.State.Ended() {
		return
	}
	r.Run++
	r.State, r.Stopping, r.Progress, r.QueuedAt = Queued, false, Progress{}, now.UTC().Truncate(time.Second)
}

// Stop ends a run: one that waits at once, one under way as soon as its server hears of it.
func (r *Report) Stop() {
	switch r.State {
	case Queued:
		r.State = Stopped
	case Running:
		r.Stopping = true
	}
}

// StopAt stops a stored report.
func (r *Report) StopAt(now time.Time) error {
	return r.Edit(now, func(r *Report) error {
		r.Stop()
		return nil
	})
}

// Result says in a word how good the score is; empty while there is none.
func (r *Report) Result() string { return Result(r.Score) }

// SearchURL is the folded text in which a search looks: the URL as kept and, where that differs, in its own script.
func (r *Report) SearchURL() string { return listing.Fold(site.BothForms(r.URL)) }

// What a list of reports can be searched and sorted by. A report without a score or that has never been generated comes before
// all others of an ascending list.
const (
	SearchByURL     = "url"
	SortByID        = "id"
	SortByGenerated = "generated_at"
	SortByURL       = "url"
	SortByScore     = "score"
)

// A ReportFilter narrows a list of reports. The zero filter lets all through.
type ReportFilter struct {
	Project Ref    // of which project
	Result  string // good, decent or bad
}

// Scores are the lowest and the highest score that the filter's Result stands for.
func (f ReportFilter) Scores() (lowest, highest int) {
	switch f.Result {
	case "good":
		return 80, 100
	case "decent":
		return 50, 79
	default:
		return 0, 49
	}
}

// ErrTooMany is what a store answers to a run more than MaxWaiting. It is also Invalid.
var ErrTooMany error = tooMany{}

type tooMany struct{}

func (tooMany) Error() string { return "too many reports wait" }

func (tooMany) Unwrap() error {
	return fault.Field("url", "waits behind 1,000 reports of the account that are not done yet: send it again when some are")
}

// ErrProjectGone is what a store answers when a report comes back from the trash whose project is still there. It is also Invalid.
var ErrProjectGone error = projectGone{}

type projectGone struct{}

func (projectGone) Error() string { return "the project of the report is in the trash" }

func (projectGone) Unwrap() error { return fault.Field("project", "is in the trash: restore it first") }

// Reports is where reports rest. Every method is bound to one account: what another account owns is NotFound.
type Reports interface {
	// Reports lists one page of an account's reports.
	Reports(ctx context.Context, account int64, f ReportFilter, r listing.Request) (listing.Page[Report], error)
	// Report reads one.
	Report(ctx context.Context, account, id int64) (Report, error)
	// CreateReport stores a new one for its AccountID, with its receipt if there is one, in the project of its name, which it
	// makes if need be (one in the trash stays there), and sets ID and ProjectID. Its first run waits. It may answer ErrTooMany.
	CreateReport(ctx context.Context, r *Report, receipt *receipt.Receipt) error
	// UpdateReport reads one, lets edit change it and stores it, with no other update in between. It keeps what an owner may
	// change: privacy and password, and what Again and Stop do. An error from edit is returned as it is. It may answer ErrTooMany.
	UpdateReport(ctx context.Context, account, id int64, edit func(*Report) error) (Report, error)
	// StopReport ends the run of one as StopAt does, with its receipt if there is one, and reads it into r.
	StopReport(ctx context.Context, account, id int64, now time.Time, r *Report, receipt *receipt.Receipt) error
	// DeleteReport moves one into the trash, or erases it. Its project stays.
	DeleteReport(ctx context.Context, account, id int64, how trash.Deletion) error
	// RestoreReport brings one back from the trash into r, with its receipt if there is one, or answers ErrProjectGone. What
	// was deleted with its project is restored with it.
	RestoreReport(ctx context.Context, account, id int64, r *Report, receipt *receipt.Receipt) error
}
