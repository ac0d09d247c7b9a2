package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/seo"
)

// second is a moment as leases and runs keep it.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// ClaimAudit implements seo.Audits. Servers that claim at once skip what another one is about to take.
func (db *DB) ClaimAudit(ctx context.Context, owner string, now, until time.Time) (job seo.Job, err error) {
	const next = `
		WITH running AS (
			SELECT account_id, count(*) AS n FROM reports
			WHERE state IN ('queued', 'running') AND deleted_at IS NULL AND state = 'running' AND lease_until > @now
			GROUP BY account_id
		)
		SELECT reports.id
		FROM reports LEFT JOIN running USING (account_id)
		WHERE state IN ('queued', 'running') AND deleted_at IS NULL AND (state = 'queued' OR lease_until <= @now)
		ORDER BY coalesce(n, 0), queued_at, id
		LIMIT 1
		FOR UPDATE OF reports SKIP LOCKED`
	const take = `
		UPDATE reports SET version = version + (state = 'queued')::int, state = 'running', owner = @owner, lease_until = @until
		WHERE id = @id
		RETURNING ` + reportColumns
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, next, pgx.NamedArgs{"now": second(now)}).Scan(&id); err != nil {
			return err
		}
		r, err := single(ctx, tx, take, pgx.NamedArgs{"owner": owner, "until": second(until), "id": id}, scanReport)
		if err != nil {
			return err
		}
		job, err = startRun(ctx, tx, r, owner, now)
		return err
	})
	return job, db.explain(ctx, "claim an audit", err)
}

// startRun notes that the newest run of a report goes on.
func startRun(ctx context.Context, tx pgx.Tx, r seo.Report, owner string, now time.Time) (seo.Job, error) {
	const query = `
		UPDATE runs SET state = 'running', started_at = coalesce(started_at, @now) WHERE report_id = @report AND number = @number
		RETURNING id, pages, pages_done, checks, checks_done, fetched, cut, site`
	job := seo.Job{Lease: seo.Lease{Report: r.ID, Owner: owner}, Report: r}
	var site string
	t := &job.Totals
	row := tx.QueryRow(ctx, query, pgx.NamedArgs{"now": second(now), "report": r.ID, "number": r.Run})
	err := row.Scan(&job.Lease.Run, &t.Pages, &t.PagesDone, &t.Checks, &t.ChecksDone, &t.Fetched, &t.Cut, &site)
	if err == nil {
		job.Site, err = seo.FromText[*seo.Site](site)
	}
	return job, err
}

// A leased is a run that somebody works on.
type leased struct {
	stopping bool
	current  string
	totals   seo.Totals
	items    int64 // the last number given to one
	site     string
}

// findLease finds a run that its owner has not lost.
const findLease = `
	SELECT stopping, current, pages, pages_done, checks, checks_done, fetched, cut, items, site
	FROM reports JOIN runs ON runs.report_id = reports.id AND runs.number = reports.run
	WHERE reports.id = @report AND reports.owner = @owner AND reports.state = 'running' AND reports.deleted_at IS NULL AND runs.id = @run`

// lockLease keeps others from taking the run over until the transaction ends.
const lockLease = findLease + ` FOR NO KEY UPDATE OF reports`

func leaseArgs(l seo.Lease) pgx.NamedArgs {
	return pgx.NamedArgs{"report": l.Report, "owner": l.Owner, "run": l.Run}
}

func lease(ctx context.Context, q querier, query string, l seo.Lease) (held leased, err error) {
	t := &held.totals
	err = q.QueryRow(ctx, query, leaseArgs(l)).Scan(&held.stopping, &held.current, &t.Pages, &t.PagesDone, &t.Checks, &t.ChecksDone,
		&t.Fetched, &t.Cut, &held.items, &held.site)
	if errors.Is(err, pgx.ErrNoRows) {
		return held, asItIs{seo.ErrLeaseLost}
	}
	return held, err
}

// RenewAudit implements seo.Audits.
func (db *DB) RenewAudit(ctx context.Context, l seo.Lease, until time.Time) (stop bool, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		held, err := lease(ctx, tx, lockLease, l)
		if err != nil {
			return err
		}
		stop = held.stopping
		_, err = tx.Exec(ctx, `UPDATE reports SET lease_until = @until WHERE id = @report`, pgx.NamedArgs{"until": second(until), "report": l.Report})
		return err
	})
	return stop, db.explain(ctx, "renew an audit", err)
}

