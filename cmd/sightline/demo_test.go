package main

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/access"
	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/audit"
	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
)

// now is the moment at which the clock of the tests stands.
var now = time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)

// newAccount opens a catalog in a directory of its own and creates an account in it.
func newAccount(t *testing.T) (store.Catalog, int64) {
	t.Helper()
	catalog, err := store.Open(t.Context(), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	a := account.New("you@example.com", now)
	if err := catalog.CreateAccount(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	return catalog, a.ID
}

func projectsOf(t *testing.T, catalog store.Catalog, account int64) []seo.Project {
	t.Helper()
	page, err := catalog.Projects(t.Context(), account, listing.Request{SearchBy: seo.SearchByProject, SortBy: seo.SortByCreated, Page: 1, PerPage: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func websitesOf(t *testing.T, catalog store.Catalog, account int64) []analytics.Website {
	t.Helper()
	page, err := catalog.Websites(t.Context(), account, listing.Request{SearchBy: analytics.SearchByURL, SortBy: analytics.SortByCreated, Page: 1, PerPage: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func TestDemo(t *testing.T) {
	catalog, owner := newAccount(t)
	for range 2 { // the second time changes nothing
		if err := fillDemo(t.Context(), catalog, nil, owner, now); err != nil {
			t.Fatal(err)
		}
	}
	projects, websites := projectsOf(t, catalog, owner), websitesOf(t, catalog, owner)
	if len(projects) != 30 || len(websites) != 30 {
		t.Fatalf("%d projects and %d websites, want 30 of each", len(projects), len(websites))
	}
	for _, p := range projects {
		if p.CreatedAt.After(now) || p.CreatedAt.Before(now.AddDate(-1, 0, 0)) {
			t.Errorf("project %s was created at %s", p.Name, p.CreatedAt)
		}
		if !reserved(p.Name) && !strings.Contains(p.Name, " ") {
			t.Errorf("project %s is under a name that may belong to somebody", p.Name)
		}
	}
	privacies := map[access.Privacy]int{}
	for _, w := range websites {
		privacies[w.Privacy]++
		if !reserved(w.Domain) {
			t.Errorf("website %s is under a name that may belong to somebody", w.URL)
		}
		prefixes, err := analytics.ParseIPs(w.ExcludeIPs)
		if err != nil {
			t.Errorf("website %s: %v", w.URL, err)
		}
		for _, prefix := range prefixes {
			if !forDocumentation(prefix) {
				t.Errorf("website %s excludes %s, which is not for documentation", w.URL, prefix)
			}
		}
	}
	if len(privacies) != 3 {
		t.Errorf("privacies are %v, want some of each", privacies)
	}
}

// TestDemoReports audits the example sites for real, and demands that they show something of everything.
func TestDemoReports(t *testing.T) {
	catalog, owner := newAccount(t)
	if err := fillDemo(t.Context(), catalog, nil, owner, now); err != nil {
		t.Fatal(err)
	}
	nowhere := guard.New(guard.Options{})
	defer nowhere.Close()
	auditor := audit.New(crawl.New(newDemoWeb(nowhere), crawl.Manners{PerSecond: -1, ChecksPerSecond: -1}), time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { audit.NewQueue(auditor, catalog, 4, time.Now, slog.New(slog.DiscardHandler)).Run(ctx) })
	t.Cleanup(group.Wait)
	t.Cleanup(cancel)
	states, results, began := map[seo.State]int{}, map[string]int{}, time.Now()
	for states[seo.Done] < 27 {
		if time.Since(began) > time.Minute {
			t.Fatalf("the audits do not end: %v", states)
		}
		time.Sleep(50 * time.Millisecond)
		reports, err := catalog.Reports(t.Context(), owner, seo.ReportFilter{}, listing.Request{SortBy: seo.SortByID, Page: 1, PerPage: 100})
		if err != nil {
			t.Fatal(err)
		}
		clear(states)
		clear(results)
		for _, r := range reports.Items {
			states[r.State]++
			results[r.Result()]++
		}
	}
	scored := 0
	for _, p := range projectsOf(t, catalog, owner) {
		if p.Score != nil && p.Reports == 1 {
			scored++
		}
	}
	if scored != 27 || len(projectsOf(t, catalog, owner)) != 30 || results["good"] == 0 || results["decent"] == 0 {
		t.Errorf("%d projects have a score, %v", scored, results)
	}
}

func TestDemoLeavesWorkAlone(t *testing.T) {
	t.Run("a project", func(t *testing.T) {
		catalog, owner := newAccount(t)
		project := seo.NewProject(owner, now)
		if err := project.SetName("mine.example"); err != nil {
			t.Fatal(err)
		}
		if err := catalog.CreateProject(t.Context(), &project, nil); err != nil {
			t.Fatal(err)
		}
		if err := fillDemo(t.Context(), catalog, nil, owner, now); err != nil {
			t.Fatal(err)
		}
		if p, w := len(projectsOf(t, catalog, owner)), len(websitesOf(t, catalog, owner)); p != 1 || w != 0 {
			t.Errorf("%d projects and %d websites, want the one project", p, w)
		}
	})
	t.Run("a website", func(t *testing.T) {
		catalog, owner := newAccount(t)
		site := analytics.NewWebsite(owner, now)
		if err := site.SetURL("https://mine.example"); err != nil {
			t.Fatal(err)
		}
		if err := catalog.CreateWebsite(t.Context(), &site, nil); err != nil {
			t.Fatal(err)
		}
		if err := fillDemo(t.Context(), catalog, nil, owner, now); err != nil {
			t.Fatal(err)
		}
		if p, w := len(projectsOf(t, catalog, owner)), len(websitesOf(t, catalog, owner)); p != 0 || w != 1 {
			t.Errorf("%d projects and %d websites, want the one website", p, w)
		}
	})
}

// reserved says whether a host is one that nobody can own (RFC 2606).
func reserved(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	for _, parent := range []string{".example", ".test", ".example.com", ".example.org", ".example.net"} {
		if strings.HasSuffix(host, parent) {
			return true
		}
	}
	return host == "localhost"
}

// forDocumentation says whether addresses are of the ranges of RFC 5737 and RFC 3849.
func forDocumentation(prefix netip.Prefix) bool {
	for _, text := range []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"} {
		if netip.MustParsePrefix(text).Contains(prefix.Addr()) {
			return true
		}
	}
	return false
}
