//go:build cgo

package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"sightline/internal/analytics"
	"sightline/internal/fault"
)

// maxMeanwhile is how many events are kept in memory while the file is rewritten. The spool keeps the others.
const maxMeanwhile = 200_000

// Append implements analytics.Events.
func (db *DB) Append(ctx context.Context, b analytics.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	if b.Position != 0 && b.Position <= db.position {
		return nil
	}
	if db.meanwhile != nil {
		kept := len(b.Events)
		for _, batch := range *db.meanwhile {
			kept += len(batch.Events)
		}
		if kept > maxMeanwhile && len(*db.meanwhile) > 0 {
			return fmt.Errorf("the events are being compacted: %w", fault.Unavailable)
		}
	}
	err := db.use(ctx, func(pool *sql.DB) error { return db.write(ctx, pool, b) })
	if err != nil {
		return db.revive(fmt.Errorf("append %d events: %w", len(b.Events), err))
	}
	db.position = max(db.position, b.Position)
	if db.meanwhile != nil {
		b.Events, b.Drops = slices.Clone(b.Events), slices.Clone(b.Drops)
		*db.meanwhile = append(*db.meanwhile, b)
	}
	return nil
}

// revive opens the file again after an error that the engine cannot get over by itself, such as a full disk, and after a time
// in which even that failed. While the file is rewritten it is left to the next append.
func (db *DB) revive(err error) error {
	var cause *duckdb.Error
	fatal := errors.As(err, &cause) && cause.Type == duckdb.ErrorTypeFatal
	gone := errors.Is(err, errClosed) && db.closing.Err() == nil
	if !fatal && !gone || !db.upkeep.TryLock() {
		return err
	}
	defer db.upkeep.Unlock()
	db.reading.Lock()
	defer db.reading.Unlock()
	return errors.Join(err, db.shut(), db.open(context.Background()))
}

// write stores a batch with its position in one transaction.
func (db *DB) write(ctx context.Context, pool *sql.DB, b analytics.Batch) error {
	return transact(ctx, pool, func(conn *sql.Conn) error {
		if err := load(ctx, conn, "events", len(b.Events), func(i int) []driver.Value { return eventRow(b.Events[i].Stored()) }); err != nil {
			return err
		}
		if err := db.exclude(ctx, conn, b.Drops); err != nil || b.Position == 0 {
			return err
		}
		_, err := conn.ExecContext(ctx, `UPDATE about SET position = $1`, b.Position)
		return err
	})
}

