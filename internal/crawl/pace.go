package crawl

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sightline/internal/crawl/guard"
)

const (
	maxLatency = 10 * time.Second // a host that is slower than that is not waited for longer
	firstPause = time.Second      // after a first 429 or 503; twice as long after each further one
	manyHosts  = 4096             // when idle ones are forgotten
)

// hosts keep the pace at which each host is asked, across all crawls.
type hosts struct {
	manners Manners
	mu      sync.Mutex
	byName  map[string]*host
}

// A host is asked by a few connections at a time, and not too often.
type host struct {
	slots    chan struct{}
	users    int           // those in a slot or waiting for one
	next     time.Time     // when the next request may start
	delay    time.Duration // what robots.txt asks for
	latency  time.Duration // how long it takes to answer, on average over the last few answers
	refusals int           // answers of 429 and 503 in a row
}

func newHosts(m Manners) *hosts { return &hosts{manners: m, byName: map[string]*host{}} }

// find is a host by its name; the lock is held.
func (h *hosts) find(name string) *host {
	found, known := h.byName[name]
	if known {
		return found
	}
	if len(h.byName) >= manyHosts {
		now := time.Now()
		for name, idle := range h.byName {
			if idle.users == 0 && idle.next.Before(now) && (idle.delay == 0 || idle.next.Before(now.Add(-time.Hour))) {
				delete(h.byName, name)
			}
		}
	}
	found = &host{slots: make(chan struct{}, h.manners.Connections)}
	h.byName[name] = found
	return found
}

// enter waits until a host may be asked again, at the given rate. Who enters leaves.
func (h *hosts) enter(ctx context.Context, name string, perSecond float64) error {
	h.mu.Lock()
	host := h.find(name)
	host.users++
	h.mu.Unlock()
	select {
	case host.slots <- struct{}{}:
	case <-ctx.Done():
		h.mu.Lock()
		host.users--
		h.mu.Unlock()
		return ctx.Err()
	}
	for {
		wait := h.start(host, perSecond)
		if wait <= 0 {
			return nil
		}
		if err := sleep(ctx, wait); err != nil {
			h.free(host)
			return err
		}
	}
}

// start takes the right to the next request, or says how long to wait before asking for it again.
func (h *hosts) start(host *host, perSecond float64) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if wait := host.next.Sub(now); wait > 0 {
		return wait
	}
	host.next = now.Add(host.gap(perSecond))
	return 0
}

// gap is the time between two requests: as the rate has it, as robots.txt asks, and no less than the host takes to answer.
func (h *host) gap(perSecond float64) time.Duration {
	if perSecond < 0 {
		return h.delay
	}
	return max(time.Duration(float64(time.Second)/perSecond), h.delay, min(h.latency, maxLatency))
}

func (h *hosts) free(host *host) {
	<-host.slots
	h.mu.Lock()
	host.users--
	h.mu.Unlock()
}

// leave ends a request, and learns from it how the host is doing.
func (h *hosts) leave(name string, hop *guard.Hop) {
	h.mu.Lock()
	host := h.byName[name]
	if hop.FirstByte > 0 {
		if host.latency == 0 {
			host.latency = hop.FirstByte
		}
		host.latency = (3*host.latency + hop.FirstByte) / 4
	}
	switch {
	case overloaded(hop.Status):
		pause := firstPause << min(host.refusals, 10)
		host.refusals++
		if asked, ok := retryAfter(hop.Header, time.Now()); ok {
			pause = max(asked, firstPause)
		}
		if until := time.Now().Add(min(pause, h.manners.MaxPause)); until.After(host.next) {
			host.next = until
		}
	case hop.Status != 0:
		host.refusals = 0
	}
	h.mu.Unlock()
	h.free(host)
}

// setDelay takes over what robots.txt asks for.
func (h *hosts) setDelay(name string, delay time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.find(name).delay = delay
}

func overloaded(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// retryAfter is how long an answer asks to wait, in seconds or until a date.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now), true
	}
	return 0, false
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
