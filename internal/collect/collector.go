package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect/place"
	"sightline/internal/collect/spool"
	"sightline/internal/fault"
)

// SpoolFile is the name of the spool in the data directory.
const SpoolFile = "spool.db"

// The bounds of a collector.
const (
	MaxWaiting    = 1024    // hits that wait for the disk at once; a larger bulk waits alone
	maxSpool      = 1 << 30 // bytes of events that the store has not taken yet
	batchBytes    = 4 << 20 // of the spool that are stored at once
	storeInterval = 250 * time.Millisecond
	storeLatest   = time.Second      // the longest such interval, while all goes well
	storePause    = 10               // how much longer than storing the interval is
	retryMost     = 15 * time.Second // between tries of a store that fails
	houseInterval = 10 * time.Second // of looking after salts and places
)

// A Catalog is where a collector finds websites and salts.
type Catalog interface {
	analytics.Tracked
	analytics.Salts
}

// A Store is where events go. It is a part of analytics.Events.
type Store interface {
	Append(ctx context.Context, b analytics.Batch) error
	Position(ctx context.Context) (int64, error)
	OpenVisits(ctx context.Context, since time.Time) ([]analytics.Visit, error)
}

// Options is what a collector needs besides its stores.
type Options struct {
	Dir    string           // the data directory
	Places *place.Database  // where addresses are
	Now    func() time.Time // the clock
	Log    *slog.Logger
}

// A Collector takes hits. An accepted one is on the disk, and in the store a moment later, once.
type Collector struct {
	Options
	store     Store
	directory *directory
	salts     *salts
	steps     []step
	spool     *spool.Spool
	visits    *visits
	waiting   atomic.Int64
	refused   atomic.Int64 // hits, since the log last told of them

	open    sync.RWMutex // held for reading by whoever collects
	closed  bool
	stop    context.CancelFunc
	running sync.WaitGroup

	stored  int64 // the position of the store, while it is known
	known   bool
	trouble atomic.Pointer[error] // why nothing can be stored
}

// Open opens the spool in the data directory, takes over the visits that were open, and begins to store what the spool holds.
func Open(ctx context.Context, catalog Catalog, store Store, options Options) (*Collector, error) {
	position, err := store.Position(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the collector: %w", err)
	}
	c := &Collector{Options: options, store: store, stored: position, visits: newVisits(maxVisits),
		directory: newDirectory(catalog, options.Now), salts: newSalts(catalog, options.Now), steps: newSteps(options.Places)}
	limits := spool.Limits{Bytes: maxSpool, Waiting: MaxWaiting}
	var damage error
	if c.spool, damage, err = spool.Open(filepath.Join(options.Dir, SpoolFile), position, limits); err != nil {
		return nil, err
	}
	if damage != nil {
		c.Log.Error("a part of the accepted hits cannot be read", "error", damage)
	}
	if err := c.resume(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the collector: %w", err), c.spool.Close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.running.Go(func() { c.keepStoring(background) })
	c.running.Go(func() { c.keepHouse(background) })
	return c, nil
}

// Collect takes hits and returns what became of each. It returns when they are synced to the disk. An error says that none
// of them is taken: fault.Unavailable when there are too many, when the store is too far behind, or when the catalog does not
// answer; fault.Full when the disk is full.
func (c *Collector) Collect(ctx context.Context, hits []Hit) ([]Outcome, error) {
	c.open.RLock()
	defer c.open.RUnlock()
	if c.closed {
		return nil, fmt.Errorf("the collector is closed: %w", fault.Unavailable)
	}
	many := int64(len(hits))
	if waiting := c.waiting.Add(many); waiting > MaxWaiting && waiting != many {
		c.waiting.Add(-many)
		c.refused.Add(many)
		return nil, fault.Busy
	}
	defer c.waiting.Add(-many)
	today, yesterday, err := c.salts.today(ctx)
	if err != nil {
		return nil, err
	}
	w := works.Get().(*work)
	defer w.free()
	outcomes := make([]Outcome, len(hits))
	for i := range hits {
		site, err := c.directory.find(ctx, &hits[i])
		if err != nil {
			return nil, err
		}
		if site == nil {
			outcomes[i] = Outcome{Dropped: Unknown}
			continue
		}
		p := &w.passage
		*p = begin(&hits[i], site, c.Now())
		p.today, p.yesterday = today, yesterday
		if outcomes[i] = c.walk(p); outcomes[i].Stored() {
			c.visits.join(&p.event, p.before, c.Now())
			w.events = append(w.events, p.event)
		} else {
			w.drops = append(w.drops, p.drop(outcomes[i].Dropped))
		}
	}
	if len(w.events)+len(w.drops) == 0 {
		return outcomes, nil
	}
	w.record = encode(w.record[:0], w.events, w.drops)
	if err := c.spool.Append(ctx, w.record); err != nil {
		return nil, err
	}
	return outcomes, nil
}

// Busy says whether a hit would be refused right now. Whoever asks before reading one, and then does not, spares the work at a time when there
// is too much; it is counted as refused.
func (c *Collector) Busy() bool {
	if c.waiting.Load() < MaxWaiting {
		return false
	}
	c.refused.Add(1)
	return true
}

// A work is what collecting needs for a moment. It is reused, so that a hit leaves little behind for the garbage collector.
type work struct {
	passage passage
	events  []analytics.Event
	drops   []analytics.Drop
	record  []byte
}

var works = sync.Pool{New: func() any { return new(work) }}

// free gives a work back; it keeps nothing of the hits, and no more memory than hits usually need.
func (w *work) free() {
	const usual = 64 << 10
	clear(w.events)
	clear(w.drops)
	w.passage, w.events, w.drops = passage{}, w.events[:0], w.drops[:0]
	if cap(w.record) <= usual && cap(w.events) <= 64 {
		works.Put(w)
	}
}

// walk takes a hit through the steps.
func (c *Collector) walk(p *passage) Outcome {
	for _, step := range c.steps {
		if !step.pass(p) {
			return Outcome{Dropped: Reason(step.name())}
		}
	}
	return Outcome{}
}

// Backlog is how many bytes of events wait to be stored.
func (c *Collector) Backlog() int64 { return c.spool.Bytes() }

// Check says why hits cannot be taken or stored; nil if they can.
func (c *Collector) Check() error {
	if trouble := c.trouble.Load(); trouble != nil {
		return *trouble
	}
	return c.spool.Check()
}

// Close takes no more hits, stores what was taken, as long as ctx lasts, and closes the spool. What could not be stored is stored after the
// next start.
func (c *Collector) Close(ctx context.Context) error {
	c.open.Lock()
	already := c.closed
	c.closed = true
	c.open.Unlock()
	if already {
		return nil
	}
	c.stop()
	c.running.Wait()
	if err := c.storeAll(ctx, 0); err != nil {
		c.Log.Warn("some events stay in the spool until the next start", "bytes", c.Backlog(), "error", err)
	}
	return c.spool.Close()
}
