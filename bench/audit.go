package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sightline/internal/account"
	"sightline/internal/audit"
	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
	"sightline/internal/seo"
	"sightline/internal/store"
)

// auditSettings is what the flags say about measuring audits. Each measurement is a process of its own, and so is the server of
// the site: the time and the memory of one do not count for another.
type auditSettings struct {
	dir   string // a static site to serve
	pages string // how many pages to audit, in turn
	serve bool   // this process is the server
	way   string // this process measures one way
	start string // where it begins
	most  int
}

// What audits may take, beside colly in the same run.
const (
	auditShare  = 0.7
	auditMemory = 256 << 20 // at 5,000 pages
	auditGrowth = 10 << 10  // for each page beyond the first thousand
	auditRounds = 3         // of up to 5,000 pages; of more there is one
)

// ways are what is measured, in turn.
var ways = []struct{ id, name string }{
	{"bare", "fetch and parse"}, {"colly", "colly, 7 selectors"}, {"file", "audit, no server"}, {"sqlite", "audit into SQLite"},
}

// A crawled is what a process measured of itself.
type crawled struct {
	Pages  int
	Took   time.Duration
	CPU    time.Duration
	Memory int64 // bytes at the most
}

func (c crawled) perSecond() float64 { return float64(c.Pages) / c.Took.Seconds() }

// measureAudits compares audits with colly, which only fetches and selects, and with the least that a crawler must do.
func measureAudits(ctx context.Context, s auditSettings, out io.Writer) (err error) {
	m := &auditMeasure{out: out, memory: map[string][]sized{}}
	dir, err := os.MkdirTemp("", "sightline-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m.colly = filepath.Join(dir, "colly")
	build := exec.CommandContext(ctx, "go", "build", "-C", "bench/colly", "-o", m.colly, ".")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build colly: %w\n%s", err, said)
	}
	site, err := serveSite(ctx, s.dir)
	if err != nil {
		return err
	}
	defer site.end()
	fmt.Fprintf(out, "%-8s %-20s %8s %14s %10s\n", "pages", "", "pages/s", "CPU per page", "memory")
	for text := range strings.SplitSeq(s.pages, ",") {
		most, err := strconv.Atoi(text)
		if err != nil || most < 1 {
			return errors.New("-audit-pages must be numbers, separated by commas")
		}
		if err := m.measure(ctx, site.start(most), most); err != nil {
			return err
		}
	}
	m.growth()
	return nil
}

// An auditMeasure is what was measured so far.
type auditMeasure struct {
	out    io.Writer
	colly  string // the program
	memory map[string][]sized
}

// A sized is the memory of a way with so many pages.
type sized struct {
	pages  int
	memory int64
}

// measure measures every way with so many pages. The rounds take turns, so that whatever else the machine does meets all.
func (m *auditMeasure) measure(ctx context.Context, start string, most int) error {
	rounds := 1
	if most <= 5000 {
		rounds = auditRounds
	}
	got := map[string][]crawled{}
	for range rounds {
		for _, way := range ways {
			c, err := m.apart(ctx, way.id, start, most)
			if err != nil {
				return fmt.Errorf("%s, %d pages: %w", way.name, most, err)
			}
			got[way.id] = append(got[way.id], c)
		}
	}
	for _, way := range ways {
		c := median(got[way.id], crawled.perSecond)
		peak := slices.MaxFunc(got[way.id], func(a, b crawled) int { return cmp.Compare(a.Memory, b.Memory) }).Memory
		m.memory[way.id] = append(m.memory[way.id], sized{c.Pages, peak})
		fmt.Fprintf(m.out, "%-8d %-20s %8.0f %14v %6d MiB\n", c.Pages, way.name, c.perSecond(), (c.CPU / time.Duration(max(c.Pages, 1))).Round(10*time.Microsecond), peak>>20)
	}
	m.judge(got, most)
	return nil
}

// judge says whether the targets hold: each round beside colly's, and the memory where it is bounded.
func (m *auditMeasure) judge(got map[string][]crawled, most int) {
	for _, way := range ways[2:] {
		var shares []float64
		for i, c := range got[way.id] {
			shares = append(shares, c.perSecond()/got["colly"][i].perSecond())
		}
		share := median(shares, func(share float64) float64 { return share })
		fmt.Fprintf(m.out, "%s %s: %.2f of colly, at least %.2f\n", verdict(share >= auditShare), way.name, share, auditShare)
		if peak := m.memory[way.id][len(m.memory[way.id])-1].memory; most <= 5000 {
			fmt.Fprintf(m.out, "%s %s: %d MiB, at most %d MiB\n", verdict(peak <= auditMemory), way.name, peak>>20, auditMemory>>20)
		}
	}
}

