package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sightline/internal/web/beacon"
)

// chromium is an ordinary browser; it says so, although it runs without a screen.
const chromium = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"

// clientPages are a page for each client; {stats} stands for the analytics area, {domain} for that of the page. Each counts a view of
// itself, and then an event when do is called, which promises when that was answered or sent.
var clientPages = map[string]string{
	"own.test": `{snippet}<script>window.report = () => sightline('purchase', {plan: 'pro'}, 12.5); window.ready = true</script>`,
	"first.test": `<script type=module>
		import Plausible from '/plausible-tracker/build/module/index.js'
		const tracker = Plausible({domain: '{domain}', apiHost: '{stats}'})
		tracker.trackPageview()
		window.report = () => new Promise(callback => tracker.trackEvent('purchase', {props: {plan: 'pro'}, callback}))
		window.ready = true
	</script>`,
	"second.test": `<script type=module>
		import {init, track} from '/@plausible-analytics/tracker/plausible.js'
		init({domain: '{domain}', endpoint: '{stats}/api/event'})
		window.report = () => new Promise(callback => track('purchase', {props: {plan: 'pro'}, revenue: {currency: 'EUR', amount: 12.5}, callback}))
		window.ready = true
	</script>`,
}

// Our tracker and both npm packages of Plausible, in a real browser, end in the right numbers.
func TestCountedClients(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"--data", t.TempDir()})
	var site *httptest.Server
	websites := map[string]*counted{}
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			serveModule(w, r)
			return
		}
		name, _, _ := strings.Cut(r.Host, ":")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		snippet := beacon.Snippet{Base: p.analytics, Site: websites[name].tracking}
		fmt.Fprint(w, "<!doctype html><title>a page</title><body>"+strings.NewReplacer("{snippet}", snippet.String(), "{stats}", p.analytics, "{domain}", r.Host).Replace(clientPages[name]))
	}))
	t.Cleanup(site.Close)
	port := site.URL[strings.LastIndexByte(site.URL, ':'):]
	for name := range clientPages {
		websites[name] = count(t, p, programKey, "http://"+name+port)
	}
	tab := openBrowser(t)
	for name, c := range websites {
		visit(t, tab, "http://"+name+port+"/?utm_source=letter&a=b")
		value := "12.5"
		if name == "first.test" { // which knows no revenue
			value = "0"
		}
		c.awaitStats("metrics=visitors,visits,pageviews,events,event_value,bounce_rate",
			`[{"visitors":1,"visits":1,"pageviews":1,"events":1,"event_value":`+value+`,"bounce_rate":0}]`)
		for query, want := range map[string]string{
			"by=page&metrics=pageviews":            `[{"page":"/?a=b","pageviews":1}]`,
			"by=source&metrics=visits":             `[{"source":"letter","visits":1}]`,
			"by=browser&metrics=visitors":          `[{"browser":"Chrome","visitors":1}]`,
			"by=prop:plan&metrics=events":          `[{"prop:plan":"pro","events":1}]`,
			"by=event&metrics=events":              `[{"event":"purchase","events":1}]`,
			"metrics=visits&filter=page:is:/other": `[{"visits":0}]`,
		} {
			if got := c.stats(query); got != want {
				t.Errorf("%s, %s: %s, want %s", name, query, got, want)
			}
		}
		if name != "first.test" { // which reports nothing when a page is left
			c.awaitStats("metrics=scroll_depth", `[{"scroll_depth":100}]`)
		}
		if events, samples := c.ledger(); len(events) > 0 {
			t.Errorf("%s: left out %v %q", name, events, samples)
		}
	}
}

// openBrowser opens a tab in which names that end in .test are this machine.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	allocator, release := chromedp.NewExecAllocator(context.Background(),
		chromedp.Flag("headless", true), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("no-proxy-server", true), chromedp.Flag("disable-blink-features", "AutomationControlled"), // else clients take it for a robot
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"), chromedp.UserAgent(chromium), chromedp.WSURLReadTimeout(startTime))
	t.Cleanup(release)
	browser, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(closeBrowser)
	tab, cancel := context.WithTimeout(browser, startTime)
	t.Cleanup(cancel)
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return tab
}

// visit opens a page, lets it report an event, and leaves it.
func visit(t *testing.T, tab context.Context, address string) {
	t.Helper()
	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	const act = `new Promise(function poll(done) { window.ready ? done() : setTimeout(poll, 5, done) }).then(() => report()).then(() => new Promise(done => setTimeout(done, 50)))`
	must(chromedp.Run(tab, chromedp.Evaluate[any](act, chromedp.EvalAwaitPromise)))(t)
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
}

// serveModule serves a file of an installed npm package; modules are named without .js in some.
func serveModule(w http.ResponseWriter, r *http.Request) {
	name := path.Clean(r.URL.Path)
	if path.Ext(name) == "" {
		name += ".js"
	}
	http.ServeFile(w, r, filepath.Join("..", "..", "testdata", "clients", "node_modules", filepath.FromSlash(name))) // scripts/clients installs them
}
