package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/audit"
	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
)

func TestReportFields(t *testing.T) {
	tests := []struct {
		name, fields string
		want         int
		text         string
	}{
		{"defaults", "url=https://www.example.com/a", 201, `"url":"https://www.example.com/a","project":"example.com","scope":"page","max_pages":1,"max_depth":0,"sitemap":null,"ignore_robots":0,"privacy":1,"password":false,"state":"queued"`},
		{"a site", "url=example.com&scope=site", 201, `"url":"https://example.com","project":"example.com","scope":"site","max_pages":500`},
		{"limits", "url=example.com&scope=site&max_pages=50000&max_depth=100", 201, `"max_pages":50000,"max_depth":100`},
		{"sitemap", "url=example.com&scope=site&sitemap=https://example.com/s.xml", 201, `"sitemap":"https://example.com/s.xml"`},
		{"password", "url=example.com&privacy=2&password=hunter2", 201, `"privacy":2,"password":true`},
		{"no url", "scope=site", 422, `{"url":["is required: an http or https address such as https://example.com"]}`},
		{"bad url", "url=ftp://example.com", 422, `"url":["must start with http:// or https://"]`},
		{"scope", "url=example.com&scope=world", 422, `"scope":["must be page or site"]`},
		{"too many pages", "url=example.com&scope=site&max_pages=50001", 422, `{"max_pages":["must be an integer from 1 to 50000"]}`},
		{"pages of a page", "url=example.com&max_pages=2", 422, `{"max_pages":["must be 1, or not sent, when scope is page"]}`},
		{"depth", "url=example.com&scope=site&max_depth=x", 422, `"max_depth":["must be an integer from 0 to 100"]`},
		{"sitemap of a page", "url=example.com&sitemap=https://example.com/s.xml", 422, `"sitemap":["needs scope site"]`},
		{"bad sitemap", "url=example.com&scope=site&sitemap=nowhere", 422, `"sitemap"`},
		{"password privacy needs a password", "url=example.com&privacy=2", 422, `"password":["is required when privacy is 2"]`},
		{"robots of the own site", "url=https://own.example/a&ignore_robots=1", 201, `"ignore_robots":1`},
		{"robots of the own site with www.", "url=http://www.own.example&ignore_robots=1", 201, `"ignore_robots":1`},
		{"robots of another port", "url=https://own.example:8443&ignore_robots=1", 422, `{"ignore_robots":["is for your own sites: it needs a website of own.example:8443 in your account"]}`},
		{"robots of another's site", "url=example.com&ignore_robots=1", 422, `{"ignore_robots":["is for your own sites: it needs a website of example.com in your account"]}`},
		{"robots kept", "url=example.com&ignore_robots=0", 201, `"ignore_robots":0`},
		{"bad robots", "url=own.example&ignore_robots=yes", 422, `{"ignore_robots":["must be 0 or 1"]}`},
		{"everything bad at once", "url=a b&scope=x&max_pages=0&privacy=7", 422, `{"max_pages":["must be an integer from 1 to 50000"],"privacy":["must be 0 (public), 1 (private) or 2 (password)"],"scope":["must be page or site"],"url":["must not contain spaces or control characters"]}`},
	}
	onEngines(t, func(t *testing.T, s *server) {
		s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://own.example"), 201)
		for _, test := range tests {
			got := s.form("POST", s.seo+"/api/v1/reports", test.fields)
			if got.status != test.want || !strings.Contains(got.body, test.text) || strings.Contains(got.body, "hunter2") {
				t.Errorf("%s: %d %s", test.name, got.status, got.body)
			}
		}
	})
}

// TestReportRecord goes through the life of a report that nobody audits.
func TestReportRecord(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		reports := s.seo + "/api/v1/reports"
		created := s.want(s.form("POST", reports, "url=https://shop.example/"), 201, `"state":"queued"`, `"score":null`)
		if created.header.Get("Location") != reports+"/1" || created.header.Get("ETag") == "" {
			t.Errorf("%v", created.header)
		}
		s.want(s.form("GET", s.seo+"/api/v1/projects/shop.example", ""), 200, `"reports":1`)
		s.want(s.form("POST", reports+"?wait=31", "url=https://shop.example/"), 422, `"wait":["must be an integer from 0 to 30"]`)

		read := s.want(s.form("GET", reports+"/1", ""), 200)
		s.want(s.do("GET", reports+"/1", "", "Authorization: Bearer "+s.key, "If-None-Match: "+read.header.Get("ETag")), 304)
		s.want(s.do("PUT", reports+"/1", "privacy=0", "Authorization: Bearer "+s.key, formType, `If-Match: "1-99"`), 412)
		changed := s.want(s.form("PATCH", reports+"/1", "privacy=0"), 200, `"privacy":0`)
		if changed.header.Get("ETag") == read.header.Get("ETag") {
			t.Error("a change keeps its tag")
		}
		s.want(s.form("PUT", reports+"/1", "results=2"), 422, `"results":["must be 0 or 1"]`)
		s.want(s.form("PUT", reports+"/1", "results=1"), 200, `"state":"queued"`, `"run":1`) // it waits for that already
		s.want(s.form("POST", reports+"/1/stop", ""), 200, `"state":"stopped"`)
		s.want(s.form("PUT", reports+"/1", "results=1"), 200, `"state":"queued"`, `"run":2`)
		s.want(s.form("GET", reports+"/1/runs", ""), 200, `"run":2,"state":"queued"`, `"run":1,"state":"stopped"`, `"total":2`)
		s.want(s.form("GET", reports+"/1/runs/1/compare/3", ""), 404)
		s.want(s.form("GET", reports+"/1/runs/x/compare/2", ""), 404)

		s.want(s.form("DELETE", reports+"/1", ""), 200, `"object":"report"`)
		s.want(s.form("GET", reports+"/1", ""), 404)
		s.want(s.form("GET", s.seo+"/api/v1/trash", ""), 200, `"object":"report","id":1,"url":"https://shop.example/"`)
		s.want(s.form("POST", s.seo+"/api/v1/trash/report/1/restore", ""), 200, `"id":1`)
		s.want(s.form("DELETE", s.seo+"/api/v1/projects/shop.example", ""), 200)
		s.want(s.form("GET", reports+"/1", ""), 404)
	})
}

