package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The longest that a server may take to start and to stop, on a machine that is busy with other tests.
const (
	startTime = 60 * time.Second
	stopTime  = 30 * time.Second
)

// A server is what the script commands know of the server that they started.
type server struct {
	env   []string // of the script when it began
	cmd   *exec.Cmd
	ended chan error
}

type serverKey struct{}

func serverOf(ts *testscript.TestScript) *server {
	return ts.Value(serverKey{}).(*server)
}

// startCmd starts sightline serve on free ports and waits until it is ready: start [VARIABLE=VALUE]… [FLAGS]. Its output is
// in the files out and err, its addresses are in $SEO and $ANALYTICS, and the key that it prints is in $KEY.
func startCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg, "start [VARIABLE=VALUE]… [FLAGS]")
	variables := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if variables < 0 {
		variables = len(args)
	}
	ports := []string{"serve", "--seo-url", "http://localhost:0", "--analytics-url", "http://localhost:0"}
	s := serverOf(ts)
	s.cmd, s.ended = exec.Command("sightline", append(ports, args[variables:]...)...), make(chan error, 1)
	s.cmd.Dir = ts.MkAbs(".")
	s.cmd.Env = append(slices.Clone(s.env), args[:variables]...)
	stdout, err := os.Create(ts.MkAbs("out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs("err"))
	ts.Check(err)
	defer stderr.Close()
	s.cmd.Stdout, s.cmd.Stderr = stdout, stderr
	ts.Check(s.cmd.Start())
	go func(cmd *exec.Cmd, ended chan error) {
		ended <- cmd.Wait()
		close(ended)
	}(s.cmd, s.ended)
	ts.Defer(func() {
		s.cmd.Process.Kill()
		<-s.ended
	})
	s.await(ts)
}

var (
	seoLine       = regexp.MustCompile(`(?m)^ +search optimization +(http://\S+)`)
	analyticsLine = regexp.MustCompile(`(?m)^ +analytics +(http://\S+)`)
	keyLine       = regexp.MustCompile(`(?m)^ +(\S{20,})$`)
)

// await waits until the server says where it is and both areas answer there.
func (s *server) await(ts *testscript.TestScript) {
	for began := time.Now(); time.Since(began) < startTime; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-s.ended:
			ts.Fatalf("the server ended: %v\n%s%s", err, ts.ReadFile("out"), ts.ReadFile("err"))
		default:
		}
		out := ts.ReadFile("out")
		seo, analytics := seoLine.FindStringSubmatch(out), analyticsLine.FindStringSubmatch(out)
		if seo == nil || analytics == nil || !healthy(seo[1]) || !healthy(analytics[1]) {
			continue
		}
		ts.Setenv("SEO", seo[1])
		ts.Setenv("ANALYTICS", analytics[1])
		if key := keyLine.FindStringSubmatch(ts.ReadFile("out")); key != nil {
			ts.Setenv("KEY", key[1])
		}
		return
	}
	ts.Fatalf("the server is not ready after %s\n%s%s", startTime, ts.ReadFile("out"), ts.ReadFile("err"))
}

func healthy(base string) bool {
	response, err := http.Get(base + "/healthz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// terminateCmd sends SIGTERM to the server, which must exit with 0: terminate.
func terminateCmd(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	demand(ts, !neg && len(args) == 0 && s.cmd != nil, "terminate, after start")
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-s.ended:
		if err != nil {
			ts.Fatalf("the server ended with: %v\n%s", err, ts.ReadFile("err"))
		}
	case <-time.After(stopTime):
		ts.Fatalf("the server still runs %s after SIGTERM", stopTime)
	}
}

// httpCmd makes a request and writes the status and the body: http METHOD URL [-key KEY] [-H NAME:VALUE]… [-d FORM].
func httpCmd(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, !neg && len(args) >= 2 && len(args)%2 == 0, "http METHOD URL [-key KEY] [-H NAME:VALUE]… [-d FORM]")
	request, err := http.NewRequest(args[0], args[1], nil)
	ts.Check(err)
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		switch rest[0] {
		case "-key":
			request.Header.Set("Authorization", "Bearer "+rest[1])
		case "-H":
			name, value, _ := strings.Cut(rest[1], ":")
			request.Header.Set(name, strings.TrimSpace(value))
		case "-d":
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Body, request.ContentLength = io.NopCloser(strings.NewReader(rest[1])), int64(len(rest[1]))
		default:
			ts.Fatalf("unknown option %s", rest[0])
		}
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n", response.Status, body)
}
