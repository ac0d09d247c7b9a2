package collect

import (
	"math/rand/v2"
	"sync"
	"time"
	"unique"

	"sightline/internal/analytics"
)

// visitGap ends a visit: whoever does nothing for so long begins another.
const visitGap = 30 * time.Minute

// maxVisits is how many visits are known as open at most. With more, the oldest are forgotten and begin anew.
const maxVisits = 1_000_000

// An openVisit is a visit that may go on.
type openVisit struct {
	id     uint64
	last   time.Duration // since 1970
	origin unique.Handle[analytics.Origin]
}

// visits are the open visits by visitor. Those that something happened in lately are young; the others are forgotten when a
// generation is over.
type visits struct {
	mu         sync.Mutex
	young, old map[uint64]openVisit
	size       int       // of a generation
	begun      time.Time // the generation
}

func newVisits(size int) *visits {
	return &visits{young: map[uint64]openVisit{}, size: size / 2}
}

// join makes an event part of the open visit of its visitor, who may have had another number before midnight, or begins a visit.
func (v *visits) join(e *analytics.Event, before func() (uint64, bool), now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.age(now)
	at := time.Duration(e.At.UnixNano())
	from := at - e.Engagement // reading for long is no pause
	visit, open := v.find(e.Visitor, from)
	if !open {
		if number, known := before(); known {
			if visit, open = v.find(number, from); open {
				e.Visitor = number
			}
		}
	}
	if !open {
		visit = openVisit{id: rand.Uint64(), last: at, origin: unique.Make(e.Origin)}
	}
	visit.last = max(visit.last, at)
	v.young[e.Visitor] = visit
	e.Visit, e.Origin = visit.id, visit.origin.Value()
}

// find returns the visit of a visitor if it is open at a time. A clock that was set back a little does not end a visit.
func (v *visits) find(visitor uint64, at time.Duration) (openVisit, bool) {
	visit, found := v.young[visitor]
	if !found {
		visit, found = v.old[visitor]
	}
	return visit, found && (at-visit.last).Abs() < visitGap
}

// age begins a new generation when the young are too many or as old as a visit can be.
func (v *visits) age(now time.Time) {
	if len(v.young) < v.size && now.Sub(v.begun).Abs() < visitGap {
		return
	}
	v.old, v.young, v.begun = v.young, map[uint64]openVisit{}, now
}

// restore takes over a visit that was open before a restart.
func (v *visits) restore(visit analytics.Visit, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.age(now)
	last := time.Duration(visit.Last.UnixNano())
	if known, found := v.young[visit.Visitor]; found && known.last > last {
		return
	}
	v.young[visit.Visitor] = openVisit{id: visit.ID, last: last, origin: unique.Make(visit.Origin)}
}
