package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// S10: clients that send or read very slowly, a thousand at once, are freed soon; until then the others are served.
const (
	slowClients = 1000
	freed       = 15 * time.Second // what we promise
	slack       = 5 * time.Second  // for a machine that is busy
)

// slowKinds are what slow clients send at first, and then, a byte each second. The last send nothing more and read nothing.
var slowKinds = []struct{ first, then string }{
	{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "X-Slow: xxxxxxxxxxxxxxxxxxxxxxx"},
	{"POST /api/v1/websites HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + programKey + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\n", "url=https://slow.example&xxxxxx"},
	{"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", ""},
	{strings.Repeat("GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 50), ""}, // more than any buffer takes
}

func TestSlowClients(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"--data", t.TempDir()})
	address := strings.TrimPrefix(p.analytics, "http://")
	before := ordinary(t, p, func() bool { return false })
	idle := sockets(t, p)

	began := time.Now()
	clients := make([]net.Conn, slowClients)
	for i := range clients {
		clients[i] = slowClient(t, address, slowKinds[i%len(slowKinds)].first)
	}
	opened := time.Now()
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() { drip(clients, stop) })
	defer group.Wait()
	defer close(stop)

	held := 0
	for ; held < slowClients && time.Since(opened) < 4*time.Second; time.Sleep(20 * time.Millisecond) {
		held = max(held, sockets(t, p)-idle)
	}
	var left int
	during := ordinary(t, p, func() bool {
		left = sockets(t, p) - idle
		return left > 10 && time.Since(opened) < freed+slack
	})
	took := time.Since(opened)
	t.Logf("%d slow clients in %v; p99 of the others %v before, %v meanwhile; freed after %v", slowClients, opened.Sub(began).Round(time.Millisecond), before, during, took.Round(time.Millisecond))
	if held < slowClients*9/10 {
		t.Errorf("only %d of %d slow clients were connected: this shows nothing", held, slowClients)
	}
	if left > 10 {
		t.Errorf("%d slow clients still hold a connection after %v", left, took)
	}
}

// slowClient connects with a small buffer for what it is sent.
func slowClient(t *testing.T, address, first string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: func(_, _ string, socket syscall.RawConn) (err error) {
		socket.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
		return err
	}}
	conn := must(dialer.DialContext(t.Context(), "tcp", address))(t)
	t.Cleanup(func() { conn.Close() }) // the server has closed it before
	if _, err := conn.Write([]byte(first)); err != nil {
		t.Error(err)
	}
	return conn
}

// drip sends one more byte of every slow request each second.
func drip(clients []net.Conn, stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for second := 0; ; second++ {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		for i, conn := range clients {
			if then := slowKinds[i%len(slowKinds)].then; second < len(then) {
				conn.Write([]byte{then[second]}) // fails when the server has closed it
			}
		}
	}
}

// ordinary makes requests for a while, each of which must be answered in reasonable time, and returns how long all but the
// slowest hundredth took.
func ordinary(t *testing.T, p *program, more func() bool) time.Duration {
	t.Helper()
	var took []time.Duration
	for i := 0; i < 200 || more(); i++ {
		got := ask(programKey, "GET", p.analytics+"/api/v1/websites", "")
		if took = append(took, got.took); got.err != nil || got.status != 200 || got.took > 5*time.Second {
			t.Fatalf("an ordinary request: %d %s %v after %v", got.status, got.body, got.err, got.took)
		}
		if i >= 200 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// sockets counts the connections and other sockets of the program.
func sockets(t *testing.T, p *program) int {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	n := 0
	for _, entry := range must(os.ReadDir(folder))(t) {
		if target, err := os.Readlink(folder + "/" + entry.Name()); err == nil && strings.HasPrefix(target, "socket:") { // else it is closed by now
			n++
		}
	}
	return n
}
