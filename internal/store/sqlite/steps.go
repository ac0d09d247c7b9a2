package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"sightline/internal/seo"
)

// partSize is how many rows of a step are written at once, so that callers' writes come in between.
const partSize = 200

// SaveAudit implements seo.Audits.
func (db *DB) SaveAudit(ctx context.Context, l seo.Lease, s seo.Step) (totals seo.Totals, err error) {
	if err := s.Check(); err != nil {
		return totals, err
	}
	for _, part := range parts(s) {
		err := db.change(ctx, func(tx *sql.Tx) error {
			held, err := scanLease(tx.QueryRow(readLease, l.Report, l.Owner, l.Run))
			if err != nil {
				return err
			}
			totals, err = savePart(tx, l, held, part)
			return err
		})
		if err != nil {
			return seo.Totals{}, err
		}
	}
	return totals, nil
}

// parts divides a step into small ones, of which the last says what is done.
func parts(s seo.Step) []seo.Step {
	s.Found = s.Distinct()
	if len(s.Found)+2*len(s.Pages)+len(s.Resources)+len(s.Ratings) <= partSize {
		return []seo.Step{s}
	}
	var all []seo.Step
	for found := range slices.Chunk(s.Found, partSize) {
		all = append(all, seo.Step{Found: found})
	}
	for pages := range slices.Chunk(s.Pages, partSize/2) {
		all = append(all, seo.Step{Pages: pages})
	}
	for resources := range slices.Chunk(s.Resources, partSize) {
		all = append(all, seo.Step{Resources: resources})
	}
	for ratings := range slices.Chunk(s.Ratings, partSize) {
		all = append(all, seo.Step{Ratings: ratings})
	}
	return append(all, seo.Step{Done: s.Done, Fetched: s.Fetched, Cut: s.Cut, Current: s.Current, Site: s.Site})
}

// savePart stores a step.
func savePart(tx *sql.Tx, l seo.Lease, held leased, s seo.Step) (seo.Totals, error) {
	const progress = `UPDATE reports SET done = ?, found = ?, current = ? WHERE id = ?`
	const counters = `
		UPDATE runs SET pages = ?, pages_done = ?, checks = ?, checks_done = ?, fetched = ?, cut = ?, items = ?, site = ?
		WHERE id = ?`
	w := writer{tx: tx, run: l.Run, statements: map[string]*sql.Stmt{}}
	defer w.close()
	t := held.totals
	w.find(s.Found, held.items, &t)
	w.finish(s.Done, &t)
	w.learn(&s)
	if s.Site != nil && w.err == nil {
		held.site, w.err = seo.ToText(s.Site)
	}
	if w.err != nil {
		return t, w.err
	}
	t.Fetched, t.Cut = t.Fetched+s.Fetched, cmp.Or(s.Cut, t.Cut)
	if _, err := tx.Exec(progress, t.PagesDone, t.Pages, cmp.Or(s.Current, held.current), l.Report); err != nil {
		return t, err
	}
	_, err := tx.Exec(counters, t.Pages, t.PagesDone, t.Checks, t.ChecksDone, t.Fetched, t.Cut, held.items+int64(len(s.Found)), held.site, l.Run)
	return t, err
}

// A writer writes the rows of a run. After its first error it does nothing.
type writer struct {
	tx         *sql.Tx
	run        int64
	statements map[string]*sql.Stmt
	err        error
}

func (w *writer) close() {
	for _, statement := range w.statements {
		statement.Close() // what it did has been answered
	}
}

// prepared is a statement that is read once for all its rows; nil after an error.
func (w *writer) prepared(query string) *sql.Stmt {
	statement := w.statements[query]
	if statement == nil && w.err == nil {
		if statement, w.err = w.tx.Prepare(query); w.err == nil {
			w.statements[query] = statement
		}
	}
	return statement
}

// exec runs a statement and says how many rows it changed.
func (w *writer) exec(query string, args ...any) int64 {
	statement := w.prepared(query)
	if w.err != nil {
		return 0
	}
	done, err := statement.Exec(args...)
	if err != nil {
		w.err = err
		return 0
	}
	var n int64
	n, w.err = done.RowsAffected()
	return n
}

