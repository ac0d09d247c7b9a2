package crawl_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
)

// crawlFake crawls a site in memory and returns what was told.
func crawlFake(t *testing.T, w *web, job crawl.Job) (*notebook, crawl.Outcome) {
	t.Helper()
	notes := &notebook{}
	job.Start, job.Handler = at(site), notes
	outcome, err := crawl.New(w, crawl.Manners{}).Crawl(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return notes, outcome
}

// Pages come nearest first, each once, with where they were found; those only in a sitemap come last.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]string{
			site:                         "page /a\npage /b\npage /a#x\npage /?utm_source=x\n",
			site + "a":                   "page /a/1\n",
			site + "b":                   "page /b/1\npage /a\n",
			site + "a/1":                 "page /a/1/x\n",
			site + "b/1":                 "page https://www.site.example/w\n",
			site + "a/1/x":               "",
			site + "alone":               "page /alone/child\n",
			site + "alone/child":         "",
			"https://www.site.example/w": "",
			site + "sitemap.xml":         "<urlset><url><loc>" + site + "alone</loc></url><url><loc>" + site + "a/1/x</loc></url><url><loc>https://other.example/</loc></url></urlset>",
		}}
		notes, outcome := crawlFake(t, w, crawl.Job{})
		want := []string{"0 /", "1 /a", "1 /b", "2 /a/1", "2 /b/1", "3 /a/1/x", "3 /w", "0 /alone unlinked", "1 /alone/child unlinked"}
		var got []string
		for _, f := range notes.fetches {
			line := fmt.Sprintf("%d %s", f.Depth, f.URL.Target)
			if f.Unlinked {
				line += " unlinked"
			}
			got = append(got, line)
		}
		slices.Sort(got[1:3]) // pages of one level are fetched side by side
		slices.Sort(got[3:5])
		slices.Sort(got[5:7])
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if f := notes.find(t, site+"a/1", crawl.Page); f.From != site+"a" || f.MediaType != "text/html" || string(f.Body) != "page /a/1/x\n" {
			t.Errorf("got %+v", f)
		}
		if outcome.StoppedBy != crawl.Complete || outcome.Fetched != 9 || outcome.Pages != 9 || outcome.PagesDone != 9 {
			t.Errorf("outcome %+v", outcome)
		}
		if last := notes.progress[len(notes.progress)-1]; len(notes.progress) != 9 || last.PagesDone != 9 || last.Current != site+"alone/child" {
			t.Errorf("%d reports of progress, the last %+v", len(notes.progress), last)
		}
	})
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name    string
		limits  crawl.Limits
		fetched int
		want    crawl.Reason
	}{
		{"none reached", crawl.Limits{}, 40, crawl.Complete},
		{"exactly enough pages", crawl.Limits{Pages: 40}, 40, crawl.Complete},
		{"pages", crawl.Limits{Pages: 7}, 7, crawl.StopPages},
		{"one page", crawl.Limits{Pages: 1}, 1, crawl.StopPages},
		{"depth", crawl.Limits{Depth: 3}, 7, crawl.StopDepth},
		{"exactly enough depth", crawl.Limits{Depth: 20}, 40, crawl.Complete},
		{"known", crawl.Limits{Known: 10}, 10, crawl.StopKnown},
		{"links", crawl.Limits{Links: 1}, 40, crawl.StopKnown},
		{"time", crawl.Limits{Time: 1900 * time.Millisecond}, 8, crawl.StopTime}, // robots.txt, the sitemap, then one each 0.2 s
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &web{pages: chain(40)}
				notes, outcome := crawlFake(t, w, crawl.Job{Limits: c.limits})
				if outcome.StoppedBy != c.want || outcome.Fetched != c.fetched || len(notes.fetches) != c.fetched {
					t.Errorf("stopped by %q after %d pages, want %q after %d", outcome.StoppedBy, outcome.Fetched, c.want, c.fetched)
				}
			})
		})
	}
}

