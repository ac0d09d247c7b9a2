package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"sightline/internal/seo"
)

// SaveAudit implements seo.Audits.
func (db *DB) SaveAudit(ctx context.Context, l seo.Lease, s seo.Step) (totals seo.Totals, err error) {
	if err := s.Check(); err != nil {
		return totals, err
	}
	var learned pgx.Batch
	if err := learn(&learned, l.Run, &s); err != nil {
		return totals, err
	}
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		held, err := lease(ctx, tx, lockLease, l)
		if err != nil {
			return err
		}
		found := s.Distinct()
		if err := find(ctx, tx, l.Run, held.items, found, &held.totals); err != nil {
			return err
		}
		if err := finish(ctx, tx, l.Run, s.Done, &held.totals); err != nil {
			return err
		}
		if err := tx.SendBatch(ctx, &learned).Close(); err != nil {
			return err
		}
		held.items += int64(len(found))
		totals, err = count(ctx, tx, l, held, &s)
		return err
	})
	return totals, db.explain(ctx, "save an audit", err)
}

// count stores where the crawl stands after a step.
func count(ctx context.Context, tx pgx.Tx, l seo.Lease, held leased, s *seo.Step) (t seo.Totals, err error) {
	const progress = `UPDATE reports SET done = @pages_done, found = @pages, current = @current WHERE id = @report`
	const counters = `
		UPDATE runs
		SET pages = @pages, pages_done = @pages_done, checks = @checks, checks_done = @checks_done, fetched = @fetched, cut = @cut,
			items = @items, site = @site
		WHERE id = @run`
	if s.Site != nil {
		if held.site, err = seo.ToText(s.Site); err != nil {
			return t, err
		}
	}
	t = held.totals
	t.Fetched, t.Cut = t.Fetched+s.Fetched, cmp.Or(s.Cut, t.Cut)
	args := pgx.NamedArgs{
		"report": l.Report, "run": l.Run, "current": cmp.Or(s.Current, held.current), "pages": t.Pages, "pages_done": t.PagesDone,
		"checks": t.Checks, "checks_done": t.ChecksDone, "fetched": t.Fetched, "cut": t.Cut, "items": held.items, "site": held.site,
	}
	var batch pgx.Batch
	batch.Queue(progress, args)
	batch.Queue(counters, args)
	return t, tx.SendBatch(ctx, &batch).Close()
}

// find takes in addresses, numbered after the last one.
func find(ctx context.Context, tx pgx.Tx, run, last int64, items []seo.Item, t *seo.Totals) error {
	const query = `
		WITH stored AS (
			INSERT INTO crawl_items (run_id, kind, url, number, rank, depth, unlinked, found_on, done)
			SELECT @run, kind, url, @last + place, rank, depth, unlinked, found_on, false
			FROM unnest(@kinds::text[], @urls::text[], @ranks::int[], @depths::int[], @unlinked::bool[], @from::text[])
				WITH ORDINALITY AS found (kind, url, rank, depth, unlinked, found_on, place)
			ON CONFLICT (run_id, kind, url) DO UPDATE
			SET rank = excluded.rank, depth = excluded.depth, unlinked = excluded.unlinked, found_on = excluded.found_on
			WHERE NOT crawl_items.done AND excluded.rank < crawl_items.rank
			RETURNING kind, number
		)
		SELECT count(*) FILTER (WHERE kind = 'page'), count(*) FILTER (WHERE kind <> 'page') FROM stored WHERE number > @last`
	if len(items) == 0 {
		return nil
	}
	var kinds, urls, from []string
	var ranks, depths []int
	var unlinked []bool
	for _, i := range items {
		kinds, urls, from = append(kinds, string(i.Kind)), append(urls, i.URL), append(from, i.From)
		ranks, depths, unlinked = append(ranks, i.Rank()), append(depths, i.Depth), append(unlinked, i.Unlinked)
	}
	args := pgx.NamedArgs{"run": run, "last": last, "kinds": kinds, "urls": urls, "ranks": ranks, "depths": depths, "unlinked": unlinked, "from": from}
	var pages, checks int
	err := tx.QueryRow(ctx, query, args).Scan(&pages, &checks)
	t.Pages, t.Checks = t.Pages+pages, t.Checks+checks
	return err
}

// finish notes what need not be fetched again.
func finish(ctx context.Context, tx pgx.Tx, run int64, keys []seo.ItemKey, t *seo.Totals) error {
	const query = `
		WITH stored AS (
			UPDATE crawl_items SET done = true
			FROM unnest(@kinds::text[], @urls::text[]) AS over (kind, url)
			WHERE run_id = @run AND crawl_items.kind = over.kind AND crawl_items.url = over.url AND NOT done
			RETURNING crawl_items.kind
		)
		SELECT count(*) FILTER (WHERE kind = 'page'), count(*) FILTER (WHERE kind <> 'page') FROM stored`
	if len(keys) == 0 {
		return nil
	}
	var kinds, urls []string
	for _, key := range keys {
		kinds, urls = append(kinds, string(key.Kind)), append(urls, key.URL)
	}
	var pages, checks int
	err := tx.QueryRow(ctx, query, pgx.NamedArgs{"run": run, "kinds": kinds, "urls": urls}).Scan(&pages, &checks)
	t.PagesDone, t.ChecksDone = t.PagesDone+pages, t.ChecksDone+checks
	return err
}

