package beacon_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sightline/internal/web/beacon"
)

// plain is a page with nothing but the snippet.
const plain = "{snippet}"

func TestFirstLoad(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/": plain, "/from": `<a id=link href="/page?a=b&c=%zz#part">go</a>`, "/page": plain})
	v.open("/from")
	v.run(chromedp.Click("#link"))
	hit := v.hits(1)[0]
	if hit.Site != "tracking-id" || hit.Name != "pageview" || hit.URL != v.site+"/page?a=b&c=%zz" || hit.Referrer != v.site+"/from" || hit.HashMode {
		t.Errorf("%+v", hit)
	}
	if hit.Agent != agent || !hit.Address.IsLoopback() || !strings.HasPrefix(hit.Language, "en") || hit.Screen == "" || hit.Screen == "0" || hit.Speculative {
		t.Errorf("%+v", hit)
	}
	if left := v.do("document.cookie + localStorage.length + sessionStorage.length"); left != "00" {
		t.Errorf("something is stored in the browser: %v", left)
	}
}

func TestSinglePageNavigation(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/": plain})
	v.open("/")
	v.do(`history.pushState({}, '', '/a')`)
	v.do(`history.replaceState({}, '', '/b?c')`)
	if state := v.do(`history.replaceState({kept: 1}, '', '/b?c'), history.state.kept`); state != 1.0 { // the same page
		t.Errorf("the state of the page is %v", state)
	}
	v.do(`history.pushState({}, '', '/b?c#part')`)
	v.do(`location.hash = 'other'`)
	v.do(`new Promise(done => { addEventListener('popstate', () => location.pathname == '/' ? done() : history.back()); history.back() })`)
	v.do(`sightline('end')`)
	v.want("pageview /", "engagement /", "pageview /a", "engagement /a", "pageview /b?c", "engagement /b?c", "pageview /", "end /")
	from := map[string]string{}
	for _, hit := range v.hits(4, "pageview") {
		from[strings.TrimPrefix(hit.URL, v.site)] += strings.TrimPrefix(hit.Referrer, v.site) + " "
	}
	if from["/a"] != "/ " || from["/b?c"] != "/a " || from["/"] != " /b?c " && from["/"] != "/b?c  " {
		t.Errorf("referrers %q", from)
	}
}

func TestHashMode(t *testing.T) {
	v := newVisit(t, beacon.Snippet{Hash: true}, map[string]string{"/": `{snippet}<a id=link href="#/b">b</a>`})
	v.open("/#/a")
	v.run(chromedp.Click("#link"))
	v.hits(2, "pageview")
	v.do(`location.hash = '/c'`)
	v.hits(3, "pageview")
	v.do(`new Promise(done => { addEventListener('hashchange', done); history.back() })`)
	v.want("pageview /#/a", "engagement /#/a", "pageview /#/b", "engagement /#/b", "pageview /#/c", "engagement /#/c", "pageview /#/b")
	if hits := v.hits(4, "pageview"); !hits[0].HashMode || !hits[3].HashMode {
		t.Errorf("%+v", hits)
	}
}

func TestBackForwardCache(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/a": `{snippet}<script>addEventListener('pageshow', e => window.back = e.persisted)</script>`, "/b": plain})
	v.open("/a")
	v.open("/b")
	v.hits(2, "pageview")
	v.do(`void history.back()`)
	v.want("pageview /a", "engagement /a", "pageview /b", "engagement /b", "pageview /a")
	if v.do("window.back") != true {
		t.Error("the page was loaded again: this test saw nothing")
	}
}

// wait lets a little time pass in the page, and hide takes the page out of view or brings it back.
const (
	wait = `new Promise(done => setTimeout(done, 30))`
	hide = `window.hide = hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true}); document.dispatchEvent(new Event('visibilitychange', {bubbles: true})) };`
)

func TestEngagement(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/long": `{snippet}<div style="height: 4000px">`, "/short": plain})
	v.before(hide)
	v.open("/long")
	v.do(wait)
	v.do(`hide(true)`)
	v.do(`hide(true)`) // nothing new to tell
	top := v.hits(1, "engagement")[0]
	v.do(`hide(false)`)
	v.do(`new Promise(done => { addEventListener('scroll', () => setTimeout(done)); scrollTo(0, 1e6) })`)
	v.do(`scrollTo(0, 0)`)
	v.do(wait)
	v.open("/short")
	v.want("pageview /long", "engagement /long", "engagement /long", "pageview /short")
	bottom := v.hits(2, "engagement")[1]
	if top.Engagement < 20*time.Millisecond || top.Engagement > patience || top.Depth < 5 || top.Depth > 50 {
		t.Errorf("at the top %+v", top)
	}
	if bottom.Engagement < 20*time.Millisecond || bottom.Engagement > patience || bottom.Depth != 100 {
		t.Errorf("at the bottom %+v", bottom)
	}
	v.open("about:blank")
	if hits := v.hits(3, "engagement"); hits[2].URL != v.site+"/short" || hits[2].Depth != 100 {
		t.Errorf("a page that fits %+v", hits[2])
	}
}

