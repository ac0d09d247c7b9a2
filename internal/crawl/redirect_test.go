package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sightline/internal/crawl"
	"sightline/internal/crawl/guard"
)

// An address that redirects comes with its hops and without a body; where it leads comes once, however many lead there.
func TestRedirects(t *testing.T) {
	texts := map[string]string{"/home": "page /moved\npage /twice\npage /dead\npage /closed-away\npage /abroad\npage /end\n",
		"/robots.txt": "User-agent: *\nDisallow: /closed$", "/end": "page /\n"}
	leads := map[string]string{"/": "/home", "/moved": "/twice", "/twice": "/end", "/dead": "/nothing", "/closed-away": "/closed", "/abroad": "http://127.0.0.3:1/"}
	var closed atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := leads[r.URL.Path]; to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		closed.Store(closed.Load() || r.URL.Path == "/closed")
		serveText(texts)(w, r)
	}))
	defer server.Close()
	client := guard.New(guard.Options{Rules: guard.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	defer client.Close()
	notes := &notebook{}
	outcome, err := crawl.New(client, crawl.Manners{PerSecond: -1, ChecksPerSecond: -1}).Crawl(t.Context(),
		crawl.Job{Start: at(server.URL), Handler: notes, NoSitemaps: true})
	if err != nil || outcome.StoppedBy != crawl.Complete {
		t.Fatalf("outcome %+v, %v", outcome, err)
	}
	var got []string
	for _, f := range notes.fetches {
		var hops []string
		for _, hop := range f.Hops {
			hops = append(hops, fmt.Sprintf("%d", hop.Status))
		}
		line := fmt.Sprintf("%s %s", f.URL.Target, strings.Join(hops, ">"))
		if f.Err != nil {
			line += " " + string(f.Err.Kind)
		}
		if len(f.Body) > 0 {
			line += " body"
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{"/ 302>200", "/abroad 302>0 refused", "/closed  robots", "/closed-away 302>0 robots", "/dead 302>404", "/end 200 body",
		"/home 200 body", "/moved 302>302>200", "/nothing 404 body", "/twice 302>200"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if f := notes.find(t, server.URL+"/home", crawl.Page); f.From != server.URL+"/" || f.Depth != 0 {
		t.Errorf("the end of a redirect comes from %q at depth %d", f.From, f.Depth)
	}
	if closed.Load() {
		t.Error("a redirect led to what robots.txt disallows")
	}
}
