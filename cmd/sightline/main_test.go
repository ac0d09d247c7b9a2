package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// call runs a command line in a directory of its own.
func call(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var out, err bytes.Buffer
	code = run(ctx, args, func(string) string { return "" }, &terminal{strings.NewReader(""), &out, &err, func() time.Time { return now }})
	return code, out.String(), err.String()
}

func TestNoCommandIsAMistake(t *testing.T) {
	code, stdout, stderr := call(t, t.Context())
	if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "Usage: sightline") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := call(t, ctx, "account", "list", "--database", "postgres://localhost:1/x")
	if code != exitFailed || stderr != "sightline: interrupted\n" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

func TestFailIsOneLine(t *testing.T) {
	var out bytes.Buffer
	code := fail(&terminal{stderr: &out}, errors.Join(errors.New("one"), errors.New("two")))
	if code != exitFailed || out.String() != "sightline: one; two\n" {
		t.Errorf("exit %d, %q", code, out.String())
	}
}
