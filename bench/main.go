// Command bench measures the program over HTTP on loopback, beside a bare handler in the same run, and says which targets
// hold. Absolute figures depend on the machine and the minute; the ratios should not.
//
//	go run ./bench -sizes 1000,100000,1000000
//	go run ./bench -events 1000000,10000000
//	go run ./bench -collect
//	go run ./bench -audit /usr/share/doc/some-manual/html -audit-pages 1000,5000,50000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// bare is the engine of the handler that everything is measured against.
const bare = "bare"

// rounds is how often each operation is measured.
const rounds = 5

// settings is what the flags say.
type settings struct {
	sizes    []int
	clients  int
	duration time.Duration // for each measurement
	postgres string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	sizes := flag.String("sizes", "1000,100000,1000000", "how many websites the account has, in turn")
	s := settings{}
	flag.IntVar(&s.clients, "clients", 16, "how many callers at once")
	flag.DurationVar(&s.duration, "for", 5*time.Second, "how long each operation is measured, in five rounds")
	flag.StringVar(&s.postgres, "postgres", os.Getenv("SIGHTLINE_TEST_POSTGRES"), "a PostgreSQL server to measure too; each size gets a schema of its own")
	events := flag.String("events", "", "measure the store of events alone, with so many events in turn")
	collecting := flag.Bool("collect", false, "measure the collector, and the program that is built from here, alone")
	var a auditSettings
	flag.StringVar(&a.dir, "audit", "", "measure audits of the static site in this directory alone, beside colly and a bare fetch-and-parse")
	flag.StringVar(&a.pages, "audit-pages", "1000,5000,50000", "how many of its pages, in turn")
	flag.BoolVar(&a.serve, "audit-serve", false, "used by -audit itself: serve the site")
	flag.StringVar(&a.way, "audit-way", "", "used by -audit itself: measure one way")
	flag.StringVar(&a.start, "audit-start", "", "used by -audit itself: where the site is")
	flag.IntVar(&a.most, "audit-most", 0, "used by -audit itself: how many pages")
	flag.Parse()
	switch {
	case *events != "":
		return measureEvents(ctx, *events, os.Stdout)
	case *collecting:
		return errors.Join(measureCollect(ctx, os.Stdout), measureProgram(ctx, os.Stdout))
	case a.serve:
		return beSite(a.dir)
	case a.way != "":
		return measureWay(ctx, a)
	case a.dir != "":
		return measureAudits(ctx, a, os.Stdout)
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			return errors.New("-sizes must be numbers of at least 1000, separated by commas")
		}
		s.sizes = append(s.sizes, n)
	}
	report := &report{}
	for _, size := range s.sizes {
		if err := measure(ctx, s, size, report); err != nil {
			return err
		}
	}
	report.print(os.Stdout, s.sizes)
	return nil
}

// A stage is a server that is measured.
type stage struct {
	engine     string
	operations []operation
	stop       func() error
}

// An operation is one kind of request that is measured.
type operation struct {
	name  string
	want  int
	key   string
	alone bool // one caller at a time, for latency
	next  func(i int64) call
	sent  atomic.Int64
}

// measure measures every engine with so many websites. The rounds of an operation take turns between the engines, so that
// whatever else the machine does meets all of them.
func measure(ctx context.Context, s settings, size int, report *report) (err error) {
	var stages []*stage
	defer func() {
		for _, stage := range stages {
			err = errors.Join(err, stage.stop())
		}
	}()
	engines := []string{bare, "sqlite", "postgres"}
	if s.postgres == "" {
		engines = engines[:2]
	}
	for _, engine := range engines {
		start := func() (*stage, error) { return startSightline(ctx, s, engine, size) }
		if engine == bare {
			start = func() (*stage, error) { return startBare(ctx, size) }
		}
		stage, err := start()
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		stages = append(stages, stage)
	}
	for _, name := range names(stages[1].operations) {
		for range rounds {
			for _, stage := range stages {
				if err := stage.round(ctx, s, name, size, report); err != nil {
					return fmt.Errorf("%s, %s: %w", stage.engine, name, err)
				}
			}
		}
	}
	return nil
}

// round measures an operation once, if the stage has it.
func (s *stage) round(ctx context.Context, settings settings, name string, size int, report *report) error {
	for i := range s.operations {
		o := &s.operations[i]
		if o.name != name {
			continue
		}
		clients := settings.clients
		if o.alone {
			clients = 1
		}
		got, err := load(ctx, settings.duration/rounds, clients, o.key, o.want, func() call { return o.next(o.sent.Add(1)) })
		if err != nil {
			return err
		}
		report.add(s.engine, name, size, got)
	}
	return nil
}

func names(operations []operation) (list []string) {
	for i := range operations {
		list = append(list, operations[i].name)
	}
	return list
}