// No host is asked more often, or by more connections, than it should be.
func TestPoliteness(t *testing.T) {
	for _, c := range []struct {
		name    string
		latency time.Duration
		robots  string
		least   time.Duration // between two requests, once the host is known
		most    time.Duration
	}{
		{"five a second", 10 * time.Millisecond, "", 200 * time.Millisecond, 200 * time.Millisecond},
		{"slower with a slow host", 700 * time.Millisecond, "", 700 * time.Millisecond, 700 * time.Millisecond},
		{"but not endlessly", 20 * time.Second, "", 10 * time.Second, 20 * time.Second},
		{"crawl-delay", 10 * time.Millisecond, "User-agent: SightlineBot\nCrawl-delay: 3", 3 * time.Second, 3 * time.Second},
		{"crawl-delay beyond reason", 10 * time.Millisecond, "User-agent: *\nCrawl-delay: 3600", 30 * time.Second, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &web{pages: chain(20), latency: c.latency}
				if c.robots != "" {
					w.pages[site+"robots.txt"] = c.robots
				}
				crawlFake(t, w, crawl.Job{})
				asked := w.asked("site.example")
				for i := 3; i < len(asked); i++ {
					if gap := asked[i].Sub(asked[i-1]); gap < c.least || gap > c.most {
						t.Errorf("request %d came %v after the one before", i, gap)
					}
				}
				if len(asked) != 22 || w.busiest["site.example"] > 2 {
					t.Errorf("%d requests, up to %d at once", len(asked), w.busiest["site.example"])
				}
			})
		})
	}
}

// Hosts outside of the site are asked once a second each, side by side, whatever one of them does.
func TestChecksOfOtherHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]string{}, latency: 50 * time.Millisecond}
		for host := range 10 {
			for i := range 20 {
				w.pages[site] += fmt.Sprintf("page https://h%d.example/%d\nimage https://h%d.example/%d\n", host, i, host, i%2)
				w.pages[fmt.Sprintf("https://h%d.example/%d", host, i)] = ""
			}
		}
		start := time.Now()
		notes, outcome := crawlFake(t, w, crawl.Job{NoSitemaps: true})
		if took := time.Since(start); took > 24*time.Second {
			t.Errorf("220 checks on ten hosts took %v", took)
		}
		for host := range 10 {
			name := fmt.Sprintf("h%d.example", host)
			asked := w.asked(name)
			for i := 1; i < len(asked); i++ {
				if gap := asked[i].Sub(asked[i-1]); gap < time.Second {
					t.Errorf("%s is asked again after %v", name, gap)
				}
			}
			if len(asked) != 22 {
				t.Errorf("%s is asked %d times", name, len(asked))
			}
		}
		if outcome.Checks != 220 || outcome.ChecksDone != 220 || len(notes.fetches) != 221 || outcome.StoppedBy != crawl.Complete {
			t.Errorf("%d told, outcome %+v", len(notes.fetches), outcome)
		}
	})
}

func TestChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]string{
			site: "image /there.png\nimage /gone.png\nasset /no-head.js\npage https://other.example/\nimage /there.png\npage /p\n", site + "p": "image /there.png\n",
			site + "there.png": "", site + "no-head.js": "", "https://other.example/": ""}}
		w.answer = func(url string, n int) *guard.Hop {
			if url == site+"no-head.js" && n == 0 {
				return &guard.Hop{Status: http.StatusMethodNotAllowed}
			}
			return nil
		}
		notes, _ := crawlFake(t, w, crawl.Job{NoSitemaps: true})
		for url, want := range map[string]struct {
			kind    crawl.Kind
			status  int
			methods string
		}{
			site + "there.png":       {crawl.Image, 200, "HEAD"},
			site + "gone.png":        {crawl.Image, 404, "HEAD GET"},
			site + "no-head.js":      {crawl.Asset, 200, "HEAD GET"},
			"https://other.example/": {crawl.External, 200, "HEAD"},
		} {
			var methods []string
			for _, r := range w.log {
				if r.url == url {
					methods = append(methods, r.method)
				}
			}
			if f := notes.find(t, url, want.kind); f.Status != want.status || strings.Join(methods, " ") != want.methods {
				t.Errorf("%s: %d by %v", url, f.Status, methods)
			}
		}
		notes, _ = crawlFake(t, w, crawl.Job{NoSitemaps: true, NoChecks: true})
		if len(notes.fetches) != 2 {
			t.Errorf("without checks: %v", notes.told())
		}
	})
}

