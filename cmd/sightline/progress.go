package main

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"sightline/internal/store/archive"
)

// A progress tells a person how far a long job is: by a bar on a terminal, elsewhere by a line now and then.
type progress struct {
	w     io.Writer
	verb  string // copied
	unit  string // what is counted
	total int
	bar   bool
	every time.Duration // between two notes
	now   func() time.Time

	counts archive.Counts
	done   int
	next   time.Time // when the next note is due
	noted  bool
}

// newProgress is the progress of a job that does something to so many rows, or a few more.
func newProgress(term *terminal, verb string, total int) *progress {
	p := &progress{w: term.stderr, verb: verb, unit: "rows", total: total, bar: isTerminal(term.stderr), every: 10 * time.Second, now: term.now, counts: archive.Counts{}}
	if p.bar {
		p.every = 100 * time.Millisecond
	}
	p.next = p.now().Add(p.every)
	return p
}

// watch counts rows on their way.
func (p *progress) watch(rows iter.Seq2[archive.Row, error]) iter.Seq2[archive.Row, error] {
	return func(yield func(archive.Row, error) bool) {
		for row, err := range rows {
			if err == nil {
				p.count(row.Table)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func (p *progress) count(table *archive.Table) {
	p.counts[table.Name]++
	if table == archive.Counters {
		return
	}
	if p.done++; p.done%100 != 0 { // looking at the clock costs more than counting
		return
	}
	p.reach(p.done)
}

// reach tells how far the job is.
func (p *progress) reach(done int) {
	p.done = done
	if now := p.now(); !now.Before(p.next) {
		p.next = now.Add(p.every)
		p.note()
	}
}

// barWidth is how many characters a full bar has.
const barWidth = 30

// note shows how far the job is.
func (p *progress) note() {
	total := max(p.total, p.done, 1) // others may have written since the rows were counted
	percent := 100 * p.done / total
	if !p.bar {
		fmt.Fprintf(p.w, "%d of %d %s %s (%d %%)\n", p.done, total, p.unit, p.verb, percent)
		return
	}
	full := barWidth * p.done / total
	fmt.Fprintf(p.w, "\r[%s%s] %3d %%  %d of %d %s %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), percent, p.done, total, p.unit, p.verb)
	p.noted = true
}

// end leaves the terminal to others.
func (p *progress) end() {
	if p.noted {
		p.note()
		fmt.Fprintln(p.w)
	}
}
