package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// crowd lets clients report page views, each of a page of its own.
func (c *counted) crowd(name string, clients int, react func(reply) move) *crowd {
	return gather(clients, func(number, i int) reply {
		page := fmt.Sprintf("/%s-c%d-n%d", name, number, i)
		got := report(c.analytics, fmt.Sprintf("198.51.100.%d", number), c.own("https://load.example"+page, ""))
		got.name = page
		return got
	}, react)
}

// checkHits demands that every acknowledged page view is stored once, one whose answer was lost once or not at all, and no other.
func (c *counted) checkHits(acknowledged, unanswered []string) {
	c.Helper()
	stored := map[string]int{}
	for _, event := range c.settled() {
		if stored[event.Page]++; stored[event.Page] > 1 {
			c.Errorf("%s is stored %d times", event.Page, stored[event.Page])
		}
	}
	all := len(stored)
	for _, page := range acknowledged {
		if stored[page] == 0 {
			c.Errorf("%s was acknowledged and is lost", page)
		}
		delete(stored, page)
	}
	for _, page := range unanswered {
		delete(stored, page)
	}
	for page := range stored {
		c.Errorf("%s was refused and is stored", page)
	}
	c.Logf("%d acknowledged, %d unanswered, %d stored", len(acknowledged), len(unanswered), all)
}

// R1: kill -9 under collector load loses no hit that was answered and stores none twice; the next start is quick.
func TestCountedKillNine(t *testing.T) {
	t.Parallel()
	flags, rounds := []string{"--data", t.TempDir()}, roundsOr(t, 5)
	var c *counted
	var acknowledged, unanswered []string
	var slowest time.Duration
	for round := range rounds + 1 {
		began := time.Now()
		p := start(t, flags)
		slowest = max(slowest, time.Since(began))
		if c == nil {
			c = count(t, p, programKey, "https://load.example")
		}
		if c.program = p; round == rounds {
			break
		}
		clients := c.crowd(fmt.Sprint("r", round), writers, func(got reply) move {
			if got.err == nil && got.status != http.StatusAccepted {
				t.Errorf("report: %d %s", got.status, got.body)
			}
			if got.err != nil || got.status != http.StatusAccepted {
				return leave
			}
			return next
		})
		clients.reach(t, http.StatusAccepted, 50+rand.IntN(500))
		p.kill()
		clients.end()
		acknowledged, unanswered = append(acknowledged, clients.acknowledged...), append(unanswered, clients.unanswered...)
	}
	c.checkHits(acknowledged, unanswered)
	t.Logf("%d kills, slowest start %v", rounds, slowest.Round(time.Millisecond))
	if slowest > 10*time.Second {
		t.Errorf("a start took %v", slowest)
	}
}

// R4: SIGTERM under collector load: every hit is answered until the doors close, and what was answered is stored, once.
func TestCountedTerminate(t *testing.T) {
	t.Parallel()
	flags := []string{"--data", t.TempDir()}
	p := start(t, flags)
	c := count(t, p, programKey, "https://load.example")
	clients := c.crowd("term", 16, func(got reply) move {
		if got.status == http.StatusAccepted {
			return next
		}
		refused := got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != ""
		if !refused && !isRefusedDial(got.err) {
			t.Errorf("report: %d %s %v", got.status, got.body, got.err)
		}
		return leave
	})
	clients.reach(t, http.StatusAccepted, 500)
	p.terminate(t)
	clients.end()
	c.program = start(t, flags)
	c.checkHits(clients.acknowledged, nil)
}

// R2: on a full disk hits are refused with 507 or 503, statistics go on, and when there is room again hits are taken and stored without
// a restart; none that was accepted is lost.
func TestCountedDiskFull(t *testing.T) {
	t.Parallel()
	p, makeRoom, _ := startOnSmallDisk(t)
	c := count(t, p, programKey, "https://load.example")
	clients := c.crowd("full", writers, func(got reply) move {
		switch {
		case got.status == http.StatusAccepted, got.status == http.StatusInsufficientStorage:
			return next
		case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "":
			return next
		}
		t.Errorf("report: %d %s %v", got.status, got.body, got.err)
		return leave
	})
	clients.reach(t, http.StatusInsufficientStorage, 200)
	time.Sleep(time.Second) // so that the events meet the full disk, too
	c.stats("by=page")
	expect(t, 200, "ok", "GET", p.analytics+"/healthz")
	makeRoom()
	clients.reach(t, http.StatusAccepted, 200)
	clients.end()
	t.Logf("%d refused with 507, %d with 503; events could not be stored: %v", clients.count(http.StatusInsufficientStorage), clients.count(http.StatusServiceUnavailable),
		strings.Contains(p.err.String(), "events cannot be stored"))
	c.checkHits(clients.acknowledged, nil)
}
