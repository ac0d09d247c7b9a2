package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What the program may take.
const (
	startMost    = 100 * time.Millisecond
	idleMost     = 64 << 20
	binaryMost   = 100 << 20
	trackerMost  = 772
	overloadMost = 512 << 20
)

// How the program is overloaded.
const (
	overloadWires = 2000
	overloadTime  = 10 * time.Second
	overloadSlow  = 100 * time.Millisecond // for all but the slowest hundredth of what is accepted
	probeWires    = 8
	probePause    = 10 * time.Millisecond
)

const programKey = "a-key-for-the-measurements-of-the-program"

// measureProgram builds the program and measures how large it is, how soon it answers, what it holds when nothing happens, and what
// becomes of it under far too many hits.
func measureProgram(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "sightline-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := &program{binary: filepath.Join(dir, "sightline"), data: filepath.Join(dir, "data")}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -extldflags=-Wl,--exclude-libs,ALL", "-o", p.binary, "./cmd/sightline")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, said)
	}
	info, err := os.Stat(p.binary)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s binary: %d MB, at most %d MB\n", verdict(info.Size() <= binaryMost), info.Size()>>20, binaryMost>>20)
	return p.measure(ctx, out)
}

// measure starts the program several times, and the last time leaves it alone and then overloads it.
func (p *program) measure(ctx context.Context, out io.Writer) (err error) {
	var starts []time.Duration
	for i := range rounds + 1 {
		took, err := p.start(ctx)
		if err != nil {
			return err
		}
		if i > 0 { // the first one makes the files
			starts = append(starts, took)
		}
		if i < rounds {
			if err := p.stop(); err != nil {
				return err
			}
		}
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	slices.Sort(starts)
	fmt.Fprintf(out, "%s start to first answer: %s, at most %s\n", verdict(starts[rounds/2] <= startMost), short(starts[rounds/2]), short(startMost))
	time.Sleep(3 * time.Second)
	idle, err := p.memory("VmRSS:")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s idle memory: %d MB, at most %d MB\n", verdict(idle <= idleMost), idle>>20, idleMost>>20)
	if err := p.measureTracker(ctx, out); err != nil {
		return err
	}
	return p.overload(ctx, out)
}

// measureTracker asks for the tracker as browsers do.
func (p *program) measureTracker(ctx context.Context, out io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/js/s.js", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "gzip") // so that the client leaves it packed
	size, err := p.answer(request, nil)
	if err == nil {
		fmt.Fprintf(out, "%s tracker: %d bytes, at most %d\n", verdict(size <= trackerMost), size, trackerMost)
	}
	return err
}

// overload sends more hits at once than the program keeps waiting, and then compares what it accepted with what is stored.
func (p *program) overload(ctx context.Context, out io.Writer) error {
	var site struct {
		Data struct {
			TrackingID string `json:"tracking_id"`
		}
	}
	if err := p.ask(ctx, http.MethodPost, "/api/v1/websites", "url=https://example.com", &site); err != nil {
		return err
	}
	got, probes, err := p.pushAndProbe(ctx, makeHits(site.Data.TrackingID))
	if err != nil {
		return err
	}
	memory, err := p.memory("VmHWM:")
	if err != nil {
		return err
	}
	stored := 0
	for began := time.Now(); stored < got.accepted && time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
		var stats struct{ Totals struct{ Pageviews int } }
		if err := p.ask(ctx, http.MethodGet, "/api/v1/websites/1/stats?from=2d", "", &stats); err != nil {
			return err
		}
		stored = stats.Totals.Pageviews
	}
	all := row{rounds: []round{got.round}}
	fmt.Fprintf(out, "%d clients at once for %s: %.0f hits/s accepted, %d refused\n", overloadWires, overloadTime, got.perSecond, got.refused)
	fmt.Fprintf(out, "%s overload: %d accepted, %d stored\n", verdict(stored == got.accepted), got.accepted, stored)
	fmt.Fprintf(out, "%s overload: %d MB of memory, at most %d MB\n", verdict(memory <= overloadMost), memory>>20, overloadMost>>20)
	floor := row{rounds: []round{probes.round}}
	fmt.Fprintf(out, "%s overload: p99 %s, at most %s; of /healthz meanwhile, which does nothing, %s\n",
		verdict(all.quantile(0.99) <= overloadSlow), short(all.quantile(0.99)), short(overloadSlow), short(floor.quantile(0.99)))
	return nil
}

// pushAndProbe overloads the program, and meanwhile asks now and then for what costs nothing: no hit can be answered sooner.
func (p *program) pushAndProbe(ctx context.Context, hits [][]byte) (got, probes push, err error) {
	var failed error
	var group sync.WaitGroup
	began := time.Now()
	group.Go(func() {
		probes, failed = onWires(ctx, p.base, probeWires, func(w *wire, note func(int, time.Duration) error) error {
			for ; time.Since(began) < overloadTime && ctx.Err() == nil; time.Sleep(probePause) {
				sent := time.Now()
				status, err := w.exchange([]byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("/healthz is answered with %d", status)
				}
				if err != nil {
					return err
				}
				if err := note(http.StatusAccepted, time.Since(sent)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	got, err = pushAll(ctx, p.base, overloadWires, overloadTime, hits)
	group.Wait()
	return got, probes, errors.Join(err, failed)
}

// A program is the real one, as people start it.
type program struct {
	binary, data, base string
	cmd                *exec.Cmd
	said               bytes.Buffer
}

// start starts it and returns after how long it answered.
func (p *program) start(ctx context.Context) (time.Duration, error) {
	ports, err := freePorts(2)
	if err != nil {
		return 0, err
	}
	p.base = "http://localhost:" + ports[1]
	p.said.Reset()
	p.cmd = exec.CommandContext(ctx, p.binary, "serve", "--data", p.data, "--seo-url", "http://localhost:"+ports[0], "--analytics-url", p.base,
		"--first-key", programKey, "--log-level", "error")
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return 0, err
	}
	for time.Since(began) < 30*time.Second {
		if response, err := http.Get(p.base + "/healthz"); err == nil {
			return time.Since(began), response.Body.Close()
		}
		time.Sleep(time.Millisecond)
	}
	return 0, errors.Join(errors.New("the program does not answer"), p.stop())
}

// stop ends it as a service manager does.
func (p *program) stop() error {
	err := errors.Join(p.cmd.Process.Signal(os.Interrupt), p.cmd.Wait())
	if err != nil {
		return fmt.Errorf("stop the program: %w\n%s", err, p.said.String())
	}
	return nil
}

// memory is what the system says that it holds, in bytes.
func (p *program) memory(name string) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name); found {
			kilobytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("the system does not say %s", name)
}

// ask calls an operation.
func (p *program) ask(ctx context.Context, method, path, form string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(form))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+programKey)
	if form != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	_, err = p.answer(request, into)
	return err
}

// answer makes a request, reads the answer as JSON if it is wanted, and returns its length.
func (p *program) answer(request *http.Request, into any) (size int, err error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %s", request.Method, request.URL.Path, response.StatusCode, body)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	return len(body), err
}

// freePorts are ports that nobody listened on a moment ago.
func freePorts(n int) (ports []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}
