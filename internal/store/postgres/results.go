package postgres

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/listing"
	"sightline/internal/seo"
)

const runColumns = `runs.number, runs.state, runs.queued_at, runs.started_at, runs.ended_at, runs.outcome`

func scanRun(row pgx.CollectableRow) (r seo.Run, err error) {
	var outcome string
	var started, ended *time.Time
	if err := row.Scan(&r.Number, &r.State, &r.QueuedAt, &started, &ended, &outcome); err != nil {
		return r, err
	}
	r.QueuedAt, r.StartedAt, r.EndedAt = r.QueuedAt.UTC(), orZero(started), orZero(ended)
	r.Outcome, err = seo.FromText[seo.Outcome](outcome)
	return r, err
}

// runsOf are the runs of an account's report.
const runsOf = ` FROM runs JOIN reports ON reports.id = runs.report_id
	WHERE reports.account_id = @account AND reports.id = @report AND reports.deleted_at IS NULL`

// oneOf narrows them to one; its number is 0 for the newest that ended, or the newest while none has.
const oneOf = ` AND runs.number = coalesce(nullif(@number::int, 0),
	(SELECT max(number) FROM runs AS ended WHERE ended.report_id = reports.id AND ended.ended_at IS NOT NULL), reports.run)`

func runArgs(account int64, ref seo.RunRef) pgx.NamedArgs {
	return pgx.NamedArgs{"account": account, "report": ref.Report, "number": ref.Number}
}

func runName(ref seo.RunRef) string {
	return fmt.Sprintf("run %d of report %d", ref.Number, ref.Report)
}

// ReportRuns implements seo.Results.
func (db *DB) ReportRuns(ctx context.Context, account, report int64, r listing.Request) (listing.Page[seo.Run], error) {
	if _, err := db.runID(ctx, account, seo.RunRef{Report: report}); err != nil {
		return listing.Page[seo.Run]{}, err
	}
	args := pgx.NamedArgs{"account": account, "report": report, "limit": r.PerPage, "offset": r.Offset()}
	const page = `SELECT ` + runColumns + runsOf + ` ORDER BY runs.number DESC LIMIT @limit OFFSET @offset`
	return list(ctx, db, "runs", page, `SELECT count(*)`+runsOf, args, scanRun)
}

// ReportRun implements seo.Results.
func (db *DB) ReportRun(ctx context.Context, account int64, ref seo.RunRef) (seo.Run, error) {
	r, err := single(ctx, db.pool, `SELECT `+runColumns+runsOf+oneOf, runArgs(account, ref), scanRun)
	return r, db.explain(ctx, runName(ref), err)
}

// runID finds a run of an account's report.
func (db *DB) runID(ctx context.Context, account int64, ref seo.RunRef) (id int64, err error) {
	err = db.pool.QueryRow(ctx, `SELECT runs.id`+runsOf+oneOf, runArgs(account, ref)).Scan(&id)
	return id, db.explain(ctx, runName(ref), err)
}

const pageColumns = `facts, passed, applicable, value, score,
	(SELECT count(*) FROM findings WHERE findings.run_id = pages.run_id AND findings.page = pages.url)`

func scanPage(row pgx.CollectableRow) (p seo.PageResult, err error) {
	var facts []byte
	var ranked int
	if err := row.Scan(&facts, &p.Score.Passed, &p.Score.Applicable, &p.Score.Value, &ranked, &p.Findings); err != nil {
		return p, err
	}
	p.Score.Counted = ranked >= 0
	p.Page, err = seo.UnpackPage(facts)
	return p, err
}

// ReportPages implements seo.Results.
func (db *DB) ReportPages(ctx context.Context, account int64, ref seo.RunRef, f seo.PageFilter, r listing.Request) (listing.Page[seo.PageResult], error) {
	run, err := db.runID(ctx, account, ref)
	if err != nil {
		return listing.Page[seo.PageResult]{}, err
	}
	from := ` FROM pages WHERE run_id = @run`
	if f.Class != "" {
		from += ` AND class = @class`
	}
	if r.Search != "" {
		from += ` AND position(@search in url) > 0`
	}
	args := pgx.NamedArgs{"run": run, "class": f.Class, "search": r.Search, "limit": r.PerPage, "offset": r.Offset()}
	page := `SELECT ` + pageColumns + from + ` ORDER BY ` + pageOrder(r) + ` LIMIT @limit OFFSET @offset`
	return list(ctx, db, "pages", page, `SELECT count(*)`+from, args, scanPage)
}

func pageOrder(r listing.Request) string {
	switch {
	case r.SortBy == seo.SortPagesByScore && r.Desc:
		return `score DESC, url DESC`
	case r.SortBy == seo.SortPagesByScore:
		return `score, url`
	case r.Desc:
		return `url DESC`
	default:
		return `url`
	}
}

