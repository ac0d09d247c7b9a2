package sqlite

import (
	"context"
	"slices"

	"sightline/internal/listing"
	"sightline/internal/seo"
)

const runColumns = `runs.number, runs.state, runs.queued_at, runs.started_at, runs.ended_at, runs.outcome`

func scanRun(row scanner) (r seo.Run, err error) {
	var outcome string
	err = row.Scan(&r.Number, &r.State, instant{&r.QueuedAt}, instant{&r.StartedAt}, instant{&r.EndedAt}, &outcome)
	if err == nil {
		r.Outcome, err = seo.FromText[seo.Outcome](outcome)
	}
	return r, err
}

// runsOf are the runs of an account's report.
const runsOf = ` FROM runs JOIN reports ON reports.id = runs.report_id
	WHERE reports.account_id = ? AND reports.id = ? AND reports.deleted_at IS NULL`

// oneOf narrows them to one; its number is 0 for the newest that ended, or the newest while none has.
const oneOf = ` AND runs.number = coalesce(nullif(?, 0),
	(SELECT max(number) FROM runs AS ended WHERE ended.report_id = reports.id AND ended.ended_at IS NOT NULL), reports.run)`

// ReportRuns implements seo.Results.
func (db *DB) ReportRuns(ctx context.Context, account, report int64, r listing.Request) (listing.Page[seo.Run], error) {
	if _, err := db.runID(ctx, account, seo.RunRef{Report: report}); err != nil {
		return listing.Page[seo.Run]{}, err
	}
	return page(ctx, db, pageQuery{columns: runColumns, from: runsOf, order: `runs.number DESC`, args: []any{account, report}}, r, scanRun)
}

// ReportRun implements seo.Results.
func (db *DB) ReportRun(ctx context.Context, account int64, ref seo.RunRef) (seo.Run, error) {
	r, err := scanRun(db.queryRow(ctx, `SELECT `+runColumns+runsOf+oneOf, account, ref.Report, ref.Number))
	return r, missing(err, "run %d of report %d", ref.Number, ref.Report)
}

// runID finds a run of an account's report.
func (db *DB) runID(ctx context.Context, account int64, ref seo.RunRef) (id int64, err error) {
	err = db.queryRow(ctx, `SELECT runs.id`+runsOf+oneOf, account, ref.Report, ref.Number).Scan(&id)
	return id, missing(err, "run %d of report %d", ref.Number, ref.Report)
}

const pageColumns = `facts, passed, applicable, value, score,
	(SELECT count(*) FROM findings WHERE findings.run_id = pages.run_id AND findings.page = pages.url)`

func scanPage(row scanner) (p seo.PageResult, err error) {
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
	query := pageQuery{columns: pageColumns, from: ` FROM pages WHERE run_id = ?`, args: []any{run}}
	if f.Class != "" {
		query.narrow(` AND class = ?`, f.Class)
	}
	if r.Search != "" {
		query.narrow(` AND instr(url, ?) > 0`, r.Search)
	}
	query.order = map[string]string{
		seo.SortPagesByURL:   directed(r, "url"),
		seo.SortPagesByScore: directed(r, "score", "url"),
	}[r.SortBy]
	return page(ctx, db, query, r, scanPage)
}

// EachPage implements seo.Results.
func (db *DB) EachPage(ctx context.Context, account int64, ref seo.RunRef, each func(seo.PageResult) error) error {
	const query = `SELECT ` + pageColumns + ` FROM pages WHERE run_id = ? AND url > ? ORDER BY url LIMIT ?`
	run, err := db.runID(ctx, account, ref)
	if err != nil {
		return err
	}
	for after, more := "", true; more; {
		rows, err := db.query(ctx, query, run, after, batch)
		if err != nil {
			return failure(err)
		}
		found, err := all(rows, scanPage)
		if err != nil {
			return err
		}
		for _, p := range found {
			if err := each(p); err != nil {
				return err
			}
			after = p.URL
		}
		more = len(found) == batch
	}
	return nil
}