// A page that the browser opens ahead counts when it is shown, and what it reports waits until then.
func TestHiddenPage(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/": plain})
	v.before(hide + `hide(true)`)
	v.open("/")
	v.do(`sightline('early', {a: 1})`)
	v.do(`history.replaceState({}, '', '/shown')`)
	v.hits(0)
	v.do(`hide(false)`)
	v.want("pageview /shown", "early /shown a=1")
}

func TestEvents(t *testing.T) {
	v := newVisit(t, beacon.Snippet{Early: true}, map[string]string{"/": `{snippet}<script>sightline('first'); sightline('second', {plan: 'pro', seats: 3, trial: true})</script>`})
	v.open("/")
	v.do(`sightline('third', {name: '\u2603 & "<b>"'}, 49.9)`)
	v.do(`sightline('fourth', undefined, 5)`)
	v.want("pageview /", "first /", "second / plan=pro seats=3 trial=true", `third / name=☃ & "<b>" 49.9`, "fourth / 5")
}

func TestEventsWithoutQueue(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, map[string]string{"/": plain})
	v.open("/")
	v.do(`sightline('late')`)
	v.want("pageview /", "late /")
}

func TestPrivacyWishes(t *testing.T) {
	for _, test := range []struct {
		name    string
		snippet beacon.Snippet
		wish    string
		counted bool
	}{
		{"no wish", beacon.Snippet{DNT: true}, "", true},
		{"Do Not Track", beacon.Snippet{DNT: true}, `Object.defineProperty(navigator, 'doNotTrack', {value: '1'})`, false},
		{"Do Not Track off", beacon.Snippet{DNT: true}, `Object.defineProperty(navigator, 'doNotTrack', {value: '0'})`, true},
		{"Global Privacy Control", beacon.Snippet{DNT: true}, `Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})`, false},
		{"the site does not ask", beacon.Snippet{}, `Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newVisit(t, test.snippet, map[string]string{"/": plain})
			v.before(test.wish)
			v.open("/")
			v.checkCounted(test.counted)
		})
	}
}

// checkCounted uses the page and expects hits or none.
func (v *visit) checkCounted(counted bool) {
	v.Helper()
	v.do(`sightline('event')`)
	v.do(`history.pushState({}, '', '/next')`)
	v.do(`navigator.sendBeacon('` + v.stats + `/api/event', '{"s":"x","n":"end"}')`)
	if counted {
		v.hits(5) // two views, engagement, event and end
	} else if hit := v.hits(1)[0]; hit.Name != "end" {
		v.Errorf("counted %+v", hit)
	}
}

func TestLocalPages(t *testing.T) {
	for _, test := range []struct {
		host    string
		snippet beacon.Snippet
		counted bool
	}{
		{"localhost", beacon.Snippet{}, false},
		{"127.0.0.1", beacon.Snippet{}, false},
		{"127.0.0.1", beacon.Snippet{Local: true}, true},
		{"127.test", beacon.Snippet{}, true},
	} {
		v := newVisit(t, test.snippet, map[string]string{"/": plain})
		v.open(strings.Replace(v.site, "site.test", test.host, 1) + "/")
		v.checkCounted(test.counted)
	}
}

func TestFile(t *testing.T) {
	v := newVisit(t, beacon.Snippet{}, nil)
	file := t.TempDir() + "/page.html"
	if err := os.WriteFile(file, []byte("<!doctype html>"+beacon.Snippet{Base: v.stats, Site: "x"}.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	v.open("file://" + file)
	v.do(`sightline('event')`)
	v.do(`navigator.sendBeacon('` + v.stats + `/api/event', '{"s":"x","n":"end"}')`)
	v.want("end ")
}

func TestLinks(t *testing.T) {
	const links = `{snippet}
		<a id=inner href="/inner">inner</a> <a id=mail href="mailto:a@example.com">mail</a> <a id=none>none</a>
		<a id=outer href="http://other.test/page?a=b"><b>outer</b></a> <a id=file href="/files/Report.PDF?v=2">file</a> <b id=text>text</b>
		<script>document.addEventListener('click', e => e.preventDefault()); document.addEventListener('auxclick', e => e.preventDefault())</script>`
	click := `for (const [id, button] of [['inner', 0], ['mail', 0], ['none', 0], ['text', 0], ['outer', 0], ['file', 0], ['outer', 1], ['outer', 2]])
		(document.querySelector('#' + id + ' b') || document.getElementById(id)).dispatchEvent(
			new MouseEvent(button ? 'auxclick' : 'click', {bubbles: true, cancelable: true, button}))
		sightline('end')`
	out, file := "outbound / url=http://other.test/page?a=b", "download / url=/files/Report.PDF?v=2"
	for _, test := range []struct {
		snippet beacon.Snippet
		want    []string
	}{
		{beacon.Snippet{}, nil},
		{beacon.Snippet{Outbound: true}, []string{out, out}},
		{beacon.Snippet{Downloads: beacon.Downloads}, []string{file}},
		{beacon.Snippet{Outbound: true, Downloads: "pdf"}, []string{out, out, file}},
		{beacon.Snippet{Downloads: "zip|exe"}, nil},
	} {
		v := newVisit(t, test.snippet, map[string]string{"/": links})
		v.open("/")
		v.do(click)
		v.want(append(test.want, "pageview /", "end /")...)
	}
}

// A click that leaves the page is reported all the same.
func TestLeavingByLink(t *testing.T) {
	v := newVisit(t, beacon.Snippet{Outbound: true}, map[string]string{"/": `{snippet}<a id=link href="http://other.test:PORT/away">away</a>`, "/away": "away"})
	v.pages["/"] = strings.Replace(v.pages["/"], "PORT", v.site[strings.LastIndex(v.site, ":")+1:], 1)
	v.open("/")
	v.run(chromedp.Click("#link"))
	hits := v.hits(3)
	names := hits[0].Name + hits[1].Name + hits[2].Name
	if !strings.Contains(names, "outbound") || !strings.Contains(names, "engagement") {
		t.Errorf("%+v", hits)
	}
}

func TestNoScript(t *testing.T) {
	v := newVisit(t, beacon.Snippet{NoScript: true}, map[string]string{"/page": plain})
	v.run(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	v.open("/page?a=b#part")
	v.want("pageview /page?a=b")
	if hit := v.hits(1)[0]; hit.Site != "tracking-id" || hit.Agent != agent {
		t.Errorf("%+v", hit)
	}
}

// s.js must be what scripts/tracker makes of tracker.js.
func TestScriptIsMade(t *testing.T) {
	command := exec.CommandContext(t.Context(), "../../../scripts/tracker", "--stdout")
	made, err := command.Output()
	if err != nil {
		t.Fatalf("run scripts/clients, which installs what scripts/tracker needs: %v", err)
	}
	kept, err := os.ReadFile("s.js")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(made), bytes.TrimSpace(kept)) {
		t.Error("s.js is not made of tracker.js: run scripts/tracker")
	}
}

func TestScriptIsServed(t *testing.T) {
	s := newServer(t)
	plain := s.send("GET", "/js/s.js", "")
	packed := s.send("GET", "/js/s.js", "", "Accept-Encoding: gzip, deflate, br")
	reader, err := gzip.NewReader(bytes.NewReader(packed.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(reader)
	if err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) || plain.Body.Len() == 0 {
		t.Errorf("plain and packed differ: %v", err)
	}
	if size := packed.Body.Len(); size > 772 { // with all that it can do; the limit of the base alone
		t.Errorf("%d bytes packed", size)
	}
	for _, got := range []report{plain, packed} {
		for name, want := range map[string]string{"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "public, max-age=3600, stale-while-revalidate=86400",
			"Cross-Origin-Resource-Policy": "cross-origin", "Vary": "Accept-Encoding"} {
			if got.Code != 200 || got.Header().Get(name) != want {
				t.Errorf("%d %s: %q", got.Code, name, got.Header().Get(name))
			}
		}
	}
	tags := []string{plain.Header().Get("ETag"), packed.Header().Get("ETag")}
	if tags[0] == tags[1] || tags[0] == "" {
		t.Errorf("tags %q", tags)
	}
	for _, test := range []struct {
		encoding, tag string
		want          int
	}{
		{"", tags[0], 304}, {"gzip", tags[1], 304}, {"gzip;q=0", tags[0], 304}, {"br, GZIP ; q=0.5", tags[1], 304},
		{"gzip", tags[0], 200}, {"gzip; q=0.0", tags[1], 200}, {"br", tags[1], 200},
	} {
		got := s.send("GET", "/js/s.js", "", "Accept-Encoding: "+test.encoding, "If-None-Match: "+test.tag)
		if got.Code != test.want || got.Code == 304 && got.Body.Len() > 0 {
			t.Errorf("%q with %s: %d", test.encoding, test.tag, got.Code)
		}
	}
	for _, header := range []string{"Range: bytes=0-9", "Range: nonsense", `If-Match: "another"`} {
		if got := s.send("GET", "/js/s.js", "", header); got.Code != 200 || got.Body.Len() != plain.Body.Len() {
			t.Errorf("%s: %d, %d bytes", header, got.Code, got.Body.Len())
		}
	}
	if got := s.send("HEAD", "/js/s.js", ""); got.Code != 200 || got.Body.Len() > 0 {
		t.Errorf("HEAD: %d, %d bytes", got.Code, got.Body.Len())
	}
}
