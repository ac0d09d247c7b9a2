// Package schedule is what the clock starts: erasing what has been in the trash long enough, and receipts that nobody
// will ask for again.
package schedule

import (
	"context"
	"log/slog"
	"time"

	"sightline/internal/receipt"
	"sightline/internal/trash"
)

// A Clock starts jobs. Of several servers on one database, one runs a job at a time.
type Clock struct {
	Trash    trash.Trash
	Receipts receipt.Receipts
	Turns    Turns
	Kept     time.Duration // how long the trash is kept
	Now      func() time.Time
	Log      *slog.Logger
}

// Turns decides which server runs a job.
type Turns interface {
	// TakeTurn reports whether this server may run a job now: once in every, whichever server asks first.
	TakeTurn(ctx context.Context, job string, now time.Time, every time.Duration) (bool, error)
}

const (
	look      = time.Minute // how often the clock looks for jobs that are due
	purgeSize = 1000        // how many records are erased in one transaction
)

// A job is something that the clock starts.
type job struct {
	name  string
	every time.Duration
	run   func(context.Context) error
}

func (c *Clock) jobs() []job {
	return []job{
		{"erase the trash", 10 * time.Minute, c.eraseTrash},
		{"erase receipts", time.Hour, c.eraseReceipts},
	}
}

// Run starts jobs until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		for _, job := range c.jobs() {
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

// eraseTrash erases what was deleted too long ago, a bounded number at a time so that callers' writes come in between.
func (c *Clock) eraseTrash(ctx context.Context) error {
	return inTurns(ctx, c.Now().Add(-c.Kept), c.Trash.PurgeOlder)
}

// eraseReceipts erases those that nobody will ask for again, likewise.
func (c *Clock) eraseReceipts(ctx context.Context) error {
	return inTurns(ctx, c.Now().Add(-receipt.Kept), c.Receipts.EraseReceipts)
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