const findingColumns = `check_id, page, severity, details`

func scanFinding(row scanner) (f seo.Finding, err error) {
	var rank int
	var details string
	if err := row.Scan(&f.Check, &f.Page, &rank, &details); err != nil {
		return f, err
	}
	f.Severity = seo.RankedSeverity(rank)
	return f, f.SetDetails(details)
}

// findings is the query of the findings of a run that a filter lets through.
func (db *DB) findings(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter) (pageQuery, error) {
	run, err := db.runID(ctx, account, ref)
	query := pageQuery{columns: findingColumns, from: ` FROM findings WHERE run_id = ?`, order: `severity, check_id, page`, args: []any{run}}
	if f.Page != "" { // left alone, SQLite walks all findings in their order
		query.from = ` FROM findings INDEXED BY findings_by_page WHERE run_id = ?`
	}
	switch {
	case f.Severity != "":
		query.narrow(` AND severity = ?`, f.Severity.Rank())
	case f.Check != "" && f.Page == "":
		query.narrow(` AND severity IN (1, 2, 3)`) // so that the index finds the check
	}
	if f.Check != "" {
		query.narrow(` AND check_id = ?`, f.Check)
	}
	if f.Page != "" {
		query.narrow(` AND page = ?`, f.Page)
	}
	return query, err
}

// ReportFindings implements seo.Results.
func (db *DB) ReportFindings(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter, r listing.Request) (listing.Page[seo.Finding], error) {
	query, err := db.findings(ctx, account, ref, f)
	if err != nil {
		return listing.Page[seo.Finding]{}, err
	}
	return page(ctx, db, query, r, scanFinding)
}

// findingBatch is how many findings are read at once.
const findingBatch = 1000

// EachFinding implements seo.Results.
func (db *DB) EachFinding(ctx context.Context, account int64, ref seo.RunRef, f seo.FindingFilter, each func(seo.Finding) error) error {
	query, err := db.findings(ctx, account, ref, f)
	if err != nil {
		return err
	}
	after := ` AND (severity, check_id, page) > (?, ?, ?)`
	if f.Severity != "" { // so that the index finds where a batch begins
		after = ` AND (check_id, page) > (?, ?)`
	}
	text := `SELECT ` + query.columns + query.from + after + ` ORDER BY ` + query.order + ` LIMIT ?`
	var last seo.Finding
	for rank, more := 0, true; more; rank = last.Severity.Rank() {
		args := append(query.args[:len(query.args):len(query.args)], rank, last.Check, last.Page, findingBatch)
		if f.Severity != "" {
			args = slices.Delete(args, len(query.args), len(query.args)+1)
		}
		rows, err := db.query(ctx, text, args...)
		if err != nil {
			return failure(err)
		}
		found, err := all(rows, scanFinding)
		if err != nil {
			return err
		}
		for _, last = range found {
			if err := each(last); err != nil {
				return err
			}
		}
		more = len(found) == findingBatch
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
					CASE WHEN ?1 = ?2 OR count(*) = 2 THEN 'open' WHEN max(run_id) = ?2 THEN 'new' ELSE 'fixed' END AS change
				FROM findings WHERE run_id IN (?1, ?2)
				GROUP BY check_id, page))
		WHERE place <= ?3
		ORDER BY severity, check_id, change, page`
	before, err := db.runID(ctx, account, seo.RunRef{Report: report, Number: from})
	if err != nil {
		return nil, err
	}
	after, err := db.runID(ctx, account, seo.RunRef{Report: report, Number: to})
	if err != nil {
		return nil, err
	}
	rows, err := db.query(ctx, query, before, after, seo.ComparedPages)
	if err != nil {
		return nil, failure(err)
	}
	changes, err := all(rows, func(row scanner) (c seo.Change, err error) {
		err = row.Scan(&c.Check, &c.Rank, &c.Kind, &c.Pages, &c.Page)
		return c, err
	})
	return seo.Comparisons(changes), err
}
