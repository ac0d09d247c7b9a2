package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A report collects what was measured.
type report struct{ rows []*row }

// A row is what the rounds of an operation came to.
type row struct {
	engine, operation string
	size              int
	rounds            []round
}

func (r *report) add(engine, operation string, size int, got round) {
	if len(got.times) == 0 {
		return
	}
	known := r.find(engine, operation, size)
	if known == nil {
		known = &row{engine: engine, operation: operation, size: size}
		r.rows = append(r.rows, known)
	}
	known.rounds = append(known.rounds, got)
}

// find is what was measured of an operation; nil when nothing was.
func (r *report) find(engine, operation string, size int) *row {
	for _, row := range r.rows {
		if row.engine == engine && row.operation == operation && row.size == size {
			return row
		}
	}
	return nil
}

// perSecond is the median of the rounds.
func (r *row) perSecond() float64 {
	var all []float64
	for _, round := range r.rounds {
		all = append(all, round.perSecond)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// quantile is the time within which a share of all requests were answered.
func (r *row) quantile(share float64) time.Duration {
	var all []time.Duration
	for _, round := range r.rounds {
		all = append(all, round.times...)
	}
	slices.Sort(all)
	return all[int(float64(len(all)-1)*share)]
}

// share is how much of another's requests per second it reaches: the median over rounds, each beside the other's.
func (r *row) share(other *row) float64 {
	var all []float64
	for i := range min(len(r.rounds), len(other.rounds)) {
		all = append(all, r.rounds[i].perSecond/other.rounds[i].perSecond)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// A goal is a target: it must hold at least so much of what the bare handler does, or answer within a time.
type goal struct {
	operation string
	against   string  // an operation of the bare handler
	share     float64 // of its requests per second
	within    time.Duration
}

var goals = []goal{
	{operation: "read", against: "read", share: 0.5},
	{operation: "list", against: "list", share: 0.5},
	{operation: "create", against: "create", share: 0.5},
	{operation: "update", against: "create", share: 0.5},
	{operation: "delete", against: "create", share: 0.5},
	{operation: "search selective", within: 10 * time.Millisecond},
	{operation: "search half", within: 600 * time.Millisecond},
	{operation: "search 2 letters", within: 600 * time.Millisecond},
	{operation: "search, 20 rows", within: 2 * time.Millisecond},
	{operation: "deep page", within: 120 * time.Millisecond},
}

func (r *report) print(w io.Writer, sizes []int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "engine\twebsites\toperation\treq/s\tp50\tp99\t")
	for _, row := range r.rows {
		fmt.Fprintf(table, "%s\t%d\t%s\t%.0f\t%s\t%s\t\n", row.engine, row.size, row.operation, row.perSecond(), short(row.quantile(0.5)), short(row.quantile(0.99)))
	}
	fmt.Fprintln(table)
	table.Flush()
	fmt.Fprintln(w, "Targets")
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, size := range sizes {
			for _, goal := range goals {
				r.judge(w, engine, size, goal)
			}
		}
		r.growth(w, engine, sizes[0], sizes[len(sizes)-1])
	}
}

// judge says whether a target holds.
func (r *report) judge(w io.Writer, engine string, size int, goal goal) {
	got := r.find(engine, goal.operation, size)
	if got == nil {
		return
	}
	where := fmt.Sprintf("%-8s %8d  %-17s", engine, size, goal.operation)
	if goal.within > 0 {
		p50 := got.quantile(0.5)
		fmt.Fprintf(w, "%s %s  p50 %s, at most %s\n", verdict(p50 <= goal.within), where, short(p50), short(goal.within))
		return
	}
	share := got.share(r.find(bare, goal.against, size))
	fmt.Fprintf(w, "%s %s  %.2f of the bare handler's %s, at least %.2f\n", verdict(share >= goal.share), where, share, goal.against, goal.share)
}

// growth says how much of the reads is left at the largest size. The two were not measured in the same minute, so each counts
// as a share of what the bare handler did beside it.
func (r *report) growth(w io.Writer, engine string, least, most int) {
	small, large := r.find(engine, "read", least), r.find(engine, "read", most)
	if small == nil || least == most {
		return
	}
	share := large.share(r.find(bare, "read", most)) / small.share(r.find(bare, "read", least))
	fmt.Fprintf(w, "%s %-8s reads at %d websites: %.2f of those at %d, at least 0.90\n", verdict(share >= 0.9), engine, most, share, least)
}

func verdict(holds bool) string {
	if holds {
		return "ok  "
	}
	return "MISS"
}

func short(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.2fms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}
