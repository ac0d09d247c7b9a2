//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"sightline/internal/analytics"
)

// window is how many events of a stream are in memory at once; more only when they lie in one minute.
const window = 10_000

// Position implements analytics.Events.
func (db *DB) Position(ctx context.Context) (int64, error) {
	var position int64
	err := db.use(ctx, func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, `SELECT position FROM about`).Scan(&position)
	})
	return position, err
}

// Events implements analytics.Events. Nothing is held between two windows, so a slow reader stops nobody.
func (db *DB) Events(ctx context.Context, website int64, from, to time.Time) iter.Seq2[analytics.Event, error] {
	return func(yield func(analytics.Event, error) bool) {
		start, stop := ceilMilli(from), ceilMilli(to)
		ends, err := db.windows(ctx, website, start, stop)
		for _, end := range ends {
			var events []analytics.Event
			if events, err = db.read(ctx, website, start, min(end, stop)); err != nil {
				break
			}
			for _, event := range events {
				if !yield(event, nil) {
					return
				}
			}
			start = end
		}
		if err != nil {
			yield(analytics.Event{}, fmt.Errorf("read the events of website %d: %w", website, err))
		}
	}
}

// ceilMilli is the first millisecond that is not before t.
func ceilMilli(t time.Time) int64 {
	return t.Add(time.Millisecond - 1).UnixMilli()
}

// windows cuts a range at full minutes, so that each part has a bounded number of events. It lists where the parts end.
func (db *DB) windows(ctx context.Context, website, from, to int64) ([]int64, error) {
	const query = `
		SELECT ms // 60000, count(*) FROM events WHERE website = $1 AND ms >= $2 AND ms < $3 GROUP BY 1 ORDER BY 1`
	var ends []int64
	err := db.use(ctx, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, query, website, from, to)
		if err != nil {
			return err
		}
		defer rows.Close()
		var minute, count, sum int64
		for rows.Next() {
			if err := rows.Scan(&minute, &count); err != nil {
				return err
			}
			if sum += count; sum > window && sum > count {
				ends, sum = append(ends, minute*60_000), count
			}
		}
		if sum > 0 {
			ends = append(ends, (minute+1)*60_000)
		}
		return rows.Err()
	})
	return ends, err
}

// read reads a website's events of a short time.
func (db *DB) read(ctx context.Context, website, from, to int64) ([]analytics.Event, error) {
	const query = `SELECT * FROM events WHERE website = $1 AND ms >= $2 AND ms < $3 ORDER BY ms, rowid`
	var events []analytics.Event
	err := db.use(ctx, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, query, website, from, to)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			event, err := scan(rows)
			if err != nil {
				return err
			}
			events = append(events, event)
		}
		return rows.Err()
	})
	return events, err
}

// scan reads an event from its columns.
func scan(rows *sql.Rows) (analytics.Event, error) {
	var e analytics.Event
	var at, engagement int64
	var props any
	err := rows.Scan(&e.Website, &at, &e.Visitor, &e.Visit, &e.Kind, &e.Name, &e.Page, &e.Hostname,
		&e.Referrer, &e.Source, &e.Channel, &e.UTMSource, &e.UTMMedium, &e.UTMCampaign, &e.UTMContent, &e.UTMTerm,
		&e.Country, &e.Region, &e.City, &e.Language, &e.Browser, &e.BrowserVersion, &e.OS, &e.OSVersion, &e.Device, &e.Screen,
		&e.Value, &e.Unit, &props, &engagement, &e.Depth)
	if err != nil {
		return e, err
	}
	e.At, e.Engagement = time.UnixMilli(at).UTC(), time.Duration(engagement)*time.Millisecond
	if list, ok := props.(duckdb.OrderedMap); ok {
		names, values := list.Keys(), list.Values()
		e.Props = make(map[string]string, len(names))
		for i, name := range names {
			e.Props[fmt.Sprint(name)] = fmt.Sprint(values[i])
		}
	}
	return e, nil
}

// OpenVisits implements analytics.Events.
func (db *DB) OpenVisits(ctx context.Context, since time.Time) ([]analytics.Visit, error) {
	const query = `
		SELECT website, visitor, visit, ms, referrer, source, channel, utm_source, utm_medium, utm_campaign, utm_content, utm_term
		FROM events WHERE ms >= $1
		QUALIFY row_number() OVER (PARTITION BY website, visitor, visit ORDER BY ms DESC, rowid DESC) = 1
		ORDER BY website, ms, visitor, visit`
	var visits []analytics.Visit
	err := db.use(ctx, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, query, ceilMilli(since))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var v analytics.Visit
			var last int64
			o := &v.Origin
			if err := rows.Scan(&v.Website, &v.Visitor, &v.ID, &last, &o.Referrer, &o.Source, &o.Channel,
				&o.UTMSource, &o.UTMMedium, &o.UTMCampaign, &o.UTMContent, &o.UTMTerm); err != nil {
				return err
			}
			v.Last = time.UnixMilli(last).UTC()
			visits = append(visits, v)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read the open visits: %w", err)
	}
	return visits, nil
}

// Exclusions implements analytics.Events.
func (db *DB) Exclusions(ctx context.Context, website int64, from, to time.Time) (analytics.Exclusions, error) {
	var ledger analytics.Exclusions
	first := from.UTC().Truncate(24 * time.Hour).UnixMilli()
	err := db.use(ctx, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, `
			SELECT day, reason, events FROM exclusions WHERE website = $1 AND day >= $2 AND day < $3 ORDER BY day, reason`, website, first, ceilMilli(to))
		if err != nil {
			return err
		}
		for rows.Next() {
			var day int64
			var e analytics.Exclusion
			if err := rows.Scan(&day, &e.Reason, &e.Events); err != nil {
				return errors.Join(err, rows.Close())
			}
			e.Day = time.UnixMilli(day).UTC()
			ledger.Days = append(ledger.Days, e)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		ledger.Samples, err = db.samples(ctx, pool, website, max(first, db.oldestSample()), ceilMilli(to))
		return err
	})
	if err != nil {
		return analytics.Exclusions{}, fmt.Errorf("read the exclusions of website %d: %w", website, err)
	}
	return ledger, nil
}

// samples reads the samples of a time, the newest first.
func (db *DB) samples(ctx context.Context, pool *sql.DB, website, from, to int64) ([]analytics.Drop, error) {
	rows, err := pool.QueryContext(ctx, `
		SELECT ms, reason, page, agent FROM samples WHERE website = $1 AND ms >= $2 AND ms < $3 ORDER BY ms DESC, rowid DESC`, website, from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var drops []analytics.Drop
	for rows.Next() {
		var at int64
		drop := analytics.Drop{Website: website}
		if err := rows.Scan(&at, &drop.Reason, &drop.Page, &drop.Agent); err != nil {
			return nil, err
		}
		drop.At = time.UnixMilli(at).UTC()
		drops = append(drops, drop)
	}
	return drops, rows.Err()
}
