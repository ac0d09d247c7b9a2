package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect"
	geo "sightline/internal/collect/place"
	"sightline/internal/collect/spool"
	"sightline/internal/store"
	"sightline/internal/web"
	"sightline/internal/web/origin"
)

// How the collector is measured.
const (
	collectWires = 64
	collectTime  = 2 * time.Second // of each round
	collectShare = 0.8             // of the bare group commit
	steadyRate   = 2000            // hits each second
	steadyTime   = 10 * time.Second
	steadyMost   = 10 * time.Millisecond // for all but the slowest hundredth
	openEvents   = 1_000_000             // of the website whose dashboard is open
)

// measureCollect measures the collector over HTTP with all steps on: beside a bare group commit, at a steady rate, and at that rate while
// a dashboard is open. What it accepted must be stored.
func measureCollect(ctx context.Context, out io.Writer) (err error) {
	bareURL, stopBare, err := startGroupCommit(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopBare()) }()
	c, err := startCollecting(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	hits := makeHits(c.site.TrackingID)

	rows := &report{}
	for range rounds {
		got, err := pushAll(ctx, bareURL, collectWires, collectTime, hits)
		if err != nil {
			return fmt.Errorf("bare group commit: %w", err)
		}
		rows.add(bare, "collect", collectWires, got.round)
		if err := c.push(ctx, rows, "collect", func() (push, error) { return pushAll(ctx, c.base, collectWires, collectTime, hits) }); err != nil {
			return err
		}
	}
	steady := func() (push, error) { return pushAt(ctx, c.base, collectWires, steadyRate, steadyTime, hits) }
	if err := c.push(ctx, rows, "2,000/s", steady); err != nil {
		return err
	}
	asked, err := c.besideDashboard(ctx, func() error { return c.push(ctx, rows, "2,000/s, dashboard", steady) })
	if err != nil {
		return err
	}
	stored, err := c.stored(ctx)
	if err != nil {
		return err
	}
	c.print(out, rows, asked, stored)
	return nil
}

// print says what was measured, and which targets hold.
func (c *collecting) print(out io.Writer, rows *report, asked []time.Duration, stored int) {
	for _, row := range rows.rows {
		fmt.Fprintf(out, "%9s  %-19s %7.0f hits/s  p50 %s  p99 %s\n", row.engine, row.operation, row.perSecond(), short(row.quantile(0.5)), short(row.quantile(0.99)))
	}
	dashboard := row{rounds: []round{{times: asked}}}
	fmt.Fprintf(out, "%9s  the five questions over %d events meanwhile: p50 %s, %d times\n\nTargets\n", "", openEvents, short(dashboard.quantile(0.5)), len(asked))
	share := rows.find(c.engine(), "collect", collectWires).share(rows.find(bare, "collect", collectWires))
	fmt.Fprintf(out, "%s collect: %.2f of a bare group commit, at least %.2f\n", verdict(share >= collectShare), share, collectShare)
	p99 := rows.find(c.engine(), "2,000/s", collectWires).quantile(0.99)
	fmt.Fprintf(out, "%s collect at %d/s: p99 %s, at most %s\n", verdict(p99 <= steadyMost), steadyRate, short(p99), short(steadyMost))
	fmt.Fprintf(out, "%s %d hits accepted, %d stored, %d refused\n", verdict(stored == c.accepted && c.refused == 0), c.accepted, stored, c.refused)
}

// A collecting is a collector with its stores, served in this process.
type collecting struct {
	base              string
	site              analytics.Website
	events            store.Events
	collector         *collect.Collector
	stop              func() error
	accepted, refused int
}

// engine is how reports call it.
func (c *collecting) engine() string { return "sightline" }