// find takes in addresses, numbered after the last one.
func (w *writer) find(items []seo.Item, last int64, t *seo.Totals) {
	const query = `
		INSERT INTO crawl_items (run_id, kind, url, number, rank, depth, unlinked, found_on, done) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
		ON CONFLICT DO NOTHING`
	const shorter = `
		UPDATE crawl_items SET rank = ?1, depth = ?, unlinked = ?, found_on = ?
		WHERE run_id = ? AND kind = ? AND url = ? AND NOT done AND rank > ?1`
	for i, item := range items {
		isNew := w.exec(query, w.run, item.Kind, item.URL, last+int64(i)+1, item.Rank(), item.Depth, item.Unlinked, item.From) > 0
		switch {
		case w.err != nil:
			return
		case isNew && item.Kind == seo.KindPage:
			t.Pages++
		case isNew:
			t.Checks++
		case item.Kind == seo.KindPage:
			w.exec(shorter, item.Rank(), item.Depth, item.Unlinked, item.From, w.run, item.Kind, item.URL)
		}
	}
}

// finish notes what need not be fetched again.
func (w *writer) finish(keys []seo.ItemKey, t *seo.Totals) {
	const query = `UPDATE crawl_items SET done = 1 WHERE run_id = ? AND kind = ? AND url = ? AND NOT done`
	for _, key := range keys {
		n := int(w.exec(query, w.run, key.Kind, key.URL))
		if key.Kind == seo.KindPage {
			t.PagesDone += n
		} else {
			t.ChecksDone += n
		}
	}
}

// learn takes in facts, findings and ratings.
func (w *writer) learn(s *seo.Step) {
	const page = `
		INSERT INTO pages (run_id, url, class, passed, applicable, value, score, facts) VALUES (?, ?, ?, 0, 0, 0, -1, ?)
		ON CONFLICT (run_id, url) DO UPDATE
		SET class = excluded.class, passed = 0, applicable = 0, value = 0, score = -1, facts = excluded.facts`
	const forget = `DELETE FROM findings INDEXED BY findings_by_page WHERE run_id = ? AND page = ?`
	const resource = `INSERT INTO resources (run_id, url, details) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET details = excluded.details`
	const rate = `UPDATE pages SET passed = ?, applicable = ?, value = ?, score = ? WHERE run_id = ? AND url = ?`
	for _, p := range s.Pages {
		facts, err := p.Pack()
		w.err = cmp.Or(w.err, err)
		w.exec(page, w.run, p.URL, p.Class(), facts)
		w.exec(forget, w.run, p.URL)
		w.keep(p.Findings)
	}
	for _, r := range s.Resources {
		details, err := seo.ToText(r)
		w.err = cmp.Or(w.err, err)
		w.exec(resource, w.run, r.URL, details)
	}
	for _, r := range s.Ratings {
		w.exec(rate, r.Score.Passed, r.Score.Applicable, r.Score.Value, r.Score.Ranked(), w.run, r.URL)
		w.keep(r.Findings)
	}
}

// keep takes in findings.
func (w *writer) keep(findings []seo.Finding) {
	const query = `
		INSERT INTO findings (run_id, severity, check_id, page, details) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET details = excluded.details`
	for i := range findings {
		f := &findings[i]
		details, err := f.Details()
		w.err = cmp.Or(w.err, err)
		w.exec(query, w.run, f.Severity.Rank(), f.Check, f.Page, details)
	}
}

// SavedCrawl implements seo.Audits.
func (db *DB) SavedCrawl(ctx context.Context, l seo.Lease) (seo.Crawl, error) {
	held, err := scanLease(db.queryRow(ctx, readLease, l.Report, l.Owner, l.Run))
	if err != nil {
		return nil, err
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
	const query = `SELECT url, facts FROM pages WHERE run_id = ? AND url > ? ORDER BY url LIMIT ?`
	return inBatches(ctx, s, query, func(stored []byte) (*seo.Page, error) { return seo.UnpackPage(stored) })
}

// Resources implements seo.Crawl.
func (s *saved) Resources(ctx context.Context) iter.Seq2[seo.Resource, error] {
	const query = `SELECT url, details FROM resources WHERE run_id = ? AND url > ? ORDER BY url LIMIT ?`
	return inBatches(ctx, s, query, func(stored []byte) (seo.Resource, error) { return seo.FromText[seo.Resource](string(stored)) })
}

// batch is how many pages are read at once.
const batch = 100

// inBatches reads what is stored under addresses, a few rows at a time, so that nothing is held while they are worked on.
func inBatches[T any](ctx context.Context, s *saved, query string, read func([]byte) (T, error)) iter.Seq2[T, error] {
	type row struct {
		url    string
		stored []byte
	}
	scan := func(from scanner) (r row, err error) {
		err = from.Scan(&r.url, &r.stored)
		return r, err
	}
	return func(yield func(T, error) bool) {
		var none T
		for after, more := "", true; more; {
			rows, err := s.db.query(ctx, query, s.run, after, batch)
			if err != nil {
				yield(none, failure(err))
				return
			}
			found, err := all(rows, scan)
			if err != nil {
				yield(none, err)
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
			more = len(found) == batch
		}
	}
}