// Whoever has given up a website cannot go past its robots.txt any more.
func TestReportOfGivenUpWebsite(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		site, report := s.analytics+"/api/v1/websites/1", s.seo+"/api/v1/reports/1"
		s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://own.example"), 201)
		s.want(s.form("POST", s.seo+"/api/v1/reports", "url=https://own.example/&ignore_robots=1"), 201)
		s.want(s.form("POST", report+"/stop", ""), 200)
		s.want(s.form("PUT", report, "results=1"), 200, `"run":2`)
		s.want(s.form("DELETE", site, ""), 200)
		s.want(s.form("PUT", report, "results=1"), 422, `"ignore_robots"`)
		s.want(s.form("PUT", report, "privacy=0"), 200, `"ignore_robots":1`)
	})
}

// A report has no tag while its audit runs, since its progress goes on.
func TestReportTag(t *testing.T) {
	s := serveWith(t, func(s *server) {
		s.web.Wake = func() {
			if _, err := s.catalog.ClaimAudit(s.Context(), "nobody", start, start.Add(time.Hour)); err != nil {
				s.Error(err)
			}
		}
	})
	reports := s.seo + "/api/v1/reports"
	created := s.want(s.form("POST", reports+"?wait=1", "url=https://shop.example/"), 201, `"state":"running"`)
	read := s.want(s.do("GET", reports+"/1?wait=1", "", "Authorization: Bearer "+s.key, "If-None-Match: *"), 200, `"state":"running"`)
	stopped := s.want(s.form("POST", reports+"/1/stop", ""), 200, `"state":"running"`)
	for _, got := range []answer{created, read, stopped} {
		if tag := got.header.Get("ETag"); tag != "" {
			t.Errorf("%s: the tag %s", got.body, tag)
		}
	}
}

// One key, many times: one report.
func TestReportIdempotency(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		once := []string{"Authorization: Bearer " + s.key, formType, "Idempotency-Key: one"}
		first := s.want(s.do("POST", s.seo+"/api/v1/reports", "url=https://shop.example/", once...), 201)
		again := s.want(s.do("POST", s.seo+"/api/v1/reports", "url=https://shop.example/", once...), 201)
		if again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s\n%s", first.body, again.body)
		}
		s.want(s.do("POST", s.seo+"/api/v1/reports", "url=https://other.example/", once...), 422, "Idempotency-Key")
		s.want(s.form("GET", s.seo+"/api/v1/reports", ""), 200, `"total":1`)
		stop := s.seo + "/api/v1/reports/1/stop"
		first = s.want(s.do("POST", stop, "", once...), 200, `"state":"stopped"`)
		s.want(s.form("PUT", s.seo+"/api/v1/reports/1", "results=1"), 200, `"state":"queued"`)
		again = s.want(s.do("POST", stop, "", once...), 200)
		if again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s\n%s", first.body, again.body)
		}
		s.want(s.form("GET", s.seo+"/api/v1/reports/1", ""), 200, `"state":"queued"`, `"run":2`)
	})
}

