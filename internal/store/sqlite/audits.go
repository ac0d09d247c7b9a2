package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"sightline/internal/fault"
	"sightline/internal/seo"
)

// ClaimAudit implements seo.Audits.
func (db *DB) ClaimAudit(ctx context.Context, owner string, now, until time.Time) (job seo.Job, err error) {
	const next = `
		WITH active AS (
			SELECT id, account_id, queued_at, state = 'running' AND lease_until > ? AS busy
			FROM reports INDEXED BY reports_active WHERE state IN ('queued', 'running') AND deleted_at IS NULL),
		running AS (SELECT account_id, count(*) AS n FROM active WHERE busy GROUP BY account_id)
		SELECT id FROM active LEFT JOIN running USING (account_id)
		WHERE NOT busy
		ORDER BY coalesce(n, 0), queued_at, id
		LIMIT 1`
	const take = `
		UPDATE reports SET version = version + (state = 'queued'), state = 'running', owner = ?, lease_until = ? WHERE id = ?
		RETURNING ` + reportColumns
	var id int64
	if err := db.queryRow(ctx, next, now.Unix()).Scan(&id); err != nil { // mostly there is none, and writers are left alone
		return job, missing(err, "claim an audit")
	}
	err = db.change(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRow(next, now.Unix()).Scan(&id); err != nil {
			return missing(err, "claim an audit")
		}
		r, err := scanReport(tx.QueryRow(take, owner, until.Unix(), id))
		if err != nil {
			return err
		}
		job, err = startRun(tx, r, owner, now)
		return err
	})
	return job, err
}

// startRun notes that the newest run of a report goes on.
func startRun(tx *sql.Tx, r seo.Report, owner string, now time.Time) (seo.Job, error) {
	const query = `
		UPDATE runs SET state = 'running', started_at = coalesce(started_at, ?) WHERE report_id = ? AND number = ?
		RETURNING id, pages, pages_done, checks, checks_done, fetched, cut, site`
	job := seo.Job{Lease: seo.Lease{Report: r.ID, Owner: owner}, Report: r}
	var site string
	t := &job.Totals
	row := tx.QueryRow(query, now.Unix(), r.ID, r.Run)
	err := row.Scan(&job.Lease.Run, &t.Pages, &t.PagesDone, &t.Checks, &t.ChecksDone, &t.Fetched, &t.Cut, &site)
	if err == nil {
		job.Site, err = seo.FromText[*seo.Site](site)
	}
	return job, err
}

// A leased is a run that somebody works on.
type leased struct {
	project  int64
	stopping bool
	current  string
	totals   seo.Totals
	items    int64 // the last number given to one
	site     string
}

// readLease finds a run that its owner has not lost.
const readLease = `
	SELECT reports.project_id, stopping, current, pages, pages_done, checks, checks_done, fetched, cut, items, site
	FROM reports JOIN runs ON runs.report_id = reports.id AND runs.number = reports.run
	WHERE reports.id = ? AND reports.owner = ? AND reports.state = 'running' AND reports.deleted_at IS NULL AND runs.id = ?`

func scanLease(row scanner) (l leased, err error) {
	t := &l.totals
	err = row.Scan(&l.project, &l.stopping, &l.current, &t.Pages, &t.PagesDone, &t.Checks, &t.ChecksDone, &t.Fetched, &t.Cut, &l.items, &l.site)
	if errors.Is(err, sql.ErrNoRows) {
		return l, seo.ErrLeaseLost
	}
	return l, failure(err)
}

// RenewAudit implements seo.Audits.
func (db *DB) RenewAudit(ctx context.Context, l seo.Lease, until time.Time) (stop bool, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		held, err := scanLease(tx.QueryRow(readLease, l.Report, l.Owner, l.Run))
		if err != nil {
			return err
		}
		stop = held.stopping
		_, err = tx.Exec(`UPDATE reports SET lease_until = ? WHERE id = ?`, until.Unix(), l.Report)
		return err
	})
	return stop, err
}

