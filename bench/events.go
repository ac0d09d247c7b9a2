package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/store"
)

// The traffic of the measurements: a month that ended before today.
var (
	monthEnd   = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	monthStart = monthEnd.AddDate(0, 0, -30)
)

// smallSite is how many events each website has in the measurement of one among many.
const smallSite = 80_000

// measureEvents loads events and asks the questions of a dashboard, for each number of events: all of one website, and for the
// last number also spread over websites of 80,000 each.
func measureEvents(ctx context.Context, sizes string, out io.Writer) error {
	fmt.Fprintln(out, "events of 30 days          load/s  bytes/event   totals   series    pages referrers browsers      all   (ms, median of 5)")
	var verdicts []string
	largest := 0
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			return errors.New("-events must be numbers of at least 1000, separated by commas")
		}
		largest = max(largest, n)
		lines, err := measureTraffic(ctx, out, fmt.Sprintf("%d of one website", n), n, 1)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, lines...)
	}
	sites := max(1, largest/smallSite)
	lines, err := measureTraffic(ctx, out, fmt.Sprintf("%d among %d", smallSite, sites*smallSite), sites*smallSite, sites)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nTargets")
	for _, line := range append(verdicts, lines...) {
		fmt.Fprintln(out, line)
	}
	return nil
}

// What events may take.
const (
	bytesMost     = 41                     // on disk, each
	eachMost      = 40 * time.Millisecond  // for each question about one website among many
	dashboardMost = 300 * time.Millisecond // for all five over a million events, or fewer
	largeMost     = 2 * time.Second        // for all five over more
)

// judgeTraffic says which targets hold.
func judgeTraffic(name string, events, sites int, perEvent float64, times []time.Duration) []string {
	sum := time.Duration(0)
	for _, took := range times {
		sum += took
	}
	most := dashboardMost
	if events > 1_000_000 {
		most = largeMost
	}
	speed := fmt.Sprintf("%s %s: the five questions in %s, at most %s", verdict(sum <= most), name, short(sum), short(most))
	if slowest := slices.Max(times); sites > 1 {
		speed = fmt.Sprintf("%s %s: each question in %s, at most %s", verdict(slowest <= eachMost), name, short(slowest), short(eachMost))
	}
	return []string{speed, fmt.Sprintf("%s %s: %.1f bytes for each event, at most %d", verdict(perEvent <= bytesMost), name, perEvent, bytesMost)}
}

// measureTraffic prints two lines, before and after the file is compacted, and returns which targets hold.
func measureTraffic(ctx context.Context, out io.Writer, name string, events, sites int) (verdicts []string, err error) {
	dir, err := os.MkdirTemp("", "sightline-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := store.OpenEvents(ctx, dir, store.EventOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	start := time.Now()
	if err := newTraffic(sites).load(ctx, db, events); err != nil {
		return nil, err
	}
	speed := float64(events) / time.Since(start).Seconds()
	for _, state := range []string{"", ", compacted"} {
		if state != "" {
			if err := db.Compact(ctx); err != nil {
				return nil, err
			}
		}
		size, err := sizeOf(dir)
		if err != nil {
			return nil, err
		}
		perEvent := float64(size) / float64(events)
		fmt.Fprintf(out, "%-36s %8.0f  %6.1f", name+state, speed, perEvent)
		times, err := askAll(ctx, out, db, int64(1+sites/2))
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, judgeTraffic(name+state, events, sites, perEvent, times)...)
	}
	return verdicts, nil
}

// dashboard is the five questions.
func dashboard(website int64) []analytics.Query {
	counts := []analytics.Metric{analytics.Visitors, analytics.Pageviews}
	top := analytics.Order{Metric: analytics.Visitors, Desc: true}
	base := analytics.Query{Website: website, From: monthStart, To: monthEnd, Zone: time.UTC, Metrics: counts}
	list := []analytics.Query{base, base, base, base, base}
	list[0].Metrics = analytics.Metrics[:len(analytics.Metrics)-1] // all but how far pages are scrolled
	list[1].By, list[1].Interval = analytics.ByTime, analytics.Day
	for i, by := range []analytics.Dimension{analytics.ByPage, analytics.ByReferrer, analytics.ByBrowser} {
		list[2+i].By, list[2+i].Order, list[2+i].Limit = by, top, 10
	}
	return list
}

