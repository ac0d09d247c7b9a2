package web_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sightline/internal/crawl/crawltest"
	"sightline/internal/crawl/guard"
	"sightline/internal/listing"
	"sightline/internal/seo"
)

// ways lead from a public site to a private one: the answer of the public site for a path, where one is needed.
var ways = map[string]func(w http.ResponseWriter, path, private string){
	"redirect": func(w http.ResponseWriter, path, private string) {
		w.Header()["Location"] = []string{private}
		w.WriteHeader(http.StatusFound)
	},
	"robots": func(w http.ResponseWriter, path, private string) {
		if path == "/robots.txt" {
			w.Header()["Location"] = []string{private}
			w.WriteHeader(http.StatusMovedPermanently)
		}
	},
	"sitemap": func(w http.ResponseWriter, path, private string) {
		switch path {
		case "/robots.txt":
			fmt.Fprintf(w, "Sitemap: %s\n", private)
		case "/sitemap.xml":
			fmt.Fprintf(w, "<sitemapindex><sitemap><loc>%s</loc></sitemap></sitemapindex>", strings.ReplaceAll(private, "&", "&amp;"))
		}
	},
	"link": func(w http.ResponseWriter, path, private string) {
		fmt.Fprintf(w, `<!doctype html><a href="%[1]s">x</a><img src="%[1]sx.png"><link rel="canonical" href="%[1]s">`, private)
	},
}

// TestReportsStayOnThePublicWeb asks for reports of private places in every spelling, and of public sites that lead there, and
// demands that no connection is made.
func TestReportsStayOnThePublicWeb(t *testing.T) {
	s := serve(t, "", t.TempDir())
	trap, names := crawltest.NewTrap(t), crawltest.NewNames(t)
	trap.Serve(func(w http.ResponseWriter, r *http.Request) {
		way, rest, _ := strings.Cut(r.Host, "-")
		number, _, _ := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(number); err == nil && ways[way] != nil {
			ways[way](w, r.URL.Path, fmt.Sprintf(crawltest.Spellings[i], trap.Port))
		}
	})
	s.audits(guard.Options{Resolver: names.Resolver(), Limits: guard.Limits{Time: 5 * time.Second},
		Rules: guard.Rules{AllowPrivate: []netip.Prefix{netip.PrefixFrom(crawltest.Public, 32)}, AllowPorts: []uint16{uint16(trap.Port)}}})
	accepted := map[string]int{}
	ask := func(way, address string) {
		got := s.form("POST", s.seo+"/api/v1/reports", "scope=site&max_pages=5&url="+url.QueryEscape(address))
		if got.status == http.StatusCreated {
			accepted[way]++
		} else if got.status != http.StatusUnprocessableEntity || way != "direct" {
			t.Errorf("%s to %s: %d %s", way, address, got.status, got.body)
		}
	}
	for i, spelling := range crawltest.Spellings {
		ask("direct", fmt.Sprintf(spelling, trap.Port))
		for way := range ways {
			ask(way, fmt.Sprintf("http://%s-%d.public.test:%d/", way, i, trap.Port))
		}
		name := fmt.Sprintf("rebind-%d.test", i)
		names.Rebind(name, crawltest.Meant(fmt.Sprintf(spelling, trap.Port)))
		ask("rebinding", fmt.Sprintf("http://%s:%d/", name, trap.Port))
	}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		all, err := s.catalog.Reports(t.Context(), s.owner.ID, seo.ReportFilter{}, listing.Request{SortBy: seo.SortByID, Page: 1, PerPage: 1000})
		if err != nil || time.Since(began) > 2*time.Minute {
			t.Fatalf("the audits do not end: %v", err)
		}
		if !slices.ContainsFunc(all.Items, func(r seo.Report) bool { return !r.State.Ended() }) {
			break
		}
	}
	if n := trap.Caught.Load(); n != 0 {
		t.Errorf("%d connections to private addresses", n)
	}
	if accepted["direct"] < 20 || accepted["redirect"] != len(crawltest.Spellings) {
		t.Errorf("the API took %v", accepted)
	}
}