// EachPage implements seo.Results.
func (db *DB) EachPage(ctx context.Context, account int64, ref seo.RunRef, each func(seo.PageResult) error) error {
	const query = `SELECT ` + pageColumns + ` FROM pages WHERE run_id = @run AND url > @after ORDER BY url LIMIT @most`
	run, err := db.runID(ctx, account, ref)
	if err != nil {
		return err
	}
	for after, more := "", true; more; {
		found, err := collect(ctx, db, query, pgx.NamedArgs{"run": run, "after": after, "most": batchSize}, scanPage)
		if err != nil {
			return db.explain(ctx, runName(ref), err)
		}
		for _, p := range found {
			if err := each(p); err != nil {
				return err
			}
			after = p.URL
		}
		more = len(found) == batchSize
	}
	return nil
}

const findingColumns = `check_id, page, severity, details`

func scanFinding(row pgx.CollectableRow) (f seo.Finding, err error) {
	var rank int
	var details string
	if err := row.Scan(&f.Check, &f.Page, &rank, &details); err != nil {
		return f, err
	}
	f.Severity = seo.RankedSeverity(rank)
	return f, f.SetDetails(details)
}

const findingOrder = ` ORDER BY severity, check_id, page LIMIT @limit`

// findings is where the findings of a run are that a filter lets through.
func (db *DB) findings(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter) (from string, args pgx.NamedArgs, err error) {
	run, err := db.runID(ctx, account, ref)
	from, args = ` FROM findings WHERE run_id = @run`, pgx.NamedArgs{"run": run, "check": f.Check, "severity": f.Severity.Rank(), "page": f.Page}
	switch {
	case f.Severity != "":
		from += ` AND severity = @severity`
	case f.Check != "" && f.Page == "":
		from += ` AND severity IN (1, 2, 3)` // so that the index finds the check
	}
	if f.Check != "" {
		from += ` AND check_id = @check`
	}
	if f.Page != "" {
		from += ` AND page = @page`
	}
	return from, args, err
}

// ReportFindings implements seo.Results.
func (db *DB) ReportFindings(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter, r listing.Request) (listing.Page[seo.Finding], error) {
	from, args, err := db.findings(ctx, account, ref, f)
	if err != nil {
		return listing.Page[seo.Finding]{}, err
	}
	maps.Copy(args, pgx.NamedArgs{"limit": r.PerPage, "offset": r.Offset()})
	page := `SELECT ` + findingColumns + from + findingOrder + ` OFFSET @offset`
	return list(ctx, db, "findings", page, `SELECT count(*)`+from, args, scanFinding)
}

// EachFinding implements seo.Results.
func (db *DB) EachFinding(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter, each func(seo.Finding) error) error {
	from, args, err := db.findings(ctx, account, ref, f)
	if err != nil {
		return err
	}
	query := `SELECT ` + findingColumns + from + ` AND (severity, check_id, page) > (@last_rank, @last_check, @last_page)` + findingOrder
	var last seo.Finding
	for rank, more := 0, true; more; rank = last.Severity.Rank() {
		maps.Copy(args, pgx.NamedArgs{"limit": batchSize, "last_rank": rank, "last_check": last.Check, "last_page": last.Page})
		found, err := collect(ctx, db, query, args, scanFinding)
		if err != nil {
			return db.explain(ctx, runName(ref), err)
		}
		for _, last = range found {
			if err := each(last); err != nil {
				return err
			}
		}
		more = len(found) == batchSize
	}
	return nil
}

// CompareRuns implements seo.Results.
func (db *DB) CompareRuns(ctx context.Context, account, report int64, from, to int) ([]seo.Comparison, error) {
	const query = `
		SELECT check_id, severity, change, pages, page FROM (
			SELECT check_id, min(severity) OVER (PARTITION BY check_id) AS severity, change, page,
				count(*) OVER (PARTITION BY check_id, change) AS pages,
				row_number() OVER (PARTITION BY check_id, change ORDER BY page) AS place
			FROM (
				SELECT check_id, page, min(severity) AS severity,
					CASE WHEN @before::bigint = @after::bigint OR count(*) = 2 THEN 'open' WHEN max(run_id) = @after THEN 'new' ELSE 'fixed' END AS change
				FROM findings WHERE run_id IN (@before, @after)
				GROUP BY check_id, page) AS pairs) AS changes
		WHERE place <= @most
		ORDER BY severity, check_id, change COLLATE "C", page`
	before, err := db.runID(ctx, account, seo.RunRef{Report: report, Number: from})
	if err != nil {
		return nil, err
	}
	after, err := db.runID(ctx, account, seo.RunRef{Report: report, Number: to})
	if err != nil {
		return nil, err
	}
	changes, err := collect(ctx, db, query, pgx.NamedArgs{"before": before, "after": after, "most": seo.ComparedPages},
		func(row pgx.CollectableRow) (c seo.Change, err error) {
			err = row.Scan(&c.Check, &c.Rank, &c.Kind, &c.Pages, &c.Page)
			return c, err
		})
	return seo.Comparisons(changes), db.explain(ctx, fmt.Sprintf("compare runs of report %d", report), err)
}
