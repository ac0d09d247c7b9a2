package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/store"
	"sightline/internal/store/sqlite"
)

// programKey is the key of the servers that tests start.
const programKey = "a-key-for-the-tests-of-the-program"

// A program is a server that a test started.
type program struct {
	cmd       *exec.Cmd
	out, err  notebook
	ended     chan struct{} // closed when it has exited
	analytics string        // the base URL of that area
}

// launch starts sightline serve and does not wait for it; without a data directory among the flags it gets one of its own. wrapped, if
// there is any, is a command that runs it.
func launch(t *testing.T, flags, wrapped []string, variables ...string) *program {
	t.Helper()
	command := append(slices.Clone(wrapped), "sightline", "serve", "--seo-url=http://localhost:0", "--analytics-url=http://localhost:0", "--log-level=error")
	if !slices.Contains(flags, "--data") {
		command = append(command, "--data", t.TempDir())
	}
	command = append(command, flags...)
	p := &program{cmd: exec.Command(command[0], command[1:]...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.Env = append(os.Environ(), append(variables, "GORACE=atexit_sleep_ms=0")...) // else it ends a second later
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait() // its exit code is in cmd.ProcessState
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the program said:\n%s", ends(p.err.String()))
		}
	})
	return p
}

// start starts sightline serve with a key that tests know, and waits until it serves.
func start(t *testing.T, flags []string, variables ...string) *program {
	t.Helper()
	p := launch(t, append([]string{"--first-key=" + programKey}, flags...), nil, variables...)
	p.await(t)
	return p
}

// await waits until the program says where it serves.
func (p *program) await(t *testing.T) {
	t.Helper()
	for began := time.Now(); time.Since(began) < startTime; time.Sleep(5 * time.Millisecond) {
		if found := analyticsLine.FindStringSubmatch(p.out.String()); found != nil {
			p.analytics = found[1]
			return
		}
		select {
		case <-p.ended:
			t.Fatalf("the program did not start: %v\n%s", p.cmd.ProcessState, ends(p.err.String()))
		default:
		}
	}
	t.Fatalf("the program does not serve after %s", startTime)
}

// kill ends the program as kill -9 does.
func (p *program) kill() {
	p.cmd.Process.Kill() // it may have ended by itself
	<-p.ended
}

// terminate sends SIGTERM; the program must exit with 0 within ten seconds.
func (p *program) terminate(t *testing.T) {
	t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		t.Fatalf("the program still runs %s after SIGTERM", stopTime)
	}
	if took := time.Since(began); took > 10*time.Second || p.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("%v after %v", p.cmd.ProcessState, took)
	}
}

// String is what was written until now.
func (n *notebook) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// ends are the beginning and the end of a long text.
func ends(text string) string {
	if len(text) > 4000 {
		return text[:2000] + "\n…\n" + text[len(text)-2000:]
	}
	return text
}

// caller keeps a connection for every writer.
var caller = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 45 * time.Second}

// A reply is what a caller got.
type reply struct {
	name   string // of what was sent: the URL of a website, the page of a hit
	status int
	header http.Header
	body   string
	err    error // there is no reply
	took   time.Duration
}

