package seoapi

import (
	"sightline/internal/audit/export"
	"sightline/internal/seo"
	"sightline/internal/web/apikit"
)

// reportJSON is a report as answers show it.
type reportJSON struct {
	ID           int64        `json:"id"`
	URL          string       `json:"url"`
	Project      string       `json:"project"`
	Scope        seo.Scope    `json:"scope"`
	MaxPages     int          `json:"max_pages"`
	MaxDepth     int          `json:"max_depth"`
	Sitemap      *string      `json:"sitemap"`
	IgnoreRobots int          `json:"ignore_robots"`
	Privacy      int          `json:"privacy"`
	Password     bool         `json:"password"`
	State        seo.State    `json:"state"`
	Progress     progressJSON `json:"progress"`
	Run          int          `json:"run"`
	GeneratedAt  *string      `json:"generated_at"`
	CreatedAt    *string      `json:"created_at"`
	UpdatedAt    *string      `json:"updated_at"`
	outcomeJSON
}

type progressJSON struct {
	Done    int     `json:"done"`
	Found   int     `json:"found"`
	Current *string `json:"current"`
}

// outcomeJSON is what an audit came to.
type outcomeJSON struct {
	Score     *int                 `json:"score"`
	Result    *string              `json:"result"`
	Issues    issuesJSON           `json:"issues"`
	Pages     int                  `json:"pages"`
	StoppedBy *string              `json:"stopped_by"`
	Failure   *string              `json:"failure"`
	Results   map[string]checkJSON `json:"results"`
}

type issuesJSON struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Notice  int `json:"notice"`
}

type checkJSON struct {
	Passed   bool         `json:"passed"`
	Severity seo.Severity `json:"severity"`
	Value    *string      `json:"value"`
	Findings int          `json:"findings"`
	Points   float64      `json:"points"`
}

func toOutcome(o seo.Outcome) outcomeJSON {
	out := outcomeJSON{Score: o.Score, Result: orNull(seo.Result(o.Score)), Issues: issuesJSON{o.Issues.Errors, o.Issues.Warnings, o.Issues.Notices},
		Pages: o.Pages, StoppedBy: orNull(o.StoppedBy), Failure: orNull(o.Failure), Results: map[string]checkJSON{}}
	for _, r := range o.Results {
		out.Results[r.Check] = checkJSON{r.Passed, r.Severity, orNull(r.Value), r.Findings, export.Tenths(r.Points)}
	}
	return out
}

func toReport(r seo.Report) reportJSON {
	return reportJSON{ID: r.ID, URL: r.URL, Project: r.Project, Scope: r.Scope, MaxPages: r.MaxPages, MaxDepth: r.MaxDepth, Sitemap: orNull(r.Sitemap),
		IgnoreRobots: apikit.Flag(r.IgnoreRobots), Privacy: int(r.Privacy), Password: r.PasswordHash != "", State: r.State, Run: r.Run,
		Progress:    progressJSON{r.Progress.Done, r.Progress.Found, orNull(r.Progress.Current)},
		GeneratedAt: apikit.Time(r.GeneratedAt), CreatedAt: apikit.Time(r.CreatedAt), UpdatedAt: apikit.Time(r.UpdatedAt), outcomeJSON: toOutcome(r.Outcome)}
}

// pageJSON is a page of an audit as answers show it.
type pageJSON struct {
	URL        string        `json:"url"`
	Class      seo.PageClass `json:"class"`
	Status     *int          `json:"status"`
	Failure    *string       `json:"failure"`
	Reason     *string       `json:"reason"`
	RedirectTo *string       `json:"redirects_to"`
	Depth      int           `json:"depth"`
	FoundFrom  *string       `json:"found_from"`
	Title      *string       `json:"title"`
	Words      int           `json:"words"`
	Size       int           `json:"size"`
	FirstByte  int64         `json:"first_byte_ms"`
	Indexable  bool          `json:"indexable"`
	Score      *int          `json:"score"`
	Findings   int           `json:"findings"`
	FetchedAt  *string       `json:"fetched_at"`
}

func toPage(p seo.PageResult) pageJSON {
	out := pageJSON{URL: p.URL, Class: p.Class(), Failure: orNull(string(p.Failure)), Reason: orNull(p.Reason), RedirectTo: orNull(p.End), Depth: p.Depth,
		FoundFrom: orNull(p.FoundFrom), Words: p.Words, Size: p.Size, FirstByte: p.FirstByte.Milliseconds(), Indexable: p.Indexable(),
		Findings: p.Findings, FetchedAt: apikit.Time(p.FetchedAt)}
	if p.Status != 0 {
		out.Status = &p.Status
	}
	if p.Score.Counted {
		out.Score = &p.Score.Value
	}
	if len(p.Titles) > 0 {
		out.Title = orNull(p.Titles[0].Text)
	}
	return out
}

// findingJSON is a finding as answers show it.
type findingJSON struct {
	Check    string       `json:"check"`
	Severity seo.Severity `json:"severity"`
	Page     string       `json:"page"`
	Value    string       `json:"value"`
	Count    int          `json:"count"`
	Evidence []string     `json:"evidence"`
	Points   int          `json:"points"`
}

func toFinding(f seo.Finding) findingJSON {
	return findingJSON{f.Check, f.Severity, f.Page, f.Value, f.Count, append([]string{}, f.Evidence...), f.Points}
}

// runJSON is a run as answers show it.
type runJSON struct {
	Number    int       `json:"run"`
	State     seo.State `json:"state"`
	QueuedAt  *string   `json:"queued_at"`
	StartedAt *string   `json:"started_at"`
	EndedAt   *string   `json:"ended_at"`
	outcomeJSON
}

func toRun(r seo.Run) runJSON {
	return runJSON{r.Number, r.State, apikit.Time(r.QueuedAt), apikit.Time(r.StartedAt), apikit.Time(r.EndedAt), toOutcome(r.Outcome)}
}

// comparisonJSON is what changed in one check, as answers show it.
type comparisonJSON struct {
	Check      string       `json:"check"`
	Severity   seo.Severity `json:"severity"`
	New        int          `json:"new"`
	Fixed      int          `json:"fixed"`
	Open       int          `json:"open"`
	NewPages   []string     `json:"new_pages"`
	FixedPages []string     `json:"fixed_pages"`
}

func toComparison(c seo.Comparison) comparisonJSON {
	return comparisonJSON{c.Check, c.Severity, c.New, c.Fixed, c.Open, append([]string{}, c.NewPages...), append([]string{}, c.FixedPages...)}
}

// orNull is null for empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