func TestBusyHost(t *testing.T) {
	busy := func(after string) *guard.Hop {
		return &guard.Hop{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {after}}}
	}
	for _, c := range []struct {
		name, after string
		times       int // how often /p1 is refused
		wait        time.Duration
		status      int
	}{
		{"asks for seven seconds", "7", 1, 7 * time.Second, 200},
		{"asks for a date", "Sat, 01 Jan 2000 00:00:20 GMT", 1, 19 * time.Second, 200}, // the clock starts at midnight
		{"asks for nothing", "", 1, time.Second, 200},
		{"asks for nonsense", "soon", 1, time.Second, 200},
		{"asks for a year", "31536000", 1, time.Minute, 200},
		{"asks for more than there is", "99999999999999999999", 1, time.Second, 200},
		{"asks for the past", "-5", 1, time.Second, 200},
		{"twice", "", 2, time.Second, 200},
		{"three times", "", 3, time.Second, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &web{pages: chain(3)}
				w.answer = func(url string, n int) *guard.Hop {
					if url == site+"p1" && n < c.times {
						return busy(c.after)
					}
					return nil
				}
				notes, outcome := crawlFake(t, w, crawl.Job{NoSitemaps: true})
				refused := slices.IndexFunc(w.log, func(r request) bool { return r.url == site+"p1" })
				if gap := w.log[refused+1].at.Sub(w.log[refused].at); gap < c.wait || gap > c.wait+time.Second {
					t.Errorf("the host is asked again after %v, want %v", gap, c.wait)
				}
				if f := notes.find(t, site+"p1", crawl.Page); f.Status != c.status || outcome.StoppedBy != crawl.Complete || outcome.Fetched != 3 {
					t.Errorf("status %d, outcome %+v", f.Status, outcome)
				}
			})
		})
	}
}

// A site that has stopped answering ends its crawl; another host that has costs only a few tries.
func TestDown(t *testing.T) {
	refused := &guard.Failure{Kind: guard.Refused, Text: "refused"}
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: map[string]string{}}
		for i := range 100 {
			w.pages[site] += fmt.Sprintf("page /%d\npage https://other.example/%d\n", i, i)
		}
		w.fail = func(url string) *guard.Failure {
			if url == site || url == site+"robots.txt" {
				return nil
			}
			return refused
		}
		notes, outcome := crawlFake(t, w, crawl.Job{NoSitemaps: true})
		if n := len(w.asked("other.example")); n > 5 {
			t.Errorf("the other host is asked %d times", n)
		}
		if n := len(w.asked("site.example")); n > 20 || outcome.StoppedBy != crawl.StopDown {
			t.Errorf("the site is asked %d times, outcome %+v", n, outcome)
		}
		if outcome.ChecksDone != 100 || notes.find(t, "https://other.example/99", crawl.External).Err.Kind != guard.Refused {
			t.Errorf("checks: %+v", outcome)
		}
	})
	synctest.Test(t, func(t *testing.T) { // 503 for everything, for ever
		w := &web{pages: chain(100)}
		w.answer = func(url string, _ int) *guard.Hop {
			if url == site || url == site+"robots.txt" {
				return nil
			}
			return &guard.Hop{Status: http.StatusServiceUnavailable}
		}
		for i := range 100 {
			w.pages[site] += fmt.Sprintf("\npage /p%d", i)
		}
		start := time.Now()
		_, outcome := crawlFake(t, w, crawl.Job{NoSitemaps: true})
		if took := time.Since(start); outcome.StoppedBy != crawl.StopDown || took > time.Hour {
			t.Errorf("outcome %+v after %v", outcome, took)
		}
	})
}