// WaitingItems implements seo.Audits.
func (db *DB) WaitingItems(ctx context.Context, l seo.Lease, pages bool, most int) ([]seo.Item, error) {
	const query = `
		SELECT url, kind, depth, unlinked, found_on FROM crawl_items
		WHERE run_id = ? AND (kind = 'page') = ? AND NOT done
		ORDER BY rank, number
		LIMIT ?`
	if _, err := scanLease(db.queryRow(ctx, readLease, l.Report, l.Owner, l.Run)); err != nil {
		return nil, err
	}
	rows, err := db.query(ctx, query, l.Run, pages, most)
	if err != nil {
		return nil, failure(err)
	}
	return all(rows, func(row scanner) (i seo.Item, err error) {
		err = row.Scan(&i.URL, &i.Kind, &i.Depth, &i.Unlinked, &i.From)
		return i, err
	})
}

// EarlierPage implements seo.Audits.
func (db *DB) EarlierPage(ctx context.Context, l seo.Lease, url string) (*seo.Page, error) {
	const query = `
		SELECT facts FROM pages
		WHERE url = ? AND run_id = (
			SELECT earlier.id FROM runs JOIN runs earlier ON earlier.report_id = runs.report_id AND earlier.number < runs.number
			WHERE runs.id = ? AND earlier.state = 'done'
			ORDER BY earlier.number DESC LIMIT 1)`
	if _, err := scanLease(db.queryRow(ctx, readLease, l.Report, l.Owner, l.Run)); err != nil {
		return nil, err
	}
	var facts []byte
	if err := db.queryRow(ctx, query, url, l.Run).Scan(&facts); err != nil {
		return nil, missing(err, "page %s of an earlier run", url)
	}
	return seo.UnpackPage(facts)
}

// FinishAudit implements seo.Audits.
func (db *DB) FinishAudit(ctx context.Context, l seo.Lease, state seo.State, o seo.Outcome, now time.Time) error {
	const finishReport = `
		UPDATE reports
		SET state = ?, score = ?, outcome = ?, generated_at = ?4, updated_at = ?4, stopping = 0, owner = '', lease_until = NULL, version = version + 1
		WHERE id = ?`
	const finishRun = `UPDATE runs SET state = ?, outcome = ?, ended_at = ?, leftover = 1 WHERE id = ?`
	outcome, err := seo.ToText(o)
	if err != nil {
		return err
	}
	return db.change(ctx, func(tx *sql.Tx) error {
		held, err := scanLease(tx.QueryRow(readLease, l.Report, l.Owner, l.Run))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(finishReport, state, o.Score, outcome, now.Unix(), l.Report); err != nil {
			return err
		}
		if _, err := tx.Exec(finishRun, state, outcome, now.Unix(), l.Run); err != nil {
			return err
		}
		return countReports(tx, held.project, 0, now)
	})
}

// leftTables are where a run leaves rows behind, the first also when it is kept, with what tells them apart.
var leftTables = []struct{ name, key string }{
	{"crawl_items", "run_id, kind, url"},
	{"pages", "run_id, url"},
	{"resources", "run_id, url"},
	{"findings", "run_id, severity, check_id, page"},
}

// EraseLeftovers implements schedule.Leftovers.
func (db *DB) EraseLeftovers(ctx context.Context, limit int) (erased int, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		for erased < limit {
			n, err := eraseRun(tx, limit-erased)
			if errors.Is(err, fault.NotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			erased += n
		}
		return nil
	})
	return erased, err
}

// eraseRun erases up to limit rows of a run that is left over; NotFound: there is none.
func eraseRun(tx *sql.Tx, limit int) (erased int, err error) {
	var id int64
	var gone bool
	const query = `SELECT id, report_id IS NULL FROM runs WHERE report_id IS NULL OR leftover ORDER BY id LIMIT 1`
	if err := tx.QueryRow(query).Scan(&id, &gone); err != nil {
		return 0, missing(err, "run")
	}
	tables, last := leftTables, `DELETE FROM runs WHERE id = ?`
	if !gone {
		tables, last = leftTables[:1], `UPDATE runs SET leftover = 0 WHERE id = ?`
	}
	for _, table := range tables {
		done, err := tx.Exec(fmt.Sprintf(`DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE run_id = ? LIMIT ?)`,
			table.name, table.key, table.key, table.name), id, limit-erased)
		if err != nil {
			return erased, err
		}
		n, err := done.RowsAffected()
		if erased += int(n); err != nil || erased == limit {
			return erased, err
		}
	}
	_, err = tx.Exec(last, id)
	return erased + 1, err
}
