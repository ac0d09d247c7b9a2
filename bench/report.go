package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// A report collects what was measured.
type report struct{ rows []row }

type row struct {
	engine, operation string
	size              int
	result
}

func (r *report) add(engine, operation string, size int, got result) {
	r.rows = append(r.rows, row{engine, operation, size, got})
}

// find is what was measured of an operation.
func (r *report) find(engine, operation string, size int) (result, bool) {
	for _, row := range r.rows {
		if row.engine == engine && row.operation == operation && row.size == size {
			return row.result, true
		}
	}
	return result{}, false
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
		fmt.Fprintf(table, "%s\t%d\t%s\t%.0f\t%s\t%s\t\n", row.engine, row.size, row.operation, row.perSecond, short(row.p50), short(row.p99))
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
	got, measured := r.find(engine, goal.operation, size)
	if !measured {
		return
	}
	where := fmt.Sprintf("%-8s %8d  %-17s", engine, size, goal.operation)
	if goal.within > 0 {
		fmt.Fprintf(w, "%s %s  p50 %s, at most %s\n", verdict(got.p50 <= goal.within), where, short(got.p50), short(goal.within))
		return
	}
	bare, _ := r.find("bare", goal.against, size)
	share := got.perSecond / bare.perSecond
	fmt.Fprintf(w, "%s %s  %.2f of the bare handler's %s, at least %.2f\n", verdict(share >= goal.share), where, share, goal.against, goal.share)
}

// growth says how much of the reads is left at the largest size.
func (r *report) growth(w io.Writer, engine string, least, most int) {
	small, measured := r.find(engine, "read", least)
	large, _ := r.find(engine, "read", most)
	if measured && least != most {
		share := large.perSecond / small.perSecond
		fmt.Fprintf(w, "%s %-8s reads at %d websites: %.2f of those at %d, at least 0.90\n", verdict(share >= 0.9), engine, most, share, least)
	}
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
