package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadmeTour runs the README's tour, word for word, against a fresh server.
func TestReadmeTour(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tour := regexp.MustCompile("(?s)<!-- tour[^>]*-->\n```sh\n(.*?)```").FindSubmatch(readme)
	if tour == nil {
		t.Fatal("README.md has no tour")
	}
	key, seo, analytics := startServer(t)
	var answers []string
	for line := range strings.Lines(string(tour[1])) {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		command := exec.Command("bash", "-c", strings.Replace(line, "curl ", "curl --silent --show-error --fail-with-body --max-time 20 ", 1))
		command.Env = append(os.Environ(), "KEY="+key, "SEO="+seo, "ANALYTICS="+analytics, "NO_PROXY=localhost")
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v: %s", line, err, output)
		}
		answers = append(answers, string(output))
	}
	for i, want := range []string{`"status":201`, `"status":201`, `"total":1`, `"deleted":true`, `"total":1`, `"id":1`, `"has_password":1`, `"exclude_params":"utm_*, fbclid"`, `"deleted":true`} {
		if i >= len(answers) || !strings.Contains(answers[i], want) {
			t.Errorf("line %d of the tour does not answer %s: %v", i+1, want, answers)
		}
	}
}

// startServer starts the program as make run does, in an empty directory but on free ports, and returns what it prints: the
// key and the two addresses.
func startServer(t *testing.T) (key, seo, analytics string) {
	t.Helper()
	server := exec.Command("sightline", "serve", "--seo-url=http://localhost:0", "--analytics-url=http://localhost:0")
	server.Dir = t.TempDir()
	server.Stderr = os.Stderr
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	watchdog := time.AfterFunc(30*time.Second, func() { server.Process.Kill() })
	defer watchdog.Stop()
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 3 && words[0] == "search":
			seo = words[2]
		case len(words) == 2 && words[0] == "analytics":
			analytics = words[1]
		case len(words) == 1 && strings.HasPrefix(words[0], "sl_"):
			return words[0], seo, analytics
		}
	}
	t.Fatal("the server printed no key")
	return "", "", ""
}
