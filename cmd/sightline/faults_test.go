package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/store/sqlite"
)

// R2: on a full disk writes are refused with 507 and reads go on; when there is room again, so do writes, without a restart.
// Nothing that was acknowledged is lost.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	p, makeRoom, takeDisk := startOnSmallDisk(t)
	clients := write(p.analytics, "full", writers, func(got reply) move {
		if got.status != http.StatusCreated && got.status != http.StatusInsufficientStorage {
			t.Errorf("create: %d %s %v", got.status, got.body, got.err)
			return leave
		}
		return next
	})
	clients.reach(t, http.StatusInsufficientStorage, 50)
	expect(t, 200, `"data"`, "GET", p.analytics+"/api/v1/websites")
	expect(t, 200, `"url"`, "GET", p.analytics+"/api/v1/websites/1")
	expect(t, 200, "ok", "GET", p.analytics+"/healthz")
	expect(t, 200, "ready", "GET", p.analytics+"/readyz")
	makeRoom()
	clients.reach(t, http.StatusCreated, 100)
	clients.end()
	t.Logf("%d refused", clients.count(http.StatusInsufficientStorage))
	checkStored(t, []string{"--data", takeDisk()}, clients.acknowledged)
}

// startOnSmallDisk starts the program on a file system of a few MB, or, where a test may not mount one, on a disk that only says
// that it is full. makeRoom ends that; takeDisk kills the program and returns a directory with what it left.
func startOnSmallDisk(t *testing.T) (p *program, makeRoom func(), takeDisk func() string) {
	t.Helper()
	dir := t.TempDir()
	flags := []string{"--first-key=" + programKey, "--data", filepath.Join(dir, "data")}
	mount := []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=16m none "$0" && head -c 12M /dev/zero >"$0/ballast" && exec "$@"`, dir}
	if os.Geteuid() != 0 {
		mount[1] = "-rm" // where users may have namespaces of their own
	}
	if output, err := exec.Command(mount[0], append(mount[1:], "true")...).CombinedOutput(); err != nil {
		t.Logf("no small file system, the disk only says that it is full: %v %s", err, output)
		d := newDisk(t)
		p = launch(t, flags, nil, d.variable())
		p.await(t)
		if got := create(p.analytics, "https://first.example"); got.status != http.StatusCreated {
			t.Fatalf("create: %d %v", got.status, got.err)
		}
		d.fail(t, "full")
		return p, func() { d.fail(t, "") }, func() string { p.kill(); return flags[2] }
	}
	p = launch(t, flags, mount)
	p.await(t)
	inside := fmt.Sprintf("/proc/%d/root%s", p.cmd.Process.Pid, dir) // only the program sees that file system
	return p, func() {
			if err := os.Remove(filepath.Join(inside, "ballast")); err != nil {
				t.Fatal(err)
			}
		}, func() string {
			if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			copied := t.TempDir()
			for _, name := range []string{sqlite.File, sqlite.File + "-wal"} {
				content := must(os.ReadFile(filepath.Join(inside, "data", name)))(t)
				if err := os.WriteFile(filepath.Join(copied, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.kill()
			return copied
		}
}

// R3: after a sync that failed nothing is acknowledged, even if later syncs would succeed, and readiness says why; reads go
// on. A restart ends it, and loses nothing that was acknowledged.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*program, *testing.T){"terminated": (*program).terminate, "killed": func(p *program, _ *testing.T) { p.kill() }} {
		t.Run(name, func(t *testing.T) {
			d, flags := newDisk(t), []string{"--data", t.TempDir()}
			p := start(t, flags, d.variable())
			clients := write(p.analytics, "sync", writers, func(got reply) move {
				if got.status != http.StatusCreated && (got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "") {
					t.Errorf("create: %d %s %v", got.status, got.body, got.err)
					return leave
				}
				return next
			})
			clients.reach(t, http.StatusCreated, 50)
			expect(t, 200, "ready", "GET", p.analytics+"/readyz")
			d.fail(t, "sync")
			clients.reach(t, http.StatusServiceUnavailable, 50)
			d.fail(t, "")
			acknowledged := clients.count(http.StatusCreated)
			clients.reach(t, http.StatusServiceUnavailable, 50)
			clients.end()
			if more := clients.count(http.StatusCreated) - acknowledged; more > 0 {
				t.Errorf("%d were acknowledged after a sync that failed", more)
			}
			expect(t, 503, "disk failed to keep a write", "GET", p.analytics+"/readyz")
			expect(t, 200, "ok", "GET", p.analytics+"/healthz")
			expect(t, 200, `"data"`, "GET", p.analytics+"/api/v1/websites")
			stop(p, t)

			p = start(t, flags)
			expect(t, 200, "ready", "GET", p.analytics+"/readyz")
			if got := create(p.analytics, "https://after.example"); got.status != http.StatusCreated {
				t.Errorf("create after the restart: %d %s %v", got.status, got.body, got.err)
			}
			p.kill()
			checkStored(t, flags, append(clients.acknowledged, "https://after.example"))
		})
	}
}

// A program that finds writes in the log of one that was killed does not start before they are synced.
func TestStartNeedsSync(t *testing.T) {
	t.Parallel()
	d, flags := newDisk(t), []string{"--data", t.TempDir()}
	p := start(t, flags)
	if got := create(p.analytics, "https://before.example"); got.status != http.StatusCreated {
		t.Fatalf("create: %d %s %v", got.status, got.body, got.err)
	}
	p.kill()
	d.fail(t, "sync")
	p = launch(t, flags, nil, d.variable())
	select {
	case <-p.ended:
	case <-time.After(startTime):
		t.Fatal("the program runs")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(p.err.String(), "the disk failed to keep a write") {
		t.Errorf("exit code %d, %s", code, p.err.String())
	}
	checkStored(t, flags, []string{"https://before.example"})
}

// R4: SIGTERM under load: every request that has begun is answered, what was acknowledged is stored and nothing else, and the
// program exits with 0 in time.
func TestTerminateUnderLoad(t *testing.T) {
	t.Parallel()
	for engine, flags := range map[string][]string{
		"sqlite":   {"--data", t.TempDir()},
		"postgres": {"--database", pgtest.URL(t)},
	} {
		t.Run(engine, func(t *testing.T) {
			p := start(t, flags)
			clients := write(p.analytics, "term", 16, func(got reply) move {
				if got.status == http.StatusCreated {
					return next
				}
				refused := got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != ""
				if !refused && !isRefusedDial(got.err) {
					t.Errorf("create: %d %s %v", got.status, got.body, got.err)
				}
				return leave
			})
			clients.reach(t, http.StatusCreated, 100)
			finish := beginCreate(t, p, "https://slow.example")
			answered := make(chan int, 1)
			go func() { // when new requests are refused already
				time.Sleep(2 * drainNotice)
				answered <- finish()
			}()
			p.terminate(t)
			clients.end()
			if status := <-answered; status != http.StatusCreated {
				t.Errorf("a request that was under way: %d", status)
			}
			acknowledged := append(clients.acknowledged, "https://slow.example")
			if stored := checkStored(t, flags, acknowledged); stored != len(acknowledged) {
				t.Errorf("%d were acknowledged, but %d are stored", len(acknowledged), stored)
			}
		})
	}
}

// isRefusedDial says that nobody listens there any more.
func isRefusedDial(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// beginCreate sends a request up to the middle of its body, which the program is reading then. The function that it returns
// sends the rest and returns the status of the answer, 0 if there is none.
func beginCreate(t *testing.T, p *program, url string) (finish func() int) {
	t.Helper()
	connection := must(net.Dial("tcp", strings.TrimPrefix(p.analytics, "http://")))(t)
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	body := "url=" + url
	fmt.Fprintf(connection, "POST /api/v1/websites HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", programKey, len(body))
	answers := bufio.NewReader(connection)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v", line, err)
	}
	must(answers.ReadString('\n'))(t)
	must(io.WriteString(connection, body[:5]))(t)
	return func() int {
		io.WriteString(connection, body[5:]) // the answer tells
		line, _ := answers.ReadString('\n')
		status, _ := strconv.Atoi(strings.Split(line+"  ", " ")[1])
		return status
	}
}