func TestRobots(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		fail   guard.Kind
		ignore bool
		want   string
	}{
		{"a file", 200, "", false, "200 /, 200 /open, robots /closed"},
		{"a file that is ignored", 200, "", true, "200 /, 200 /closed, 200 /open"},
		{"none", 404, "", false, "200 /, 200 /closed, 200 /open"},
		{"forbidden", 403, "", false, "200 /, 200 /closed, 200 /open"},
		{"an error", 500, "", false, "robots /"},
		{"too many requests", 429, "", false, "robots /"},
		{"an error that is ignored", 500, "", true, "200 /, 200 /closed, 200 /open"},
		{"unreachable", 0, guard.Timeout, false, "timeout /"},
		{"not HTTP", 0, guard.Protocol, false, "robots /"},
		{"redirects without end", 0, guard.TooManyRedirects, false, "200 /, 200 /closed, 200 /open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &web{pages: map[string]string{site: "page /open\npage /closed\n", site + "open": "", site + "closed": "",
					site + "robots.txt": "User-agent: SightlineBot\nDisallow: /closed"}}
				w.answer = func(url string, _ int) *guard.Hop {
					if url == site+"robots.txt" {
						return &guard.Hop{Status: c.status}
					}
					return nil
				}
				w.fail = func(url string) *guard.Failure {
					if url == site+"robots.txt" && c.fail != "" {
						return &guard.Failure{Kind: c.fail, Text: "failed"}
					}
					return nil
				}
				notes, _ := crawlFake(t, w, crawl.Job{IgnoreRobots: c.ignore, NoSitemaps: true})
				got := notes.told()
				sort.Strings(got)
				if text := strings.ReplaceAll(strings.Join(got, ", "), site, "/"); text != c.want {
					t.Errorf("got %s, want %s", text, c.want)
				}
				if len(notes.robots) != 1 || notes.robots[0].URL != site+"robots.txt" || (notes.robots[0].Closed != nil) != (c.status >= 429 || c.fail == guard.Timeout || c.fail == guard.Protocol) {
					t.Errorf("the handler is told %+v", notes.robots)
				}
				for _, f := range notes.fetches {
					if c.status == 200 && f.Rule.Disallow != (f.URL.Target == "/closed") || f.Err != nil && f.Hops != nil {
						t.Errorf("got %+v", f)
					}
				}
			})
		})
	}
}

// A crawl that was killed goes on where its frontier says, and fetches again only what was not saved.
func TestResume(t *testing.T) {
	for kill := 1; kill < 12; kill++ {
		synctest.Test(t, func(t *testing.T) {
			w := &web{pages: chain(60)}
			frontier := &mortal{Memory: crawl.NewMemory(), left: kill}
			first := &notebook{}
			crawler := crawl.New(w, crawl.Manners{PerSecond: 20})
			_, err := crawler.Crawl(t.Context(), crawl.Job{Start: at(site), Handler: first, Frontier: frontier, NoSitemaps: true})
			if err == nil {
				t.Fatal("the frontier did not fail")
			}
			saved, err := frontier.Memory.Save(t.Context(), crawl.Step{})
			if err != nil {
				t.Fatal(err)
			}
			second := &notebook{}
			outcome, err := crawler.Crawl(t.Context(), crawl.Job{Start: at(site), Handler: second, Frontier: frontier.Memory, NoSitemaps: true})
			if err != nil || outcome.StoppedBy != crawl.Complete || outcome.PagesDone != 60 || outcome.Fetched != 60 {
				t.Fatalf("outcome %+v, %v", outcome, err)
			}
			if len(second.fetches) != 60-saved.PagesDone {
				t.Errorf("%d pages are fetched after %d were saved", len(second.fetches), saved.PagesDone)
			}
			all := map[string]bool{}
			for _, f := range slices.Concat(first.fetches, second.fetches) {
				all[f.URL.URL] = true
			}
			if len(all) != 60 {
				t.Errorf("%d pages were told of", len(all))
			}
		})
	}
}