// learn puts the facts, findings and ratings of a step into a batch.
func learn(batch *pgx.Batch, run int64, s *seo.Step) error {
	const page = `
		INSERT INTO pages (run_id, url, class, passed, applicable, value, score, facts) VALUES ($1, $2, $3, 0, 0, 0, -1, $4)
		ON CONFLICT (run_id, url) DO UPDATE
		SET class = excluded.class, passed = 0, applicable = 0, value = 0, score = -1, facts = excluded.facts`
	const forget = `DELETE FROM findings WHERE run_id = $1 AND page = $2`
	const resource = `
		INSERT INTO resources (run_id, url, details) VALUES ($1, $2, $3)
		ON CONFLICT (run_id, url) DO UPDATE SET details = excluded.details`
	const rate = `UPDATE pages SET passed = $3, applicable = $4, value = $5, score = $6 WHERE run_id = $1 AND url = $2`
	var bad error
	for _, p := range s.Pages {
		facts, err := p.Pack()
		batch.Queue(page, run, p.URL, p.Class(), facts)
		batch.Queue(forget, run, p.URL)
		bad = errors.Join(bad, err, keepFindings(batch, run, p.Findings))
	}
	for _, r := range s.Resources {
		details, err := seo.ToText(r)
		batch.Queue(resource, run, r.URL, details)
		bad = errors.Join(bad, err)
	}
	for _, r := range s.Ratings {
		batch.Queue(rate, run, r.URL, r.Score.Passed, r.Score.Applicable, r.Score.Value, r.Score.Ranked())
		bad = errors.Join(bad, keepFindings(batch, run, r.Findings))
	}
	return bad
}

// keepFindings puts findings into a batch.
func keepFindings(batch *pgx.Batch, run int64, findings []seo.Finding) error {
	const query = `
		INSERT INTO findings (run_id, severity, check_id, page, details) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (run_id, severity, check_id, page) DO UPDATE SET details = excluded.details`
	var bad error
	for i := range findings {
		f := &findings[i]
		details, err := f.Details()
		batch.Queue(query, run, f.Severity.Rank(), f.Check, f.Page, details)
		bad = errors.Join(bad, err)
	}
	return bad
}

// SavedCrawl implements seo.Audits.
func (db *DB) SavedCrawl(ctx context.Context, l seo.Lease) (seo.Crawl, error) {
	held, err := lease(ctx, db.pool, findLease, l)
	if err != nil {
		return nil, db.explain(ctx, "read an audit", err)
	}
	site, err := seo.FromText[seo.Site](held.site)
	return &saved{db: db, run: l.Run, site: site}, err
}

// saved is what a crawl has saved. It implements seo.Crawl.
type saved struct {
	db   *DB
	run  int64
	site seo.Site
}

// Site implements seo.Crawl.
func (s *saved) Site() seo.Site { return s.site }

// Pages implements seo.Crawl.
func (s *saved) Pages(ctx context.Context) iter.Seq2[*seo.Page, error] {
	const query = `SELECT url, facts FROM pages WHERE run_id = @run AND url > @after ORDER BY url LIMIT @most`
	return inBatches(ctx, s, query, seo.UnpackPage)
}

// Resources implements seo.Crawl.
func (s *saved) Resources(ctx context.Context) iter.Seq2[seo.Resource, error] {
	const query = `SELECT url, convert_to(details, 'UTF8') FROM resources WHERE run_id = @run AND url > @after ORDER BY url LIMIT @most`
	return inBatches(ctx, s, query, func(stored []byte) (seo.Resource, error) { return seo.FromText[seo.Resource](string(stored)) })
}

// batchSize is how many pages are read at once.
const batchSize = 100

// inBatches reads what is stored under addresses, a few rows at a time, so that nothing is held while they are worked on.
func inBatches[T any](ctx context.Context, s *saved, query string, read func([]byte) (T, error)) iter.Seq2[T, error] {
	type row struct {
		url    string
		stored []byte
	}
	scan := func(from pgx.CollectableRow) (r row, err error) {
		err = from.Scan(&r.url, &r.stored)
		return r, err
	}
	return func(yield func(T, error) bool) {
		var none T
		for after, more := "", true; more; {
			found, err := collect(ctx, s.db, query, pgx.NamedArgs{"run": s.run, "after": after, "most": batchSize}, scan)
			if err != nil {
				yield(none, s.db.explain(ctx, "read an audit", err))
				return
			}
			for _, r := range found {
				value, err := read(r.stored)
				if err != nil {
					err = fmt.Errorf("%s: %w", r.url, err)
				}
				if !yield(value, err) || err != nil {
					return
				}
				after = r.url
			}
			more = len(found) == batchSize
		}
	}
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, db *DB, query string, args pgx.NamedArgs, scan pgx.RowToFunc[T]) ([]T, error) {
	rows, err := db.pool.Query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}
