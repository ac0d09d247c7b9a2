package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/collect"
)

// How R5 is tried: so many clients at once on a disk that is slow to sync, for so long unless SIGHTLINE_OVERLOAD says otherwise.
const (
	overloading  = 2 * collect.MaxWaiting
	overloadTime = 4 * time.Second
	overloadMost = 512 << 20 // bytes of memory; several times as much where the race detector watches it
)

// R5: under many more hits than it can keep, the program refuses the excess with 503, its memory stays bounded, and exactly what it
// accepted is stored.
func TestCountedOverload(t *testing.T) {
	long := overloadTime
	if text := os.Getenv("SIGHTLINE_OVERLOAD"); text != "" {
		long = must(time.ParseDuration(text))(t)
	}
	d := newDisk(t)
	p := start(t, []string{"--data", t.TempDir()}, d.variable())
	c := count(t, p, programKey, "https://load.example")
	c.dropped(report(p.analytics, "198.51.100.1", c.own("https://load.example/first", "")))
	d.fail(t, "slow")
	until := time.Now().Add(long)
	pushers := make([]pusher, overloading)
	var group sync.WaitGroup
	for number := range pushers {
		group.Go(func() { pushers[number].push(c, number, until) })
	}
	group.Wait()
	d.fail(t, "")

	accepted, refused, times := []string{"/first"}, 0, []time.Duration{}
	for i := range pushers {
		if pushers[i].err != nil {
			t.Errorf("client %d: %v", i, pushers[i].err)
		}
		accepted, refused, times = append(accepted, pushers[i].accepted...), refused+pushers[i].refused, append(times, pushers[i].times...)
	}
	slices.Sort(times)
	memory := peak(t, p)
	t.Logf("%d clients for %v: %d accepted, %d refused, p99 of all %v, %d MB", overloading, long, len(accepted), refused, times[len(times)*99/100].Round(time.Millisecond), memory>>20)
	if refused < overloading/4 || len(accepted) < overloading/4 {
		t.Errorf("%d refused, %d accepted: this shows nothing", refused, len(accepted))
	}
	most := overloadMost
	if raceDetector() {
		most *= 4
	}
	if memory > most {
		t.Errorf("%d MB of memory", memory>>20)
	}
	c.checkHits(accepted, nil)
}

// A pusher is a client that reports again as soon as it is answered.
type pusher struct {
	accepted []string
	refused  int
	times    []time.Duration // until each answer
	err      error
}

// push reports until a time, on one connection and without goroutines of its own, so that thousands can.
func (p *pusher) push(c *counted, number int, until time.Time) {
	connection, err := net.Dial("tcp", strings.TrimPrefix(c.analytics, "http://"))
	if p.err = err; err != nil {
		return
	}
	defer connection.Close()
	answers := bufio.NewReaderSize(connection, 1024)
	for i := 0; time.Now().Before(until) && p.err == nil; i++ {
		page := fmt.Sprintf("/c%d-n%d", number, i)
		body := c.own("https://load.example"+page, "")
		began := time.Now()
		fmt.Fprintf(connection, "POST /api/event HTTP/1.1\r\nHost: localhost\r\nUser-Agent: %s\r\nContent-Length: %d\r\n\r\n%s", firefox, len(body), body) // the answer tells
		p.read(answers, page)
		p.times = append(p.times, time.Since(began))
	}
}

// read reads an answer.
func (p *pusher) read(answers *bufio.Reader, page string) {
	answer, err := http.ReadResponse(answers, nil)
	if p.err = err; err != nil {
		return
	}
	defer answer.Body.Close()
	if _, p.err = io.Copy(io.Discard, answer.Body); p.err != nil {
		return
	}
	switch {
	case answer.StatusCode == http.StatusAccepted:
		p.accepted = append(p.accepted, page)
	case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
		p.refused++
		time.Sleep(20 * time.Millisecond)
	default:
		p.err = fmt.Errorf("%s %v", answer.Status, answer.Header)
	}
}

// peak is the most memory that the program has held, in bytes.
func peak(t *testing.T, p *program) int {
	t.Helper()
	status := must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)))(t)
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	return must(strconv.Atoi(strings.Fields(string(rest))[0]))(t) << 10
}

// raceDetector says whether this program runs under the race detector.
func raceDetector() bool {
	build, _ := debug.ReadBuildInfo()
	return slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
