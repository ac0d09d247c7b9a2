package main

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"
)

// A notebook is a terminal that can be read while a program writes it.
type notebook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (n *notebook) Write(data []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(data)
}

// find waits until the text holds what a pattern's group matches.
func (n *notebook) find(t *testing.T, pattern string) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for began := time.Now(); time.Since(began) < startTime; time.Sleep(10 * time.Millisecond) {
		n.mu.Lock()
		found := wanted.FindStringSubmatch(n.text.String())
		n.mu.Unlock()
		if found != nil {
			return found[1]
		}
	}
	t.Fatalf("no %s", pattern)
	return ""
}

// A server with metrics stops in time, even while somebody takes a long profile, and leaves no goroutine behind.
func TestAdminStops(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, ended := &notebook{}, make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--data", t.TempDir(), "--seo-url", "http://localhost:0", "--analytics-url", "http://localhost:0",
			"--admin-listen", "127.0.0.1:0"}, func(string) string { return "" }, &terminal{stdout: out, stderr: &notebook{}, now: time.Now})
	}()
	admin := out.find(t, `Metrics are at (http://\S+)/metrics`)
	client := &http.Client{Transport: &http.Transport{}}
	profiled := make(chan error, 1)
	go func() {
		answer, err := client.Get(admin + "/debug/pprof/profile?seconds=600")
		if err == nil {
			err = answer.Body.Close()
		}
		profiled <- err
	}()
	await(t, "no profile is taken", func() bool { return strings.Contains(stacks(), "net/http/pprof.Profile") })
	began := time.Now()
	stop()
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to stop", took)
	}
	if err := <-profiled; err != nil {
		t.Errorf("the profile was not ended but cut off: %v", err)
	}
	client.CloseIdleConnections()
	await(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
}

// await waits until something holds, or fails with what is wrong.
func await(t *testing.T, wrong string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%s:\n%s", wrong, stacks())
		}
	}
}

// stacks lists where every goroutine stands.
func stacks() string {
	var text bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&text, 1) // a buffer takes everything
	return text.String()
}
