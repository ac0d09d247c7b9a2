package beacon_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sightline/internal/account"
	"sightline/internal/collect"
	"sightline/internal/store/memory"
	"sightline/internal/web"
	"sightline/internal/web/beacon"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// stopBrowser ends the browser, if a test has started it.
var stopBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

// browser is the one Chromium of all tests. All names that end in .test are this machine.
var browser = sync.OnceValues(func() (context.Context, error) {
	allocator, release := chromedp.NewExecAllocator(context.Background(),
		chromedp.Flag("headless", true), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("no-proxy-server", true),
		chromedp.Flag("disable-blink-features", "AutomationControlled"), // else clients take it for a robot
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"), chromedp.UserAgent(agent), chromedp.WSURLReadTimeout(patience))
	ctx, closeBrowser := chromedp.NewContext(allocator)
	stopBrowser = func() { closeBrowser(); release() }
	return ctx, chromedp.Do(ctx)
})

// A visit is a tab on a small site, with a real analytics area that records what it is told.
type visit struct {
	*testing.T
	tab         context.Context
	collector   *recorder
	site, stats string            // addresses: the site has many names, the analytics area one
	pages       map[string]string // the site: paths to HTML
}

// newVisit opens a tab. A page is wrapped into a document; {snippet} in it stands for the snippet, {stats} for the address of the
// analytics area.
func newVisit(t *testing.T, snippet beacon.Snippet, pages map[string]string) *visit {
	t.Helper()
	v := &visit{T: t, collector: newRecorder(), pages: pages}
	v.stats = v.serveStats()
	snippet.Base, snippet.Site = v.stats, "tracking-id"
	clients := http.StripPrefix("/clients/", http.HandlerFunc(serveClient))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, known := v.pages[r.URL.Path]
		switch {
		case strings.HasPrefix(r.URL.Path, "/clients/"):
			clients.ServeHTTP(w, r)
		case !known:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><title>%s</title><body>%s", r.URL.Path, strings.NewReplacer("{snippet}", snippet.String(), "{stats}", v.stats).Replace(content))
		}
	}))
	t.Cleanup(server.Close)
	v.site = strings.Replace(server.URL, "127.0.0.1", "site.test", 1)
	parent, err := browser()
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	ctx, closeTab := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	t.Cleanup(cancel)
	v.tab = ctx
	v.run()
	return v
}

// serveStats serves the analytics area as the program does.
func (v *visit) serveStats() string {
	db := memory.Open()
	place := &web.Place{URL: &url.URL{Scheme: "http", Host: "stats.test"}}
	s := &web.Server{SEO: &web.Place{}, Analytics: place, Catalog: db, Gate: account.NewGate(db, time.Now), Collector: v.collector,
		Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	server := httptest.NewServer(s.Handler(place))
	v.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "stats.test", 1)
}

// serveClient serves a file of an installed npm package; modules are named without .js in some.
func serveClient(w http.ResponseWriter, r *http.Request) {
	name := path.Clean("/" + r.URL.Path)
	if path.Ext(name) == "" {
		name += ".js"
	}
	file := filepath.Join("..", "..", "..", "testdata", "clients", "node_modules", filepath.FromSlash(name))
	if _, err := os.Stat(file); err != nil {
		http.Error(w, "not installed: run scripts/clients", http.StatusNotFound)
		return
	}
	http.ServeFile(w, r, file)
}

// run does something in the tab.
func (v *visit) run(steps ...chromedp.Action[chromedp.Void]) {
	v.Helper()
	if err := chromedp.Do(v.tab, steps...); err != nil {
		v.Fatal(err)
	}
}

// open loads a page of the site, or of an address.
func (v *visit) open(address string) {
	v.Helper()
	if strings.HasPrefix(address, "/") {
		address = v.site + address
	}
	v.run(chromedp.Navigate(address))
}

// do runs a script in the page and waits for what it promises.
func (v *visit) do(script string) any {
	v.Helper()
	result, err := chromedp.Run(v.tab, chromedp.Evaluate[any](script, chromedp.EvalAwaitPromise))
	if err != nil {
		v.Fatalf("%s: %v", script, err)
	}
	return result
}

// before runs a script in every page, before its own.
func (v *visit) before(script string) {
	v.Helper()
	v.run(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}))
}

// command is an action that sends a command of the DevTools protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, c, params)
		return err
	})
}

// hits waits for the hits of some names: as many as wanted, in whatever order they come.
func (v *visit) hits(count int, names ...string) []collect.Hit {
	v.Helper()
	deadline := time.After(patience)
	for {
		v.collector.mu.Lock()
		var found []collect.Hit
		for _, hit := range v.collector.hits {
			if len(names) == 0 || slices.Contains(names, hit.Name) {
				found = append(found, hit)
			}
		}
		came := v.collector.came
		v.collector.mu.Unlock()
		if len(found) >= count {
			if len(found) > count {
				v.Errorf("%d hits, want %d: %+v", len(found), count, found)
			}
			return found
		}
		select {
		case <-came:
		case <-deadline:
			v.Fatalf("%d hits came, want %d: %+v", len(found), count, found)
		}
	}
}

// want waits for hits and compares them in a short form, such as "pageview /a". The site's own address is left out.
func (v *visit) want(want ...string) {
	v.Helper()
	var got []string
	for _, hit := range v.hits(len(want)) {
		got = append(got, v.short(hit))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		v.Errorf("hits\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func (v *visit) short(hit collect.Hit) string {
	text := hit.Name + " " + strings.TrimPrefix(hit.URL, v.site)
	for _, name := range slices.Sorted(maps.Keys(hit.Props)) {
		text += " " + name + "=" + strings.TrimPrefix(hit.Props[name], v.site)
	}
	if hit.Value != 0 {
		text += fmt.Sprint(" ", hit.Value, hit.Unit)
	}
	return text
}