// ask makes a request with a key. Headers are NAME, VALUE, ….
func ask(key, method, address, fields string, headers ...string) reply {
	began := time.Now()
	request, err := http.NewRequestWithContext(context.Background(), method, address, strings.NewReader(fields))
	if err != nil {
		return reply{err: err}
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for ; len(headers) > 1; headers = headers[2:] {
		request.Header.Set(headers[0], headers[1])
	}
	response, err := caller.Do(request)
	if err != nil {
		return reply{err: err, took: time.Since(began)}
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = io.Copy(&body, response.Body)
	return reply{status: response.StatusCode, header: response.Header, body: body.String(), err: err, took: time.Since(began)}
}

// create makes a website, once however often it is called.
func create(base, url string) reply {
	got := ask(programKey, "POST", base+"/api/v1/websites", "url="+url, "Idempotency-Key", url)
	got.name = url
	return got
}

// expect makes a request that must be answered with a status and certain words.
func expect(t *testing.T, status int, words, method, address string) {
	t.Helper()
	if got := ask(programKey, method, address, ""); got.err != nil || got.status != status || !strings.Contains(got.body, words) {
		t.Errorf("%s %s: %d %s %v, want %d and %q", method, address, got.status, got.body, got.err, status, words)
	}
}

// A move is what a writer does after a reply.
type move int

const (
	next  move = iota // send another
	again             // the same once more
	leave             // no more
)

// A crowd is clients that send something, each thing by a name of its own.
type crowd struct {
	mu           sync.Mutex
	acknowledged []string
	unanswered   []string
	counts       map[int]int // status → how many replies
	stop         chan struct{}
	group        sync.WaitGroup
}

// write lets clients create websites, each one after the other, as react says, until end is called.
func write(base, name string, clients int, react func(reply) move) *crowd {
	return gather(clients, func(number, i int) reply {
		return create(base, fmt.Sprintf("https://%s-w%d-n%d.example", name, number, i))
	}, react)
}

// gather lets clients send one thing after the other, as react says, until end is called.
func gather(clients int, send func(number, i int) reply, react func(reply) move) *crowd {
	c := &crowd{counts: map[int]int{}, stop: make(chan struct{})}
	for number := range clients {
		c.group.Go(func() {
			for i := 0; !c.ended(); i++ {
				then := again
				for then == again {
					got := send(number, i)
					c.note(got)
					then = react(got)
				}
				if then == leave {
					return
				}
			}
		})
	}
	return c
}

func (c *crowd) note(got reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case got.err != nil:
		c.unanswered = append(c.unanswered, got.name)
	case got.status == http.StatusCreated, got.status == http.StatusAccepted:
		c.acknowledged = append(c.acknowledged, got.name)
	}
	c.counts[got.status]++
}

// count is how many replies of a status there were.
func (c *crowd) count(status int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[status]
}

// reach waits until there are more replies of a status.
func (c *crowd) reach(t *testing.T, status, more int) {
	t.Helper()
	want := c.count(status) + more
	for began := time.Now(); c.count(status) < want; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d replies of %d after a minute, want %d", c.count(status), status, want)
		}
	}
}

func (c *crowd) ended() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// end waits until every client has its last reply.
func (c *crowd) end() {
	close(c.stop)
	c.group.Wait()
}

// checkStored demands that the catalog is whole, holds every acknowledged website and none twice. It returns how many it holds.
func checkStored(t *testing.T, flags, acknowledged []string) int {
	t.Helper()
	catalog := openTarget(t, flags)
	stored, total := map[string]int{}, 0
	for page := 1; ; page++ {
		list, err := catalog.Websites(t.Context(), 1, listing.Request{SortBy: analytics.SortByCreated, Page: page, PerPage: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, website := range list.Items {
			if stored[website.URL]++; stored[website.URL] > 1 {
				t.Errorf("%s is stored %d times", website.URL, stored[website.URL])
			}
		}
		if total = list.Total; len(list.Items) == 0 {
			break
		}
	}
	for _, url := range acknowledged {
		if stored[url] == 0 {
			t.Errorf("%s was acknowledged and is lost", url)
		}
	}
	if total != len(stored) {
		t.Errorf("the total is %d, but %d are stored", total, len(stored))
	}
	if flags[0] == "--data" {
		checkIntegrity(t, flags[1])
	}
	t.Logf("%d acknowledged, %d stored", len(acknowledged), len(stored))
	return len(stored)
}

func checkIntegrity(t *testing.T, dir string) {
	t.Helper()
	raw := must(sql.Open("sqlite", filepath.Join(dir, sqlite.File)))(t)
	defer raw.Close()
	var verdict string
	if err := raw.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s %v", verdict, err)
	}
}

// openTarget opens the catalog that a flag names.
func openTarget(t *testing.T, flags []string) store.Installation {
	t.Helper()
	database, dir := "", flags[1]
	if flags[0] == "--database" {
		database, dir = flags[1], ""
	}
	catalog := must(store.Open(t.Context(), database, dir))(t)
	t.Cleanup(func() {
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	return catalog
}

// must is the answer of a call that succeeded.
func must[T any](answer T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}
