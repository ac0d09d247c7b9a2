// Package schedule is what the clock starts: erasing what has been in the trash long enough, what audits leave behind, the events
// of websites that are gone, and receipts that nobody will ask for again; and rewriting the events.
package schedule

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/receipt"
	"sightline/internal/trash"
)

// A Clock starts jobs. Of several servers on one database, one runs a job at a time.
type Clock struct {
	Trash     trash.Trash
	Receipts  receipt.Receipts
	Leftovers Leftovers
	Erasures  analytics.Erasures
	Events    Events // nil: this server keeps none
	Turns     Turns
	Kept      time.Duration // how long the trash is kept
	Now       func() time.Time
	Log       *slog.Logger
}

// Events is where events rest.
type Events interface {
	// Erase removes the events of a website from before a time, or all of them for the zero time.
	Erase(ctx context.Context, website int64, before time.Time) error
	// Compact rewrites what is stored so that it is small and quick to read, while everything else goes on.
	Compact(ctx context.Context) error
}

// Turns decides which server runs a job.
type Turns interface {
	// TakeTurn reports whether this server may run a job now: once in every, whichever server asks first.
	TakeTurn(ctx context.Context, job string, now time.Time, every time.Duration) (bool, error)
}

// Leftovers are what audits leave behind that nobody can see any more.
type Leftovers interface {
	// EraseLeftovers erases up to limit rows of erased reports, of runs too old to be kept, and of what crawls that are over had
	// still to do. It says how many; fewer than limit means that nothing is left.
	EraseLeftovers(ctx context.Context, limit int) (int, error)
}

const (
	look      = time.Minute // how often the clock looks for jobs that are due
	purgeSize = 1000        // how many records are erased in one transaction
	leftSize  = 500         // how many rows that audits left behind: those of pages are large
	eventRest = time.Minute // how long after a website its events are erased: by then none is on its way any more

	compactTime = time.Hour // the longest that rewriting the events may take
)

// A job is something that the clock starts.
type job struct {
	name  string
	every time.Duration
	run   func(context.Context) error
}

func (c *Clock) jobs() []job {
	jobs := []job{
		{"erase the trash", 10 * time.Minute, c.eraseTrash},
		{"erase what audits left", time.Minute, c.eraseLeftovers},
		{"erase receipts", time.Hour, c.eraseReceipts},
	}
	if c.Events != nil {
		jobs = append(jobs, job{"erase events", 10 * time.Minute, c.eraseEvents})
	}
	return jobs
}

// Run starts jobs until ctx ends. The others do not wait for the one that takes minutes.
func (c *Clock) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { c.run(ctx, c.jobs()) })
	if c.Events != nil {
		running.Go(func() { c.run(ctx, []job{{"compact events", 7 * 24 * time.Hour, c.compact}}) })
	}
	running.Wait()
}

// run starts some jobs, one after the other, until ctx ends.
func (c *Clock) run(ctx context.Context, jobs []job) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		for _, job := range jobs {
			if err := c.start(ctx, job); err != nil && ctx.Err() == nil {
				c.Log.Warn("a job of the clock failed and is tried again later", "job", job.name, "error", err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// start runs a job if it is due and no other server runs it.
func (c *Clock) start(ctx context.Context, job job) error {
	mine, err := c.Turns.TakeTurn(ctx, job.name, c.Now(), job.every)
	if err != nil || !mine {
		return err
	}
	return job.run(ctx)
}

// compact rewrites the events.
func (c *Clock) compact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, compactTime)
	defer cancel()
	return c.Events.Compact(ctx)
}

// eraseTrash erases what was deleted too long ago, a bounded number at a time so that callers' writes come in between.
func (c *Clock) eraseTrash(ctx context.Context) error {
	return inTurns(ctx, c.Now().Add(-c.Kept), c.Trash.PurgeOlder)
}

// eraseReceipts erases those that nobody will ask for again, likewise.
func (c *Clock) eraseReceipts(ctx context.Context) error {
	return inTurns(ctx, c.Now().Add(-receipt.Kept), c.Receipts.EraseReceipts)
}

// eraseEvents erases those of websites that are gone for good.
func (c *Clock) eraseEvents(ctx context.Context) error {
	for {
		websites, err := c.Erasures.Erasures(ctx, eventRest, purgeSize)
		if err != nil || len(websites) == 0 {
			return err
		}
		for _, website := range websites {
			if err := c.Events.Erase(ctx, website, time.Time{}); err != nil {
				return fmt.Errorf("erase the events of website %d: %w", website, err)
			}
			if err := c.Erasures.ForgetErasure(ctx, website); err != nil {
				return err
			}
		}
	}
}

// inTurns erases what is older than a moment, until nothing is left of it.
func inTurns(ctx context.Context, before time.Time, erase func(context.Context, time.Time, int) (int, error)) error {
	for erased := purgeSize; erased == purgeSize; {
		var err error
		if erased, err = erase(ctx, before, purgeSize); err != nil {
			return err
		}
	}
	return nil
}

// eraseLeftovers goes on until nothing is left, a bounded number of rows at a time.
func (c *Clock) eraseLeftovers(ctx context.Context) error {
	for erased := leftSize; erased == leftSize; {
		var err error
		if erased, err = c.Leftovers.EraseLeftovers(ctx, leftSize); err != nil {
			return fmt.Errorf("erase what audits left: %w", err)
		}
	}
	return nil
}
