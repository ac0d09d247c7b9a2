package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"sightline/client"
)

// A counted site is a chain of pages that notes who asks for what.
type countedSite struct {
	mu    sync.Mutex
	asked map[string]int
}

func (s *countedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil || n > 12 {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.mu.Unlock()
	fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Page number %d of the chain</title><h1>%d</h1><a href="/%d">next</a>`, n, n, n+1)
}

// kill -9 amid an audit: the next server goes on where it stood.
func TestAuditSurvivesKillNine(t *testing.T) {
	t.Parallel()
	site := &countedSite{asked: map[string]int{}}
	web := httptest.NewServer(site)
	defer web.Close()
	dir := t.TempDir()
	program, api := auditServer(t, dir)
	report, err := api.CreateReport(t.Context(), client.NewReport{URL: web.URL + "/0", Scope: "site"})
	if err != nil {
		t.Fatal(err)
	}
	before := awaitReport(t, api, report.ID, func(r client.Report) bool { return r.Progress.Done >= 5 })
	if before.Ended() {
		t.Fatal("the audit was over before the server could be killed")
	}
	program.kill()
	program, api = auditServer(t, dir)
	after := awaitReport(t, api, report.ID, func(r client.Report) bool { return r.Ended() })
	if after.State != "done" || after.Run != 1 || after.Pages != 14 || after.Results["http.4xx"].Findings != 1 || after.StoppedBy != "" {
		t.Errorf("%s", after.Raw)
	}
	site.mu.Lock()
	for i := range before.Progress.Done {
		if n := site.asked[fmt.Sprintf("/%d", i)]; n != 1 {
			t.Errorf("page %d was known and was asked for %d times", i, n)
		}
	}
	site.mu.Unlock()
	program.terminate(t)
}

// auditServer starts the program on a data directory; it may audit this machine.
func auditServer(t *testing.T, dir string) (*program, *client.Client) {
	t.Helper()
	p := start(t, []string{"--allow-private-targets=127.0.0.0/8", "--data", dir})
	found := seoLine.FindStringSubmatch(p.out.String())
	if found == nil {
		t.Fatalf("the program does not say where it audits:\n%s", p.out.String())
	}
	api, err := client.New(client.Options{SEOURL: found[1], Key: programKey})
	if err != nil {
		t.Fatal(err)
	}
	return p, api
}

// awaitReport reads a report until it is as it should be.
func awaitReport(t *testing.T, api *client.Client, id int64, right func(client.Report) bool) client.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		report, err := api.Report(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if right(report) {
			return report
		}
		time.Sleep(50 * time.Millisecond)
	}
}
