package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/store"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/store/sqlite"
)

// How often the server is killed, and how many clients write to it meanwhile.
const (
	kills   = 8
	writers = 8
)

const crashKey = "a-key-for-the-crash-test"

// kill -9 under write load loses no acknowledged write and stores none twice.
func TestKillNine(t *testing.T) {
	for engine, flags := range map[string][]string{
		"sqlite":   {"--data", t.TempDir()},
		"postgres": {"--database", pgtest.URL(t)},
	} {
		t.Run(engine, func(t *testing.T) {
			var acknowledged []string
			for round := range kills {
				acknowledged = append(acknowledged, writeUntilKilled(t, flags, round)...)
			}
			checkStored(t, engine, flags[1], acknowledged)
		})
	}
}

// writeUntilKilled starts the program, lets clients create websites, kills it amid their writes and returns what it had
// acknowledged.
func writeUntilKilled(t *testing.T, flags []string, round int) []string {
	t.Helper()
	program := exec.Command("sightline", append([]string{"serve", "--seo-url=http://localhost:0", "--analytics-url=http://localhost:0", "--first-key=" + crashKey, "--log-level=error"}, flags...)...)
	program.Stderr = os.Stderr
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	base := analyticsURL(t, stdout)
	t.Logf("round %d: serving after %v", round, time.Since(started).Round(time.Millisecond))

	var mu sync.Mutex
	var acknowledged []string
	enough := make(chan struct{})
	target := 10 + rand.IntN(50)
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := range 10_000 {
				url := fmt.Sprintf("https://r%d-w%d-n%d.example", round, writer, i)
				status, err := post(base+"/api/v1/websites", "url="+url)
				if err != nil {
					return // killed
				}
				if status != http.StatusCreated {
					t.Errorf("create: %d", status)
					return
				}
				mu.Lock()
				if acknowledged = append(acknowledged, url); len(acknowledged) == target {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(time.Minute):
		t.Errorf("round %d: %d writes were not acknowledged within a minute", round, target)
	}
	if err := program.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	program.Wait()
	group.Wait()
	return acknowledged
}

// analyticsURL reads where the program serves from what it prints.
func analyticsURL(t *testing.T, stdout io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "analytics "); found {
			return strings.TrimSpace(url)
		}
	}
	t.Fatal("the program did not start")
	return ""
}

func post(address, fields string) (int, error) {
	request, err := http.NewRequest("POST", address, strings.NewReader(fields))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+crashKey)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := (&http.Client{Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// checkStored demands that the catalog is whole and holds every acknowledged website just once.
func checkStored(t *testing.T, engine, where string, acknowledged []string) {
	t.Helper()
	database, dir := where, ""
	if engine == "sqlite" {
		database, dir = "", where
	}
	catalog, err := store.Open(t.Context(), database, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer catalog.Close()
	stored := map[string]int{}
	for page := 1; ; page++ {
		list, err := catalog.Websites(t.Context(), 1, listing.Request{SortBy: analytics.SortByCreated, Page: page, PerPage: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, website := range list.Items {
			stored[website.URL]++
		}
		if len(list.Items) == 0 {
			break
		}
	}
	for _, url := range acknowledged {
		if stored[url] != 1 {
			t.Errorf("%s was acknowledged and is stored %d times", url, stored[url])
		}
	}
	t.Logf("%s: %d acknowledged, %d stored", engine, len(acknowledged), len(stored))
	if engine == "sqlite" {
		raw, err := sql.Open("sqlite", filepath.Join(dir, sqlite.File))
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		var verdict string
		if err := raw.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
			t.Errorf("integrity: %s %v", verdict, err)
		}
	}
}