// A mortal frontier fails after some saves, as if the program had been killed then.
type mortal struct {
	*crawl.Memory
	left int
}

var errKilled = errors.New("killed")

func (m *mortal) Save(ctx context.Context, s crawl.Step) (crawl.Totals, error) {
	if m.left--; m.left < 0 {
		return crawl.Totals{}, errKilled
	}
	return m.Memory.Save(ctx, s)
}

// A crawl that is stopped stops at once, and what it has done is saved.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: chain(50), latency: 20 * time.Second}
		ctx, cancel := context.WithCancel(t.Context())
		notes := &notebook{}
		notes.onFetch = func(*crawl.Fetch) {
			if len(notes.fetches) == 5 {
				time.AfterFunc(15*time.Second, cancel)
			}
		}
		frontier := crawl.NewMemory()
		var stopped time.Time
		context.AfterFunc(ctx, func() { stopped = time.Now() })
		outcome, err := crawl.New(w, crawl.Manners{}).Crawl(ctx, crawl.Job{Start: at(site), Handler: notes, Frontier: frontier})
		if !errors.Is(err, context.Canceled) || outcome.StoppedBy != crawl.StopCanceled || outcome.PagesDone != len(notes.fetches) {
			t.Errorf("outcome %+v after %d fetches, %v", outcome, len(notes.fetches), err)
		}
		if synctest.Wait(); !time.Now().Equal(stopped) {
			t.Errorf("it went on for %v", time.Since(stopped))
		}
		cancel()
	})
}

// What a handler cannot store ends the crawl, and is fetched again by the next.
func TestHandlerFails(t *testing.T) {
	full := errors.New("disk full")
	for name, handler := range map[string]*notebook{"page": {err: full}, "robots": {robotsErr: full}, "late page": {err: context.DeadlineExceeded}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outcome, err := crawl.New(&web{pages: chain(5)}, crawl.Manners{}).Crawl(t.Context(), crawl.Job{Start: at(site), Handler: handler, NoSitemaps: true})
				if want := cmp.Or(handler.err, handler.robotsErr); !errors.Is(err, want) || outcome.PagesDone != 0 {
					t.Errorf("outcome %+v, %v", outcome, err)
				}
			})
		})
	}
}

func TestConditional(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: chain(3)}
		w.answer = func(url string, n int) *guard.Hop {
			if url == site+"p1" || url == site+"p2" {
				return &guard.Hop{Status: http.StatusNotModified}
			}
			return nil
		}
		notes, _ := crawlFake(t, w, crawl.Job{NoSitemaps: true, Validators: func(url string) (string, string) {
			if url == site+"p1" {
				return `"v1"`, "Mon, 01 Jan 2024 00:00:00 GMT"
			}
			return "", ""
		}})
		if f := notes.find(t, site+"p1", crawl.Page); !f.Unchanged || f.Status != 304 {
			t.Errorf("got %+v", f)
		}
		if f := notes.find(t, site+"p2", crawl.Page); f.Unchanged { // an answer to a question that was not asked
			t.Errorf("got %+v", f)
		}
		for _, r := range w.log {
			if sent := r.header.Get("If-None-Match") == `"v1"` && r.header.Get("If-Modified-Since") != ""; sent != (r.url == site+"p1") {
				t.Errorf("%s is asked for with %v", r.url, r.header)
			}
		}
	})
}
