package main

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// R6: while PostgreSQL is silent, cut off or restarting, callers get 503 in bounded time and readiness says so; then service
// resumes by itself. With idempotency keys nothing that was acknowledged is lost and nothing is stored twice.
func TestPostgresOutages(t *testing.T) {
	t.Parallel()
	database, restart := ownPostgres(t)
	line := newWire(t, &database)
	flags := []string{"--database", database.String()}
	p := start(t, flags)
	clients := write(p.analytics, "away", writers, func(got reply) move {
		inTime := got.took < 30*time.Second // ten for the key, ten for the operation, and a busy machine
		switch {
		case inTime && got.status == http.StatusCreated:
			return next
		case inTime && got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "":
			time.Sleep(50 * time.Millisecond)
			return again
		}
		t.Errorf("create: %d %s %v after %v", got.status, got.body, got.err, got.took)
		return leave
	})
	away := func(outage string) {
		clients.reach(t, http.StatusServiceUnavailable, 1)
		expect(t, 503, "cannot answer", "GET", p.analytics+"/readyz")
		expect(t, 200, "ok", "GET", p.analytics+"/healthz")
		t.Logf("%s: %d acknowledged, %d refused", outage, clients.count(http.StatusCreated), clients.count(http.StatusServiceUnavailable))
	}
	clients.reach(t, http.StatusCreated, 20)

	line.set(trouble{delay: 20 * time.Millisecond})
	clients.reach(t, http.StatusCreated, 2*writers)

	line.set(trouble{silent: true})
	away("silent")
	line.set(trouble{})
	clients.reach(t, http.StatusCreated, 20)

	line.set(trouble{cut: true})
	away("cut off")
	line.set(trouble{})
	clients.reach(t, http.StatusCreated, 20)

	restart()
	clients.reach(t, http.StatusCreated, 20)
	await(t, "it is not ready again", func() bool { return ask("", "GET", p.analytics+"/readyz", "").status == http.StatusOK })
	clients.end()
	p.terminate(t)
	if stored := checkStored(t, flags, clients.acknowledged); stored != len(clients.acknowledged) {
		t.Errorf("%d were acknowledged, but %d are stored", len(clients.acknowledged), stored)
	}
}

// ownPostgres starts a PostgreSQL of the test's own, because restarting the one of all tests would disturb the others.
func ownPostgres(t *testing.T) (database url.URL, restart func()) {
	t.Helper()
	script := exec.Command("../../scripts/with-postgres", "sh", "-c", `echo "$SIGHTLINE_TEST_POSTGRES"; cat`)
	script.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "SIGHTLINE_TEST_POSTGRES=") })
	script.Env = append(script.Env, "DURABLE=1")
	script.Stderr = os.Stderr
	input, output := must(script.StdinPipe())(t), must(script.StdoutPipe())(t)
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close() // it ends with its input, even when this test is killed
		if err := script.Wait(); err != nil {
			t.Errorf("with-postgres: %v", err)
		}
	})
	address := must(bufio.NewReader(output).ReadString('\n'))(t)
	database = *must(url.Parse(strings.TrimSpace(address)))(t)

	conn := must(pgx.Connect(t.Context(), database.String()))(t)
	defer conn.Close(t.Context())
	var data, programs string
	const where = `SELECT current_setting('data_directory'), (SELECT setting FROM pg_config WHERE name = 'BINDIR')`
	if err := conn.QueryRow(t.Context(), where).Scan(&data, &programs); err != nil {
		t.Fatal(err)
	}
	return database, func() {
		t.Helper()
		restarting := exec.Command(programs+"/pg_ctl", "-D", data, "-l", data+"/../log", "-m", "immediate", "-w", "restart")
		restarting.Dir = data
		if os.Geteuid() == 0 { // it does not run as root
			owner := must(os.Stat(data))(t).Sys().(*syscall.Stat_t)
			restarting.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
		}
		if output, err := restarting.CombinedOutput(); err != nil {
			t.Fatalf("restart PostgreSQL: %v\n%s", err, output)
		}
	}
}

// A trouble is what may happen between a program and its database.
type trouble struct {
	delay  time.Duration // everything arrives later
	silent bool          // nothing arrives
	cut    bool          // there is no connection
}

// A wire is the way to a database; what passes there suffers the trouble that a test sets.
type wire struct {
	mu      sync.Mutex
	trouble trouble
	conns   map[net.Conn]bool
}

// newWire puts a wire before a database, whose address becomes the wire's.
func newWire(t *testing.T, database *url.URL) *wire {
	t.Helper()
	target := database.Host
	listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	database.Host = listener.Addr().String()
	w := &wire{conns: map[net.Conn]bool{}}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			far, err := net.Dial("tcp", target)
			if err != nil || !w.add(near, far) {
				near.Close()
				continue
			}
			group.Go(func() { w.pass(near, far) })
			group.Go(func() { w.pass(far, near) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		w.set(trouble{cut: true})
		group.Wait()
	})
	return w
}

// set changes the trouble. A cut ends all connections.
func (w *wire) set(trouble trouble) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = trouble
	if trouble.cut {
		for conn := range w.conns {
			conn.Close()
		}
		clear(w.conns)
	}
}

// add takes a connection and its other half, unless the wire is cut.
func (w *wire) add(near, far net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trouble.cut {
		far.Close()
		return false
	}
	w.conns[near], w.conns[far] = true, true
	return true
}

// pass carries data from one side to the other as long as both are there.
func (w *wire) pass(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !w.hold(from) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// hold waits until data may pass. It reports false when the connection was cut meanwhile.
func (w *wire) hold(conn net.Conn) bool {
	for first := true; ; first = false {
		w.mu.Lock()
		trouble, alive := w.trouble, w.conns[conn]
		w.mu.Unlock()
		switch {
		case !alive:
			return false
		case trouble.silent:
			time.Sleep(10 * time.Millisecond)
		case first:
			time.Sleep(trouble.delay)
			return true
		default:
			return true
		}
	}
}
