package main

import (
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sightline/internal/store/postgres/pgtest"
)

// How often the server is killed unless SIGHTLINE_KILLS says otherwise, and how many clients write to it meanwhile.
const (
	kills   = 8
	writers = 8
)

// R1: kill -9 under write load loses no acknowledged write and stores none twice, not even one whose reply was lost and that is
// sent again; the database is whole, and the next start is quick.
func TestKillNine(t *testing.T) {
	rounds := roundsOr(t, kills)
	for engine, flags := range map[string][]string{
		"sqlite":   {"--data", t.TempDir()},
		"postgres": {"--database", pgtest.URL(t)},
	} {
		t.Run(engine, func(t *testing.T) {
			var acknowledged, unanswered []string
			var slowest time.Duration
			for round := range rounds {
				began := time.Now()
				p := start(t, flags)
				slowest = max(slowest, time.Since(began))
				acknowledged = append(acknowledged, sendAgain(t, p, unanswered)...)
				clients := writeUntilKilled(t, p, "r"+strconv.Itoa(round))
				acknowledged, unanswered = append(acknowledged, clients.acknowledged...), clients.unanswered
			}
			checkStored(t, flags, acknowledged)
			t.Logf("%d kills, slowest start %v", rounds, slowest.Round(time.Millisecond))
			if slowest > 10*time.Second {
				t.Errorf("a start took %v", slowest)
			}
		})
	}
}

// roundsOr is how often the server is killed, unless SIGHTLINE_KILLS says otherwise.
func roundsOr(t *testing.T, usual int) int {
	t.Helper()
	if text := os.Getenv("SIGHTLINE_KILLS"); text != "" {
		return must(strconv.Atoi(text))(t)
	}
	return usual
}

// writeUntilKilled lets clients create websites and kills the program amid their writes.
func writeUntilKilled(t *testing.T, p *program, name string) *crowd {
	t.Helper()
	clients := write(p.analytics, name, writers, func(got reply) move {
		switch {
		case got.err != nil:
			return leave // killed
		case got.status != http.StatusCreated:
			t.Errorf("create: %d %s", got.status, got.body)
			return leave
		}
		return next
	})
	clients.reach(t, http.StatusCreated, 10+rand.IntN(50))
	p.kill()
	clients.end()
	return clients
}

// sendAgain repeats the writes whose replies were lost.
func sendAgain(t *testing.T, p *program, urls []string) []string {
	t.Helper()
	for _, url := range urls {
		if got := create(p.analytics, url); got.status != http.StatusCreated || !strings.Contains(got.body, url) {
			t.Errorf("%s again: %d %s %v", url, got.status, got.body, got.err)
		}
	}
	return urls
}
