// Command bench measures the program over HTTP on loopback, beside a bare handler in the same run, and says which targets
// hold. Absolute figures depend on the machine and the minute; the ratios should not.
//
//	go run ./bench -sizes 1000,100000,1000000
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
	"time"
)

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
	flag.DurationVar(&s.duration, "for", 3*time.Second, "how long each operation is measured")
	flag.StringVar(&s.postgres, "postgres", os.Getenv("SIGHTLINE_TEST_POSTGRES"), "a PostgreSQL server to measure too; each size gets a schema of its own")
	flag.Parse()
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			return errors.New("-sizes must be numbers of at least 1000, separated by commas")
		}
		s.sizes = append(s.sizes, n)
	}
	report := &report{}
	for _, size := range s.sizes {
		if err := measureBare(ctx, s, size, report); err != nil {
			return err
		}
		if err := measureSightline(ctx, s, "sqlite", size, report); err != nil {
			return err
		}
		if s.postgres == "" {
			continue
		}
		if err := measureSightline(ctx, s, "postgres", size, report); err != nil {
			return err
		}
	}
	report.print(os.Stdout, s.sizes)
	return nil
}