// push measures hits and counts those that were accepted, and waits until they are stored.
func (c *collecting) push(ctx context.Context, rows *report, name string, send func() (push, error)) error {
	got, err := send()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.accepted, c.refused = c.accepted+got.accepted, c.refused+got.refused
	rows.add(c.engine(), name, collectWires, got.round)
	for c.collector.Backlog() > 0 && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

// stored counts the page views that are stored.
func (c *collecting) stored(ctx context.Context) (int, error) {
	now := time.Now()
	table, err := c.events.Query(ctx, analytics.Query{Website: c.site.ID, From: now.Add(-time.Hour), To: now.Add(time.Hour), Zone: time.UTC, Metrics: []analytics.Metric{analytics.Pageviews}})
	if err != nil {
		return 0, err
	}
	return int(table.Rows[0].Metrics[0]), nil
}

// besideDashboard asks the five questions about another website again and again while something is done.
func (c *collecting) besideDashboard(ctx context.Context, do func() error) (asked []time.Duration, err error) {
	other := newTraffic(1)
	other.first = c.site.ID + 1
	if err := other.load(ctx, c.events, openEvents); err != nil {
		return nil, err
	}
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				failed <- nil
				return
			default:
			}
			began := time.Now()
			for _, question := range dashboard(other.first) {
				if _, err := c.events.Query(ctx, question); err != nil {
					failed <- err
					return
				}
			}
			asked = append(asked, time.Since(began))
		}
	}()
	err = do()
	close(done)
	return asked, errors.Join(err, <-failed)
}

// startCollecting starts a collector with a website that excludes something of everything.
func startCollecting(ctx context.Context) (c *collecting, err error) {
	dir, err := os.MkdirTemp("", "sightline-bench")
	if err != nil {
		return nil, err
	}
	var undo []func() error
	stop := func() (err error) {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
		return err
	}
	undo = append(undo, func() error { return os.RemoveAll(dir) })
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	catalog, err := store.Open(ctx, "", dir)
	if err != nil {
		return nil, err
	}
	undo = append(undo, catalog.Close)
	c = &collecting{stop: stop}
	if c.events, err = store.OpenEvents(ctx, dir, store.EventOptions{}); err != nil {
		return nil, err
	}
	undo = append(undo, c.events.Close)
	places, err := geo.Open("")
	if err != nil {
		return nil, err
	}
	c.collector, err = collect.Open(ctx, catalog, c.events, collect.Options{Dir: dir, Places: places, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	undo = append(undo, func() error { return c.collector.Close(context.WithoutCancel(ctx)) })
	end, t, err := start(ctx, &web.Server{Catalog: catalog, Events: c.events, Collector: c.collector,
		Proxies: origin.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, Header: "X-Forwarded-For"}})
	if err != nil {
		return nil, err
	}
	undo = append(undo, end)
	c.base, c.site = t.base, analytics.NewWebsite(1, time.Now())
	c.site.ExcludeIPs, c.site.ExcludeParams = "203.0.113.0/24 2001:db8::/32", "session token*"
	if err := c.site.SetURL("https://example.com"); err != nil {
		return nil, err
	}
	return c, catalog.CreateWebsite(ctx, &c.site, nil)
}

// startGroupCommit serves what does the least: the body of a request is synced to disk together with those that came meanwhile.
func startGroupCommit(ctx context.Context) (address string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "sightline-bench")
	if err != nil {
		return "", nil, err
	}
	kept, _, err := spool.Open(filepath.Join(dir, "bare.db"), 0, spool.Limits{Bytes: 4 << 30, Waiting: 2 * collectWires})
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<10))
		if err == nil {
			err = kept.Append(ctx, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	return server.URL, func() error {
		server.Close()
		return errors.Join(kept.Close(), os.RemoveAll(dir))
	}, nil
}

// makeHits are requests of many visitors, as browsers send them.
func makeHits(tracking string) [][]byte {
	hits := make([][]byte, 20_000)
	for i := range hits {
		body := fmt.Sprintf(`{"s":"%s","n":"pageview","u":"https://example.com/articles/%d?utm_source=news&session=%d&page=%d","r":"https://www.google.com/","w":1920}`, tracking, i%500, i, i%3)
		hits[i] = fmt.Appendf(nil, "POST /api/event HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36\r\n"+
			"X-Forwarded-For: 88.%d.%d.7\r\nAccept-Language: en-US,en;q=0.9\r\nContent-Type: text/plain;charset=UTF-8\r\nContent-Length: %d\r\n\r\n%s", 110+i%40, i>>8&0xff, i&0xff, len(body), body)
	}
	return hits
}