func TestReportLists(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		reports := s.seo + "/api/v1/reports"
		for _, url := range []string{"https://b.example/", "https://a.example/", "https://b.example/two"} {
			s.want(s.form("POST", reports, "url="+url), 201)
		}
		for query, want := range map[string]string{"": "3 2 1", "?sort=asc": "1 2 3", "?sort_by=url&sort=asc": "2 1 3", "?search=two": "3", "?project=b.example": "3 1",
			"?project=nobody.example": "", "?result=good": "", "?project=b.example&search=b&sort=asc": "1 3"} {
			if got := s.want(s.form("GET", reports+query, ""), 200); got.column("id") != want {
				t.Errorf("%s: %s, want %s", query, got.column("id"), want)
			}
		}
		s.want(s.form("GET", reports+"?result=fine&sort_by=colour&per_page=11", ""), 422, `"result"`, `"sort_by"`, `"per_page"`)
		s.want(s.form("GET", reports+"/1/findings?severity=deadly&run=0", ""), 422, `"severity"`, `"run"`)
		s.want(s.form("GET", reports+"/1/pages?class=odd", ""), 422, `"class"`)
		s.want(s.form("GET", reports+"/1/export", ""), 422, `"format":["is required: csv, json, sarif or sitemap"]`)
		s.want(s.form("GET", reports+"/1/export?format=pdf", ""), 422, `"format"`)
		s.want(s.form("GET", reports+"/1/export?format=csv&run=7", ""), 404)
	})
}

// audits has the server's reports audited by a client with these rules.
func (s *server) audits(options guard.Options) {
	client := guard.New(options)
	auditor := audit.New(crawl.New(client, crawl.Manners{PerSecond: -1, ChecksPerSecond: -1}), time.Now)
	queue := audit.NewQueue(auditor, s.catalog, 2, time.Now, slog.New(slog.NewTextHandler(s.log, nil)))
	s.queue.Store(queue)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		queue.Run(ctx)
	}()
	s.Cleanup(func() {
		cancel()
		<-ended
		client.Close()
	})
}

// TestReportResults audits a small site for real and reads all that there is to read of it.
func TestReportResults(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		var mended atomic.Bool
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/":
				fmt.Fprint(w, `<!doctype html><html lang="en"><title>=cmd()</title><a href="/about">About</a><a href="/lost">Lost</a>`)
			case "/about":
				if mended.Load() {
					fmt.Fprint(w, `<title>A title at last</title>`)
				}
				fmt.Fprint(w, `<!doctype html><h1>About</h1>`)
			default:
				http.NotFound(w, r)
			}
		}))
		defer site.Close()
		s.audits(guard.Options{Rules: guard.Rules{Unguarded: true}})
		reports := s.seo + "/api/v1/reports"
		s.want(s.form("POST", reports+"?wait=30", "scope=site&url="+site.URL), 201, `"state":"done"`, `"title.missing":{"passed":false,"severity":"error","value":null,"findings":1`)
		about := "/1/findings?check=title.missing"
		s.want(s.form("GET", reports+about, ""), 200, `"page":"`+site.URL+`/about"`, `"evidence":["no <title>"]`, `"total":1`)
		s.want(s.form("GET", reports+"/1/findings?severity=error&per_page=100", ""), 200, `"check":"link.broken_internal"`, `"check":"http.4xx"`)
		s.want(s.form("GET", reports+"/1/findings?url="+site.URL+"/lost", ""), 200, `"check":"http.4xx"`)
		s.want(s.form("GET", reports+"/1/pages?class=broken", ""), 200, `"url":"`+site.URL+`/lost","class":"broken","status":404`, `"found_from":"`+site.URL+`/"`, `"total":1`)
		s.want(s.form("GET", reports+"/1/pages?sort_by=score&search=about", ""), 200, `"total":1`)

		csv := s.want(s.do("GET", reports+"/1/export?format=csv", "", "Authorization: Bearer "+s.key, "Accept: text/csv"), 200, "severity,check,title,page", ",no <title>,")
		if csv.header.Get("Content-Type") != "text/csv; charset=utf-8" || csv.header.Get("Content-Disposition") != `attachment; filename="report-1-run-1.csv"` {
			t.Errorf("%v", csv.header)
		}
		s.want(s.form("GET", reports+"/1/export?format=json", ""), 200, `"format":1,`, `"title":"=cmd()"`)
		s.want(s.form("GET", reports+"/1/export?format=sarif", ""), 200, `"version":"2.1.0"`, `"ruleId":"title.missing"`)
		s.want(s.form("GET", reports+"/1/export?format=sitemap", ""), 200, "<loc>"+site.URL+"/about</loc>")

		mended.Store(true)
		s.want(s.form("PUT", reports+"/1", "results=1"), 200, `"run":2`)
		s.want(s.form("GET", reports+"/1?wait=30", ""), 200, `"state":"done"`, `"run":2`, `"title.missing":{"passed":true`)
		s.want(s.form("GET", reports+"/1/runs/1/compare/2", ""), 200, `"check":"title.missing","severity":"error","new":0,"fixed":1,"open":0,"new_pages":[],"fixed_pages":["`+site.URL+`/about"]`)
		s.want(s.form("GET", reports+about+"&run=1", ""), 200, `"total":1`)
		s.want(s.form("GET", reports+about, ""), 200, `"total":0`)
		project := s.form("GET", s.seo+"/api/v1/projects", "")
		if score := s.form("GET", reports+"/1", "").field("data.score"); project.field("data.0.score") != score || project.field("data.0.reports") != 1.0 {
			t.Errorf("%s, but the report has %v", project.body, score)
		}
	})
}