// askAll asks the five questions, five times, prints the medians and their sum, and returns the medians.
func askAll(ctx context.Context, out io.Writer, db store.Events, website int64) (medians []time.Duration, err error) {
	sum := time.Duration(0)
	for _, question := range dashboard(website) {
		var times []time.Duration
		for range 5 {
			start := time.Now()
			table, err := db.Query(ctx, question)
			if err != nil {
				return nil, err
			}
			if len(table.Rows) == 0 || table.Rows[0].Metrics[0] == 0 {
				return nil, fmt.Errorf("nothing was found by %q", question.By)
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		sum += times[2]
		medians = append(medians, times[2])
		fmt.Fprintf(out, " %8.1f", milliseconds(times[2]))
	}
	fmt.Fprintf(out, " %8.1f\n", milliseconds(sum))
	return medians, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// sizeOf adds up the files of a directory, without the log of what came last, which is bounded and soon part of the others.
func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(entry.Name(), ".wal") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// traffic makes visits as websites have them: few pages and sources have most, most visits are short, some visitors come back.
type traffic struct {
	random                *rand.Rand
	sites                 int
	first                 int64 // the lowest id of a website
	pages, sources, towns *rand.Zipf
	returning             []analytics.Event // some of the last visitors
}

func newTraffic(sites int) *traffic {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := func(n uint64) *rand.Zipf { return rand.NewZipf(random, 1.2, 4, n-1) }
	return &traffic{random: random, sites: sites, first: 1, pages: zipf(5000), sources: zipf(500), towns: zipf(2000)}
}

// load fills the month part by part, in the order in which events arrive.
func (t *traffic) load(ctx context.Context, db store.Events, events int) error {
	parts := min(30*24, 1+events/20_000)
	length := monthEnd.Sub(monthStart) / time.Duration(parts)
	for part := range parts {
		count := events*(part+1)/parts - events*part/parts
		batch := make([]analytics.Event, 0, count)
		for len(batch) < count {
			batch = append(batch, t.visit(monthStart.Add(time.Duration(part)*length), length)...)
		}
		batch = batch[:count]
		slices.SortFunc(batch, func(a, b analytics.Event) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
		if err := db.Append(ctx, analytics.Batch{Events: batch}); err != nil {
			return err
		}
	}
	return nil
}

// visit is what a visitor does, some time after a moment.
func (t *traffic) visit(from time.Time, within time.Duration) []analytics.Event {
	e := t.visitor()
	e.At, e.Visit = from.Add(time.Duration(t.random.Int64N(int64(within)*9/10))).Truncate(time.Millisecond), t.random.Uint64()
	var events []analytics.Event
	for {
		e.Kind, e.Page, e.Engagement, e.Depth = analytics.PageView, fmt.Sprintf("/articles/%04d/what-it-is-about", t.pages.Uint64()), 0, 0
		events = append(events, e)
		if t.random.IntN(20) == 0 {
			custom := e
			custom.Kind, custom.Name = analytics.Custom, "signup"
			events = append(events, custom)
		}
		e.Engagement = time.Duration(t.random.ExpFloat64() * float64(20*time.Second)).Truncate(time.Millisecond)
		e.At = e.At.Add(e.Engagement)
		e.Kind, e.Depth = analytics.Engagement, uint8(t.random.IntN(101))
		if t.random.IntN(10) > 0 {
			events = append(events, e)
		}
		if t.random.IntN(5) < 2 || len(events) > 40 {
			return events
		}
	}
}

// visitor is somebody new, or one who was here before.
func (t *traffic) visitor() analytics.Event {
	if n := len(t.returning); n > 1000 && t.random.IntN(5) == 0 {
		return t.returning[t.random.IntN(n)]
	}
	r := t.random
	browser, system := r.IntN(6), r.IntN(5)
	e := analytics.Event{Website: t.first + int64(r.IntN(t.sites)), Visitor: r.Uint64(), Hostname: "www.example.com"}
	if source := t.sources.Uint64(); source > 0 {
		e.Referrer, e.Source, e.Channel = fmt.Sprintf("https://site%d.example/some/page", source), fmt.Sprintf("Site %d", source), "referral"
	} else {
		e.Channel = "direct"
	}
	town := t.towns.Uint64()
	e.Place = analytics.Place{Country: analytics.Countries[town%60].Code, Region: fmt.Sprint("Region ", town%300), City: fmt.Sprint("Town ", town)}
	e.Agent = analytics.Agent{Language: []string{"en", "de", "fr", "es"}[r.IntN(4)], Browser: []string{"Chrome", "Safari", "Firefox", "Edge", "Opera", "Samsung Internet"}[browser],
		BrowserVersion: strconv.Itoa(120 + r.IntN(20)), OS: []string{"Windows", "macOS", "Android", "iOS", "Linux"}[system], OSVersion: strconv.Itoa(10 + r.IntN(8)),
		Device: []string{analytics.Desktop, analytics.Mobile, analytics.Tablet}[r.IntN(3)], Screen: []string{"1920x1080", "360x800", "1440x900", "390x844"}[r.IntN(4)]}
	if r.IntN(10) == 0 {
		e.UTMSource, e.UTMMedium, e.UTMCampaign = "newsletter", "email", fmt.Sprint("campaign ", r.IntN(20))
	}
	if len(t.returning) < 5000 {
		t.returning = append(t.returning, e)
	} else {
		t.returning[r.IntN(5000)] = e
	}
	return e
}