// WaitingItems implements seo.Audits.
func (db *DB) WaitingItems(ctx context.Context, l seo.Lease, pages bool, most int) ([]seo.Item, error) {
	const query = `
		SELECT url, kind, depth, unlinked, found_on FROM crawl_items
		WHERE run_id = @run AND (kind = 'page') = @pages AND NOT done
		ORDER BY rank, number
		LIMIT @most`
	if _, err := lease(ctx, db.pool, findLease, l); err != nil {
		return nil, db.explain(ctx, "what an audit has to do", err)
	}
	rows, err := db.pool.Query(ctx, query, pgx.NamedArgs{"run": l.Run, "pages": pages, "most": most})
	if err != nil {
		return nil, db.explain(ctx, "what an audit has to do", err)
	}
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i seo.Item, err error) {
		err = row.Scan(&i.URL, &i.Kind, &i.Depth, &i.Unlinked, &i.From)
		return i, err
	})
	return items, db.explain(ctx, "what an audit has to do", err)
}

// EarlierPage implements seo.Audits.
func (db *DB) EarlierPage(ctx context.Context, l seo.Lease, url string) (*seo.Page, error) {
	const query = `
		SELECT facts FROM pages
		WHERE url = @url AND run_id = (
			SELECT earlier.id FROM runs JOIN runs earlier ON earlier.report_id = runs.report_id AND earlier.number < runs.number
			WHERE runs.id = @run AND earlier.state = 'done'
			ORDER BY earlier.number DESC LIMIT 1)`
	what := fmt.Sprintf("page %s of an earlier run", url)
	if _, err := lease(ctx, db.pool, findLease, l); err != nil {
		return nil, db.explain(ctx, what, err)
	}
	var facts []byte
	if err := db.pool.QueryRow(ctx, query, pgx.NamedArgs{"url": url, "run": l.Run}).Scan(&facts); err != nil {
		return nil, db.explain(ctx, what, err)
	}
	return seo.UnpackPage(facts)
}

// FinishAudit implements seo.Audits.
func (db *DB) FinishAudit(ctx context.Context, l seo.Lease, state seo.State, o seo.Outcome, now time.Time) error {
	const finishReport = `
		UPDATE reports
		SET state = @state, score = @score, outcome = @outcome, generated_at = @now, updated_at = @now, stopping = false,
			owner = '', lease_until = NULL, version = version + 1
		WHERE id = @report`
	const finishRun = `UPDATE runs SET state = @state, outcome = @outcome, ended_at = @now, leftover = true WHERE id = @run`
	outcome, err := seo.ToText(o)
	if err != nil {
		return err
	}
	args := pgx.NamedArgs{"report": l.Report, "run": l.Run, "state": state, "score": o.Score, "outcome": outcome, "now": second(now)}
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		project, _, err := lockProject(ctx, tx, l.Report)
		if errors.Is(err, pgx.ErrNoRows) {
			return asItIs{seo.ErrLeaseLost}
		}
		if err != nil {
			return err
		}
		if _, err := lease(ctx, tx, lockLease, l); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, finishReport, args); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, finishRun, args); err != nil {
			return err
		}
		return countReports(ctx, tx, project, 0, second(now))
	})
	return db.explain(ctx, "finish an audit", err)
}

// leftTables are where a run leaves rows behind, the first also when it is kept.
var leftTables = []string{"crawl_items", "pages", "resources", "findings"}

// EraseLeftovers implements schedule.Leftovers.
func (db *DB) EraseLeftovers(ctx context.Context, limit int) (erased int, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		for erased < limit {
			n, err := eraseRun(ctx, tx, limit-erased)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			erased += n
		}
		return nil
	})
	return erased, db.explain(ctx, "erase what audits left", err)
}

// eraseRun erases up to limit rows of a run that is left over; pgx.ErrNoRows: there is none.
func eraseRun(ctx context.Context, tx pgx.Tx, limit int) (erased int, err error) {
	const query = `
		SELECT id, report_id IS NULL FROM runs
		WHERE report_id IS NULL OR leftover
		ORDER BY id LIMIT 1
		FOR UPDATE SKIP LOCKED`
	var id int64
	var gone bool
	if err := tx.QueryRow(ctx, query).Scan(&id, &gone); err != nil {
		return 0, err
	}
	tables, last := leftTables, `DELETE FROM runs WHERE id = @run`
	if !gone {
		tables, last = leftTables[:1], `UPDATE runs SET leftover = false WHERE id = @run`
	}
	for _, table := range tables {
		statement := `DELETE FROM ` + table + ` WHERE ctid = ANY (ARRAY(SELECT ctid FROM ` + table + ` WHERE run_id = @run LIMIT @limit))`
		done, err := tx.Exec(ctx, statement, pgx.NamedArgs{"run": id, "limit": limit - erased})
		if erased += int(done.RowsAffected()); err != nil || erased == limit {
			return erased, err
		}
	}
	_, err = tx.Exec(ctx, last, pgx.NamedArgs{"run": id})
	return erased + 1, err
}
