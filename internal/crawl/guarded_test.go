package crawl_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/crawltest"
	"sightline/internal/crawl/guard"
)

// No spelling of a private address is ever connected to: not asked for directly, not by a redirect, not by DNS that changes
// its mind, not by a sitemap, a robots.txt or a link.
func TestPrivateAddressesStayOutOfReach(t *testing.T) {
	trap, names := crawltest.NewTrap(t), crawltest.NewNames(t)
	rules := guard.Rules{AllowPrivate: []netip.Prefix{netip.PrefixFrom(crawltest.Public, 32)}, AllowPorts: []uint16{uint16(trap.Port)}}
	limits := guard.Limits{Time: 5 * time.Second}
	client := guard.New(guard.Options{Rules: rules, Limits: limits, Resolver: names.Resolver()})
	crawler := crawl.New(client, crawl.Manners{PerSecond: -1, ChecksPerSecond: -1})
	public := fmt.Sprintf("http://public.test:%d/", trap.Port)
	ways := map[string]func(spelling string) (start string, h http.HandlerFunc){
		"direct": func(s string) (string, http.HandlerFunc) { return s, http.NotFound },
		"redirect": func(s string) (string, http.HandlerFunc) {
			return public, func(w http.ResponseWriter, r *http.Request) { w.Header()["Location"] = []string{s}; w.WriteHeader(302) }
		},
		"rebinding": func(s string) (string, http.HandlerFunc) {
			names.Rebind("rebind.test", crawltest.Meant(s))
			return fmt.Sprintf("http://rebind.test:%d/", trap.Port), http.NotFound
		},
		"sitemap": func(s string) (string, http.HandlerFunc) {
			return public, serveText(map[string]string{"/robots.txt": "Sitemap: " + s,
				"/sitemap.xml": "<sitemapindex><sitemap><loc>" + strings.ReplaceAll(s, "&", "&amp;") + "</loc></sitemap></sitemapindex>", "/": ""})
		},
		"robots": func(s string) (string, http.HandlerFunc) {
			return public, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					w.Header()["Location"] = []string{s}
					w.WriteHeader(301)
				}
			}
		},
		"link": func(s string) (string, http.HandlerFunc) {
			return public, serveText(map[string]string{"/": "page " + s + "\nimage " + s + "x.png\n"})
		},
	}
	for way, prepare := range ways {
		for _, pattern := range crawltest.Spellings {
			spelling := fmt.Sprintf(pattern, trap.Port)
			start, handler := prepare(spelling)
			trap.Serve(handler)
			to, err := address.Parse(start)
			if err != nil {
				continue // refused before anything is asked for
			}
			notes := &notebook{}
			if _, err := crawler.Crawl(t.Context(), crawl.Job{Start: to, Handler: notes}); err != nil {
				t.Fatal(err)
			}
			if n := trap.Caught.Swap(0); n != 0 {
				t.Errorf("%s to %s: %d connections", way, spelling, n)
			}
			if way == "rebinding" && names.Lookups("rebind.test") < 2 {
				t.Errorf("%s to %s: the name was not looked up again", way, spelling)
			}
			if way == "direct" && (len(notes.fetches) != 1 || notes.fetches[0].Err == nil) {
				t.Errorf("%s to %s: told %v", way, spelling, notes.told())
			}
		}
	}
}

// serveText serves texts by path; all else is not found.
func serveText(pages map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, known := pages[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(text))
	}
}

// The test above can fail: without the guard most of the spellings do connect.
func TestSpellingsAreReal(t *testing.T) {
	trap, names := crawltest.NewTrap(t), crawltest.NewNames(t)
	trap.Serve(http.NotFound)
	client := guard.New(guard.Options{Rules: guard.Rules{Unguarded: true}, Limits: guard.Limits{Time: 2 * time.Second}, Resolver: names.Resolver()})
	reached := 0
	for _, pattern := range crawltest.Spellings {
		to, err := address.Parse(fmt.Sprintf(pattern, trap.Port))
		if ip := crawltest.Meant(to.URL); err != nil || !ip.Unmap().IsLoopback() && !ip.IsUnspecified() {
			continue // not this machine
		}
		client.Fetch(t.Context(), guard.Request{URL: to, Method: http.MethodGet, Limits: guard.Limits{Redirects: -1}})
		if trap.Caught.Swap(0) > 0 {
			reached++
		}
	}
	if reached < 20 {
		t.Errorf("only %d spellings lead to this machine", reached)
	}
}