// growth says what each further page takes.
func (m *auditMeasure) growth() {
	for _, way := range ways[2:] {
		first, last := m.memory[way.id][0], m.memory[way.id][len(m.memory[way.id])-1]
		if last.pages <= first.pages {
			continue
		}
		each := (last.memory - first.memory) / int64(last.pages-first.pages)
		fmt.Fprintf(m.out, "%s %s: %.1f KiB for each page from %d to %d, at most %d KiB\n",
			verdict(each <= auditGrowth), way.name, float64(each)/1024, first.pages, last.pages, auditGrowth>>10)
	}
}

// median is the one in the middle.
func median[T any](all []T, by func(T) float64) T {
	all = slices.SortedFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(by(a), by(b)) })
	return all[len(all)/2]
}

// apart measures one way in a process of its own.
func (m *auditMeasure) apart(ctx context.Context, way, start string, most int) (c crawled, err error) {
	child := exec.CommandContext(ctx, m.colly, "-start", start, "-most", strconv.Itoa(most), "-workers", strconv.Itoa(bareWorkers))
	if way != "colly" {
		program, err := os.Executable()
		if err != nil {
			return c, err
		}
		child = exec.CommandContext(ctx, program, "-audit-way", way, "-audit-start", start, "-audit-most", strconv.Itoa(most))
	}
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(out, &c)
}

// measureWay measures one way in this process and prints what came of it.
func measureWay(ctx context.Context, s auditSettings) error {
	began := time.Now()
	pages, err := map[string]func(context.Context, string, int) (int, error){"bare": bareCrawl, "file": auditFile, "sqlite": auditSQLite}[s.way](ctx, s.start, s.most)
	if err != nil {
		return err
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return json.NewEncoder(os.Stdout).Encode(crawled{pages, time.Since(began), cpu, usage.Maxrss << 10})
}

// A nearWeb is the site alone: what lies elsewhere is not asked for, since the network is not to be measured.
type nearWeb struct{ client *guard.Client }

// Fetch implements crawl.Fetcher.
func (n nearWeb) Fetch(ctx context.Context, r guard.Request) guard.Answer {
	if strings.HasPrefix(r.URL.Host, "127.0.0.1:") {
		return n.client.Fetch(ctx, r)
	}
	return guard.Answer{Hops: []guard.Hop{{URL: r.URL}}, Err: &guard.Failure{Kind: guard.NoSuchHost, Text: "there is no such host"}}
}

// newAuditor makes audits as fast as it can.
func newAuditor() *audit.Auditor {
	client := guard.New(guard.Options{Rules: guard.Rules{Unguarded: true}, Agent: crawl.Agent})
	return audit.New(crawl.New(nearWeb{client}, crawl.Manners{Connections: bareWorkers, PerSecond: -1, ChecksPerSecond: -1}), time.Now)
}

func siteReport(start string, most int) (seo.Report, error) {
	report := seo.NewReport(1, time.Now())
	if err := report.SetURL(start); err != nil {
		return report, err
	}
	report.SetScope(seo.ScopeSite)
	report.MaxPages = most
	return report, nil
}

// auditFile makes an audit as the command does.
func auditFile(ctx context.Context, start string, most int) (int, error) {
	report, err := siteReport(start, most)
	if err != nil {
		return 0, err
	}
	found := audit.NewScratch()
	result, err := newAuditor().Run(ctx, audit.Task{Report: report, Store: found})
	return result.Pages, errors.Join(err, found.Close())
}

// auditSQLite makes an audit as the server does.
func auditSQLite(ctx context.Context, start string, most int) (int, error) {
	dir, err := os.MkdirTemp("", "sightline-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	catalog, err := store.Open(ctx, "", dir)
	if err != nil {
		return 0, err
	}
	defer catalog.Close()
	owner := account.New("owner@localhost", time.Now())
	if err := catalog.CreateAccount(ctx, &owner); err != nil {
		return 0, err
	}
	report, err := siteReport(start, most)
	if err != nil {
		return 0, err
	}
	report.AccountID = owner.ID
	if err := catalog.CreateReport(ctx, &report, nil); err != nil {
		return 0, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		audit.NewQueue(newAuditor(), catalog, 1, time.Now, slog.New(slog.DiscardHandler)).Run(running)
	}()
	defer func() { cancel(); <-ended }()
	for !report.State.Ended() {
		time.Sleep(20 * time.Millisecond)
		if report, err = catalog.Report(ctx, owner.ID, report.ID); err != nil {
			return 0, err
		}
	}
	return report.Pages, nil
}