// transact runs do in a transaction on one connection.
func transact(ctx context.Context, pool *sql.DB, do func(conn *sql.Conn) error) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `BEGIN`); err != nil {
		return err
	}
	if err = do(conn); err == nil {
		_, err = conn.ExecContext(ctx, `COMMIT`)
	}
	if err != nil {
		if _, undo := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`); undo != nil { // the connection is of no more use
			conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	return err
}

// load appends rows to a table in bulk.
func load(ctx context.Context, conn *sql.Conn, table string, rows int, row func(i int) []driver.Value) error {
	if rows == 0 {
		return nil
	}
	return conn.Raw(func(raw any) error {
		appender, err := duckdb.NewAppenderFromConn(raw.(driver.Conn), "", table)
		if err != nil {
			return err
		}
		return fill(ctx, appender, rows, row)
	})
}

// fill appends rows and closes the appender.
func fill(ctx context.Context, appender *duckdb.Appender, rows int, row func(i int) []driver.Value) error {
	for i := range rows {
		if err := appender.AppendRow(row(i)...); err != nil {
			return errors.Join(err, appender.Clear(), appender.Close())
		}
	}
	return appender.CloseWithCancel(ctx)
}

// eventRow is an event in the order of the columns.
func eventRow(e analytics.Event) []driver.Value {
	var props any
	if len(e.Props) > 0 {
		list := duckdb.OrderedMap{}
		for _, name := range slices.Sorted(maps.Keys(e.Props)) {
			list.Set(name, e.Props[name])
		}
		props = list
	}
	return []driver.Value{e.Website, e.At.UnixMilli(), e.Visitor, e.Visit, uint8(e.Kind), e.Name, e.Page, e.Hostname,
		e.Referrer, e.Source, e.Channel, e.UTMSource, e.UTMMedium, e.UTMCampaign, e.UTMContent, e.UTMTerm,
		e.Country, e.Region, e.City, e.Language, e.Browser, e.BrowserVersion, e.OS, e.OSVersion, e.Device, e.Screen,
		e.Value, e.Unit, props, uint32(e.Engagement.Milliseconds()), e.Depth}
}

// exclude counts drops and keeps the newest as samples.
func (db *DB) exclude(ctx context.Context, conn *sql.Conn, drops []analytics.Drop) error {
	if len(drops) == 0 {
		return nil
	}
	counts, samples := tally(drops)
	if err := merge(ctx, conn, counts); err != nil {
		return err
	}
	err := load(ctx, conn, "samples", len(samples), func(i int) []driver.Value {
		drop := samples[i]
		return []driver.Value{drop.Website, drop.At.UnixMilli(), drop.Reason, drop.Page, drop.Agent}
	})
	if err != nil {
		return err
	}
	const surplus = `
		DELETE FROM samples WHERE ms < $1 OR rowid IN (
			SELECT rowid FROM samples QUALIFY row_number() OVER (PARTITION BY website, reason ORDER BY ms DESC, rowid DESC) > $2)`
	_, err = conn.ExecContext(ctx, surplus, db.oldestSample(), analytics.SampleCount)
	return err
}

// oldestSample is from when on samples are kept.
func (db *DB) oldestSample() int64 {
	return db.options.Now().Add(-analytics.SampleTime).UnixMilli()
}

// sweep removes the samples that have been kept long enough.
func (db *DB) sweep(ctx context.Context) error {
	return db.use(ctx, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, `DELETE FROM samples WHERE ms < $1`, db.oldestSample())
		return err
	})
}

// A count is a row of the ledger.
type count struct {
	website, day int64
	reason       string
	events       int64
}

// tally counts drops by website, UTC day and reason, and picks the newest of each website and reason in the order of arrival.
func tally(drops []analytics.Drop) ([]count, []analytics.Drop) {
	stored := make([]analytics.Drop, len(drops))
	var counts []count
	index := map[count]int{}
	for i, drop := range drops {
		stored[i] = drop.Stored()
		key := count{website: drop.Website, day: stored[i].At.Truncate(24 * time.Hour).UnixMilli(), reason: stored[i].Reason}
		at, known := index[key]
		if !known {
			at = len(counts)
			index[key] = at
			counts = append(counts, key)
		}
		counts[at].events++
	}
	slices.SortStableFunc(stored, func(a, b analytics.Drop) int { return a.At.Compare(b.At) })
	type group struct {
		website int64
		reason  string
	}
	kept := map[group]int{}
	var samples []analytics.Drop
	for _, drop := range slices.Backward(stored) {
		key := group{drop.Website, drop.Reason}
		if kept[key]++; kept[key] <= analytics.SampleCount {
			samples = append(samples, drop)
		}
	}
	slices.Reverse(samples)
	return counts, samples
}

// merge adds counts to the ledger.
func merge(ctx context.Context, conn *sql.Conn, counts []count) error {
	const add = `
		MERGE INTO exclusions AS kept USING added ON kept.website = added.website AND kept.day = added.day AND kept.reason = added.reason
		WHEN MATCHED THEN UPDATE SET events = kept.events + added.events
		WHEN NOT MATCHED THEN INSERT VALUES (added.website, added.day, added.reason, added.events)`
	number, err := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	text, err2 := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	return conn.Raw(func(raw any) error {
		types := []duckdb.TypeInfo{number, number, text, number}
		appender, err := duckdb.NewQueryAppender(raw.(driver.Conn), add, "added", types, []string{"website", "day", "reason", "events"})
		if err != nil {
			return err
		}
		return fill(ctx, appender, len(counts), func(i int) []driver.Value {
			return []driver.Value{counts[i].website, counts[i].day, counts[i].reason, counts[i].events}
		})
	})
}
