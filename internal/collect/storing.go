package collect

import (
	"context"
	"fmt"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect/spool"
)

// keepStoring stores what the spool holds, again and again, until ctx ends. A store that takes long gets more at once, less often; one
// that fails is tried less and less often.
func (c *Collector) keepStoring(ctx context.Context) {
	pause := storeInterval
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		err := c.storeAll(ctx, batchBytes/2) // what came meanwhile is for the next time
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if c.trouble.Swap(nil) != nil {
				c.Log.Info("events are stored again")
			}
			pause = max(storeInterval, min(storePause*time.Since(began), storeLatest))
		default:
			if c.trouble.Swap(&err) == nil {
				c.Log.Error("events cannot be stored and wait in the spool", "error", err)
			}
			pause = min(2*pause, retryMost)
		}
	}
}

// storeAll stores what the spool holds, up to a batch of no more than so many bytes, which is the last.
func (c *Collector) storeAll(ctx context.Context, last int) error {
	for {
		size, err := c.storeSome(ctx)
		if err != nil || size <= last {
			return err
		}
	}
}

// storeSome stores one batch and returns its size in bytes; 0 if there is nothing to store. After a failure it is not known whether the
// batch was stored: the store is asked, so that nothing is stored twice.
func (c *Collector) storeSome(ctx context.Context) (size int, err error) {
	if !c.known {
		if c.stored, err = c.store.Position(ctx); err != nil {
			return 0, fmt.Errorf("ask the events store: %w", err)
		}
		if err := c.spool.Discard(ctx, c.stored); err != nil {
			return 0, err
		}
		c.known = true
	}
	groups, err := c.read(ctx, c.stored)
	if err != nil || len(groups) == 0 {
		return 0, err
	}
	batch, err := c.batch(ctx, groups)
	if err != nil {
		return 0, err
	}
	c.known = false
	if err := c.store.Append(ctx, batch); err != nil {
		return 0, fmt.Errorf("store events: %w", err)
	}
	c.stored, c.known = batch.Position, true
	for _, group := range groups {
		for _, record := range group.Records {
			size += len(record)
		}
	}
	return size, c.spool.Discard(ctx, batch.Position)
}

// read reads groups from the spool. What is damaged is reported and left behind.
func (c *Collector) read(ctx context.Context, after int64) ([]spool.Group, error) {
	groups, damage, err := c.spool.Read(ctx, after, batchBytes)
	if damage != nil {
		c.Log.Error("a part of the accepted hits cannot be read", "error", damage)
	}
	return groups, err
}

// batch makes one batch of groups. A group that cannot be understood, such as one of a newer program, is put aside.
func (c *Collector) batch(ctx context.Context, groups []spool.Group) (analytics.Batch, error) {
	records := 0
	for _, group := range groups {
		records += len(group.Records)
	}
	batch := analytics.Batch{Events: make([]analytics.Event, 0, records)} // nearly all hold one event
	for _, group := range groups {
		whole := batch
		for _, record := range group.Records {
			if err := decode(record, &whole); err != nil {
				c.Log.Error("a group of accepted hits is put aside", "position", group.Position, "error", err)
				if err := c.spool.PutAside(ctx, group.Position); err != nil {
					return batch, err
				}
				whole = batch
				break
			}
		}
		batch = whole
		batch.Position = group.Position
	}
	return batch, nil
}

// resume takes over the visits that were open at the last stop: those in the store, then those of events that still wait in the spool.
func (c *Collector) resume(ctx context.Context) error {
	now := c.Now()
	open, err := c.store.OpenVisits(ctx, now.Add(-visitGap))
	if err != nil {
		return err
	}
	for _, visit := range open {
		c.visits.restore(visit, now)
	}
	for after := c.stored; ; {
		groups, err := c.read(ctx, after)
		if err != nil {
			return err
		}
		if len(groups) == 0 {
			return nil
		}
		batch, err := c.batch(ctx, groups)
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			c.visits.restore(analytics.Visit{Website: e.Website, Visitor: e.Visitor, ID: e.Visit, Last: e.At, Origin: e.Origin}, now)
		}
		after = batch.Position
	}
}

// keepHouse makes salts ahead, erases old ones, tells of overload, and reads the places again when their file changes, until ctx
// ends.
func (c *Collector) keepHouse(ctx context.Context) {
	for {
		if err := c.salts.keep(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("the salts of the visitor hashes cannot be kept", "error", err)
		}
		if refused := c.refused.Swap(0); refused > 0 {
			c.Log.Warn("there were too many hits at once: some were refused, and come again if their senders repeat them", "refused", refused)
		}
		changed, err := c.Places.Reload()
		switch {
		case err != nil:
			c.Log.Error("the places are those of before", "error", err)
		case changed:
			c.Log.Info("the geo database has changed and is in use")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(houseInterval):
		}
	}
}
