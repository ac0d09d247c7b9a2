package check_test

import (
	"strings"
	"time"

	"sightline/internal/check/checktest"
	"sightline/internal/seo"
)

// A scene is a small site, the page of it that is judged, and how the crawl of it is changed before the checks run.
type scene struct {
	site   *checktest.Site
	judged string
	change func(*checktest.Crawl)
}

// A testCase says which value a check reports on a page; empty: the page passes. The kind is fails, passes or edge.
type testCase struct {
	check, kind, about string
	scene              scene
	want               string
}

type (
	doc    = checktest.Doc
	answer = checktest.Answer
)

const root = "https://a.example"

// home is a site whose first page is good but for a change, with more answers by path or address.
func home(change func(*doc), more ...any) scene {
	d := checktest.Good(root + "/")
	if change != nil {
		change(&d)
	}
	s := &checktest.Site{Start: root + "/", Answers: map[string]answer{
		root + "/":           {Body: d.HTML()},
		root + "/robots.txt": {Type: "text/plain", Body: "User-agent: *\nDisallow: /private\n"},
		"http://a.example/":  {Status: 301, Location: root + "/"},
	}}
	for i := 0; i < len(more); i += 2 {
		s.Answers[absolute(more[i].(string))] = more[i+1].(answer)
	}
	return scene{site: s, judged: root + "/", change: func(*checktest.Crawl) {}}
}

// page is a site whose page /x, linked from the first, gives that answer.
func page(a answer, more ...any) scene {
	s := home(links("/x"), append(more, "/x", a)...)
	s.judged = root + "/x"
	return s
}

// good is the answer of a good page at a path, with a change.
func good(path string, change func(*doc)) answer {
	d := checktest.Good(root + path)
	if change != nil {
		change(&d)
	}
	return answer{Body: d.HTML()}
}

// with is a scene whose crawl is changed.
func with(s scene, change func(*checktest.Crawl)) scene {
	s.change = change
	return s
}

// about is a good first page on a host of which something else was learned.
func about(change func(*seo.Site)) scene {
	return with(home(nil), func(c *checktest.Crawl) { change(&c.About) })
}

// at judges another page of a scene.
func at(s scene, address string) scene {
	s.judged = absolute(address)
	return s
}

// absolute completes a path.
func absolute(address string) string {
	if strings.HasPrefix(address, "/") {
		return root + address
	}
	return address
}

// truncated is a scene whose pages were too long to read.
func truncated(s scene) scene {
	return with(s, func(c *checktest.Crawl) {
		for _, p := range c.All {
			p.Truncated = true
		}
	})
}

func links(to ...string) func(*doc) { return func(d *doc) { d.Links = to } }

func head(html string) func(*doc) { return func(d *doc) { d.Head = html } }

func body(html string) func(*doc) { return func(d *doc) { d.Body = html } }

func sitemap(locs ...string) answer {
	b := "<urlset>"
	for _, loc := range locs {
		b += "<url><loc>" + loc + "</loc></url>"
	}
	return answer{Type: "application/xml", Body: b + "</urlset>"}
}

var (
	gone   = answer{Status: 404}
	to     = func(status int, location string) answer { return answer{Status: status, Location: location} }
	lamp   = answer{Type: "image/png", Body: "PNG"}
	jsonLD = func(text string) string { return `<script type="application/ld+json">` + text + `</script>` }
	robots = func(content string) func(*doc) { return head(`<meta name="robots" content="` + content + `">`) }
	header = func(name, value string) answer {
		return answer{Body: good("/x", nil).Body, Header: map[string]string{name: value}}
	}
	partial = func(s scene) scene { return with(s, func(c *checktest.Crawl) { c.About.Complete = false }) }
)

var cases = []testCase{
	{"http.4xx", "fails", "a missing page", page(gone), "404"},
	{"http.4xx", "passes", "a page that is there", page(good("/x", nil)), ""},
	{"http.4xx", "edge", "a redirect to a missing page is a redirect", page(to(301, "/y"), "/y", gone), ""},
	{"http.5xx", "fails", "an error", page(answer{Status: 502}), "502"},
	{"http.5xx", "passes", "no error", page(good("/x", nil)), ""},
	{"http.5xx", "edge", "a client's error is another check", page(answer{Status: 499}), ""},
	{"http.no_response", "fails", "a cut connection", page(answer{Drop: true}), "reset"},
	{"http.no_response", "passes", "an answer", page(good("/x", nil)), ""},
	{"http.no_response", "edge", "an error is an answer", page(answer{Status: 500}), ""},
	{"http.redirect", "fails", "a page that moved", page(to(301, "/")), "301"},
	{"http.redirect", "fails", "for a while", page(to(307, "/")), "307 (temporary)"},
	{"http.redirect", "passes", "a page that did not", page(good("/x", nil)), ""},
	{"http.redirect", "edge", "a redirect without Location", page(answer{Status: 302}), "302 (leads nowhere)"},
	{"http.redirect", "edge", "a loop has its own check", page(to(301, "/x")), ""},
	{"redirect.chain", "fails", "two redirects", page(to(301, "/y"), "/y", to(301, "/")), "2 redirects"},
	{"redirect.chain", "passes", "one redirect", page(to(301, "/")), ""},
	{"redirect.chain", "edge", "a loop has its own check", page(to(301, "/y"), "/y", to(301, "/x")), ""},
	{"redirect.loop", "fails", "there and back", page(to(302, "/y"), "/y", to(302, "/x")), "loop of 2 redirects"},
	{"redirect.loop", "passes", "there", page(to(302, "/")), ""},
	{"redirect.loop", "edge", "a page that redirects to itself", page(to(302, "/x")), "loop of 1 redirect"},

	{"index.noindex", "fails", "by meta element", home(robots("noindex, follow")), "noindex"},
	{"index.noindex", "fails", "by header", page(header("X-Robots-Tag", "noindex")), "noindex"},
	{"index.noindex", "fails", "none says noindex", home(robots("NONE")), "none"},
	{"index.noindex", "fails", "a time that has passed", home(robots("unavailable_after: Fri, 01 Aug 2025 10:00:00 GMT")), "unavailable_after"},
	{"index.noindex", "fails", "for one engine", page(header("X-Robots-Tag", "googlebot: noindex")), "noindex for googlebot"},
	{"index.noindex", "passes", "index", home(robots("index, follow")), ""},
	{"index.noindex", "edge", "a time to come", home(robots("unavailable_after: 2031-01-01")), ""},
	{"index.noindex", "edge", "in a comment", home(head(`<!-- <meta name="robots" content="noindex"> -->`)), ""},
	{"index.robots_blocked", "fails", "a link to a disallowed page", at(home(links("/private")), "/private"), "disallowed"},
	{"index.robots_blocked", "passes", "a link to an allowed page", page(good("/x", nil)), ""},
	{"index.robots_blocked", "edge", "only a sitemap names it", at(home(nil, "/sitemap.xml", sitemap(root+"/private")), "/private"), ""},

	{"robots.invalid", "fails", "an unknown directive", home(nil, "/robots.txt", answer{Type: "text/plain", Body: "User-agent: *\nNope: /\n"}), "1 bad line"},
	{"robots.invalid", "passes", "a good file", home(nil), ""},
	{"robots.invalid", "edge", "no file is fine", home(nil, "/robots.txt", gone), ""},
	{"robots.unreachable", "fails", "an error", home(nil, "/robots.txt", answer{Status: 503}), "503"},
	{"robots.unreachable", "fails", "no answer", about(func(s *seo.Site) { s.Robots.Failure = seo.FailedTimeout }), "timeout"},
	{"robots.unreachable", "fails", "too many requests", about(func(s *seo.Site) { s.Robots.Status = 429 }), "429"},
	{"robots.unreachable", "passes", "an answer", home(nil), ""},
	{"robots.unreachable", "edge", "no file is fine", home(nil, "/robots.txt", gone), ""},
	{"sitemap.missing", "fails", "none at the usual place", home(nil), "no sitemap"},
	{"sitemap.missing", "passes", "there is one", home(nil, "/sitemap.xml", sitemap(root+"/")), ""},
	{"sitemap.missing", "edge", "nobody looked for it", about(func(s *seo.Site) { s.Sitemaps = nil }), ""},
	{"sitemap.missing", "edge", "a broken one that robots.txt names", about(func(s *seo.Site) { s.Sitemaps[0].Named = true }), ""},
	{"sitemap.invalid", "fails", "not XML", home(nil, "/sitemap.xml", answer{Type: "application/xml", Body: "<urlset><url>"}), "1 problem"},
	{"sitemap.invalid", "fails", "named but gone", about(func(s *seo.Site) { s.Sitemaps[0].Named = true }), "1 problem"},
	{"sitemap.invalid", "passes", "a good one", home(nil, "/sitemap.xml", sitemap(root+"/")), ""},
	{"sitemap.invalid", "edge", "none is another check", home(nil), ""},
	{"sitemap.bad_status", "fails", "a missing page", at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", gone), "/x"), "404"},
	{"sitemap.bad_status", "fails", "a redirect", at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", to(301, "/")), "/x"), "301"},
	{"sitemap.bad_status", "fails", "no answer", at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", answer{Drop: true}), "/x"), "reset"},
	{"sitemap.bad_status", "passes", "a page", home(nil, "/sitemap.xml", sitemap(root+"/")), ""},
	{"sitemap.bad_status", "edge", "a missing page that is not listed", page(gone), ""},
	{"sitemap.excluded_url", "fails", "noindex", home(robots("noindex"), "/sitemap.xml", sitemap(root+"/")), "noindex"},
	{"sitemap.excluded_url", "fails", "disallowed", at(home(nil, "/sitemap.xml", sitemap(root+"/private")), "/private"), "disallowed"},
	{"sitemap.excluded_url", "passes", "a page", home(nil, "/sitemap.xml", sitemap(root+"/")), ""},
	{"sitemap.excluded_url", "edge", "noindex but not listed", home(robots("noindex")), ""},
	{"site.no_https_redirect", "fails", "http answers itself", home(nil, "http://a.example/", answer{Body: "hello"}), "200"},
	{"site.no_https_redirect", "passes", "http redirects", home(nil, "http://a.example/", to(301, root+"/")), ""},
	{"site.no_https_redirect", "edge", "http redirects to http", home(nil, "http://a.example/", to(301, "/y")), "404"},
	{"site.no_https_redirect", "edge", "nothing listens on http", home(nil, "http://a.example/", answer{Drop: true}), ""},
	{"site.soft_404", "fails", "everything is there", about(func(s *seo.Site) { s.Random.Status = 200 }), "200"},
	{"site.soft_404", "passes", "unknown is 404", home(nil), ""},
	{"site.soft_404", "edge", "an answer that broke off", about(func(s *seo.Site) { s.Random.Status, s.Random.Failure = 200, seo.FailedReset }), ""},
	{"site.soft_404", "edge", "nobody asked", about(func(s *seo.Site) { s.Random = nil }), ""},

	{"canonical.missing", "fails", "none", home(func(d *doc) { d.Canonical = "" }), "missing"},
	{"canonical.missing", "passes", "one", home(nil), ""},
	{"canonical.missing", "edge", "in the header", page(answer{
		Body:   good("/x", func(d *doc) { d.Canonical = "" }).Body,
		Header: map[string]string{"Link": `</x>; rel="canonical"`},
	}), ""},
	{"canonical.missing", "edge", "an empty one", home(func(d *doc) { d.Canonical, d.Head = "", `<link rel=canonical href="">` }), "not an address"},
	{"canonical.multiple", "fails", "two of a kind", home(head(`<link rel="canonical" href="/">`)), "2 canonicals"},
	{"canonical.multiple", "fails", "element and header disagree", page(header("Link", `</y>; rel="canonical"`)), "2 canonicals, conflicting"},
	{"canonical.multiple", "fails", "two in the header", page(answer{
		Body:   good("/x", func(d *doc) { d.Canonical = "" }).Body,
		Header: map[string]string{"Link": `</x>; rel="canonical", </x>; rel="canonical"`},
	}), "2 canonicals"},
	{"canonical.multiple", "passes", "one", home(nil), ""},
	{"canonical.multiple", "edge", "element and header agree", page(header("Link", `</x>; rel="canonical"`)), ""},
	{"canonical.bad_target", "fails", "an error", home(func(d *doc) { d.Canonical = "/y" }, "/y", gone), "404"},
	{"canonical.bad_target", "fails", "a redirect", home(func(d *doc) { d.Canonical = "/y" }, "/y", to(301, "/")), "redirect"},
	{"canonical.bad_target", "fails", "http", home(func(d *doc) { d.Canonical = "http://a.example/" }), "https to http"},
	{"canonical.bad_target", "passes", "another page", home(func(d *doc) { d.Canonical = "/y" }, "/y", good("/y", nil)), ""},
	{"canonical.bad_target", "edge", "itself", home(nil), ""},

	{"title.missing", "fails", "none", home(func(d *doc) { d.Title = "" }), "missing"},
	{"title.missing", "fails", "an empty one", home(func(d *doc) { d.Title, d.Head = "", "<title>\n</title>" }), "empty"},
	{"title.missing", "passes", "one", home(nil), ""},
	{"title.missing", "edge", "that of a drawing does not count", home(func(d *doc) { d.Title, d.Body = "", "<svg><title>Logo</title></svg>" }), "missing"},
	{"title.length", "fails", "short", home(func(d *doc) { d.Title = strings.Repeat("x", 19) }), "19 characters"},
	{"title.length", "fails", "long", home(func(d *doc) { d.Title = strings.Repeat("x", 61) }), "61 characters"},
	{"title.length", "passes", "20", home(func(d *doc) { d.Title = strings.Repeat("x", 20) }), ""},
	{"title.length", "edge", "60 characters of several bytes", home(func(d *doc) { d.Title = strings.Repeat("ü", 60) }), ""},
	{"title.length", "edge", "not on a noindex page", home(func(d *doc) { d.Title, d.Head = "x", `<meta name="robots" content="noindex">` }), ""},
	{"title.duplicate", "fails", "two pages", page(good("/x", func(d *doc) { d.Title = checktest.Good(root + "/").Title })), "on 2 pages"},
	{"title.duplicate", "passes", "each its own", page(good("/x", nil)), ""},
	{"title.duplicate", "edge", "the other is not indexable", home(links("/x"), "/x", good("/x", func(d *doc) {
		d.Title, d.Canonical = checktest.Good(root+"/").Title, "/"
	})), ""},

	{"desc.missing", "fails", "none", home(func(d *doc) { d.Description = "" }), "missing"},
	{"desc.missing", "passes", "one", home(nil), ""},
	{"desc.missing", "edge", "an empty one", home(func(d *doc) { d.Description, d.Head = "", `<meta content=" " name=Description>` }), "empty"},
	{"desc.length", "fails", "short", home(func(d *doc) { d.Description = strings.Repeat("x", 79) }), "79 characters"},
	{"desc.length", "fails", "long", home(func(d *doc) { d.Description = strings.Repeat("x", 161) }), "161 characters"},
	{"desc.length", "passes", "80", home(func(d *doc) { d.Description = strings.Repeat("x", 80) }), ""},
	{"desc.length", "edge", "160 after white space is collapsed", home(func(d *doc) { d.Description = strings.Repeat("x", 80) + "\n   " + strings.Repeat("y", 79) }), ""},
	{"desc.duplicate", "fails", "two pages", page(good("/x", func(d *doc) { d.Description = checktest.Good(root + "/").Description })), "on 2 pages"},
	{"desc.duplicate", "passes", "each its own", page(good("/x", nil)), ""},
	{"desc.duplicate", "edge", "two pages without any", page(good("/x", func(d *doc) { d.Description = "" }), "/y", good("/y", func(d *doc) { d.Description = "" })), ""},

	{"h1.missing", "fails", "none", home(func(d *doc) { d.H1 = "" }), "missing"},
	{"h1.missing", "fails", "an empty one", home(func(d *doc) { d.H1, d.Body = "", "<h1> <span></span></h1>" }), "empty"},
	{"h1.missing", "passes", "one", home(nil), ""},
	{"h1.missing", "edge", "an image with alt text", home(func(d *doc) { d.H1, d.Body = "", `<h1><img src="/l" alt="Lamps"></h1>` }, "/l", lamp), ""},
	{"h1.multiple", "fails", "two", home(body("<h1>Again</h1>")), "2 headings"},
	{"h1.multiple", "passes", "one", home(nil), ""},
	{"h1.multiple", "edge", "the second is in a template", home(body("<template><h1>Again</h1></template>")), ""},
	{"content.thin", "fails", "199 words", home(func(d *doc) { d.H1, d.Text = "", checktest.Words("", 199) }), "199 words"},
	{"content.thin", "passes", "200 words", home(func(d *doc) { d.H1, d.Text = "", checktest.Words("", 200) }), ""},
	{"content.thin", "edge", "a script is not text", home(func(d *doc) {
		d.H1, d.Text, d.Body = "", "one", "<script>"+checktest.Words("", 300)+"</script>"
	}), "1 word"},
	{"content.thin", "edge", "a page that was not read to its end", truncated(home(func(d *doc) { d.Text = "" })), ""},
	{"content.duplicate", "fails", "the same text", page(good("/x", func(d *doc) { *d = sameBody(*d) })), "on 2 pages"},
	{"content.duplicate", "passes", "another text", page(good("/x", nil)), ""},
	{"content.duplicate", "edge", "the other names it as canonical", home(links("/x"), "/x", good("/x", func(d *doc) {
		*d = sameBody(*d)
		d.Canonical = "/"
	})), ""},
	{"content.duplicate", "edge", "two pages without any", home(func(d *doc) { d.H1, d.Text, d.Body = "", "", `<a href="/x"></a>` }, "/x",
		good("/x", func(d *doc) { d.H1, d.Text = "", "" })), ""},
	{"content.duplicate", "edge", "pages that were not read to their end", truncated(page(good("/x", func(d *doc) { *d = sameBody(*d) }))), ""},
	{"content.duplicate", "edge", "another image", page(good("/x", func(d *doc) {
		*d = sameBody(*d)
		d.Body = `<img src="/l" alt="">`
	}), "/l", lamp), ""},

	{"link.broken_internal", "fails", "two links to nothing", home(links("/y", "/z", "/y"), "/y", gone, "/z", answer{Drop: true}), "2 broken links"},
	{"link.broken_internal", "passes", "a link to a page", home(links("/y"), "/y", good("/y", nil)), ""},
	{"link.broken_internal", "edge", "a redirect that ends at nothing", home(links("/y"), "/y", to(301, "/z"), "/z", gone), "1 broken link"},
	{"link.broken_internal", "edge", "a disallowed page may be well", home(links("/private")), ""},
	{"link.broken_external", "fails", "a missing page", home(links("https://b.example/"), "https://b.example/", gone), "1 broken link"},
	{"link.broken_external", "fails", "a host that is gone", home(links("https://c.example/")), "1 broken link"},
	{"link.broken_external", "passes", "a page", home(links("https://b.example/"), "https://b.example/", answer{}), ""},
	{"link.broken_external", "edge", "one that turns robots away", home(links("https://b.example/"), "https://b.example/", answer{Status: 403}), ""},
	{"page.orphan", "fails", "only the sitemap knows it", at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", nil)), "/x"), "no internal link"},
	{"page.orphan", "passes", "a page links to it", page(good("/x", nil), "/sitemap.xml", sitemap(root+"/x")), ""},
	{"page.orphan", "edge", "a partial crawl cannot tell", partial(at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", nil)), "/x")), ""},
	{"page.orphan", "edge", "a link by way of a redirect", at(home(links("/old"), "/old", to(301, "/x"), "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", nil)), "/x"), ""},
	{"page.orphan", "edge", "its own link does not count", at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", links("/x"))), "/x"), "no internal link"},
	{"page.orphan", "edge", "a page with too many links to know them all", with(at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", nil)), "/x"),
		func(c *checktest.Crawl) { c.All[0].LinksCut = true }), ""},

	{"page.orphan", "edge", "a page that was not read to its end", truncated(at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", nil)), "/x")), ""},
	{"page.orphan", "edge", "the first page needs no link", home(nil, "/sitemap.xml", sitemap(root+"/")), ""},
	{"page.orphan", "edge", "a page that is not indexable", at(home(nil, "/sitemap.xml", sitemap(root+"/x"), "/x", good("/x", robots("noindex"))), "/x"), ""},

	{"img.alt_missing", "fails", "none", home(body(`<img src="/l"><img src="/l">`), "/l", lamp), "2 images"},
	{"img.alt_missing", "passes", "alt text", home(body(`<img src="/l" alt="A lamp">`), "/l", lamp), ""},
	{"img.alt_missing", "edge", "decoration", home(body(`<img src="/l" alt>`), "/l", lamp), ""},
	{"img.broken", "fails", "a missing image", home(body(`<img src="/l" alt="">`), "/l", gone), "1 broken image"},
	{"img.broken", "fails", "one of a set", home(body(`<img src="/l" srcset="/l 1x, /m 2x" alt="">`), "/l", lamp, "/m", gone), "1 broken image"},
	{"img.broken", "passes", "an image", home(body(`<img src="/l" alt="">`), "/l", lamp), ""},
	{"img.broken", "edge", "an image within the page", home(body(`<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="">`)), ""},
	{"lang.missing", "fails", "none", home(func(d *doc) { d.Lang = "" }), "missing"},
	{"lang.missing", "fails", "no such language", home(func(d *doc) { d.Lang = "english" }), "english"},
	{"lang.missing", "passes", "English", home(nil), ""},
	{"lang.missing", "edge", "with script and region", home(func(d *doc) { d.Lang = "zh-Hant-TW" }), ""},
	{"lang.missing", "edge", "an underscore", home(func(d *doc) { d.Lang = "de_AT" }), "de_AT"},
	{"sd.parse_error", "fails", "a comma too many", home(head(jsonLD(`{"a": 1,}`))), "1 error"},
	{"sd.parse_error", "fails", "a property of nothing", home(body(`<b itemprop="name">Lamp</b>`)), "1 error"},
	{"sd.parse_error", "passes", "good JSON", home(head(jsonLD(`{"@type": "Thing"}`))), ""},
	{"sd.parse_error", "edge", "another script", home(head(`<script>{"a": 1,}</script>`)), ""},
	{"sd.parse_error", "edge", "good microdata", home(body(`<p itemscope itemtype="https://schema.org/Thing"><b itemprop="name">Lamp</b></p>`)), ""},
	{"sec.mixed_content", "fails", "an image", home(body(`<img src="http://b.example/l" alt="">`), "http://b.example/l", lamp), "1 insecure resource"},
	{"sec.mixed_content", "passes", "all secure", home(body(`<img src="//b.example/l" alt="">`), "https://b.example/l", lamp), ""},
	{"sec.mixed_content", "edge", "a link is no resource", home(links("http://b.example/"), "http://b.example/", answer{}), ""},
	{"sec.mixed_content", "edge", "a policy upgrades it", page(answer{
		Body:   good("/x", body(`<script src="http://b.example/s.js"></script>`)).Body,
		Header: map[string]string{"Content-Security-Policy": "default-src 'self'; upgrade-insecure-requests"},
	}), ""},
	{"sec.http_page", "fails", "a page over http", at(home(links("http://a.example/y"), "http://a.example/y", good("/y", nil)), "http://a.example/y"), "http"},
	{"sec.http_page", "passes", "a page over https", home(nil), ""},
	{"sec.http_page", "edge", "a redirect to https", at(home(links("http://a.example/y"), "http://a.example/y", to(301, root+"/")), "http://a.example/y"), ""},
	{"mobile.viewport", "fails", "none", home(func(d *doc) { d.Viewport = "" }), "missing"},
	{"mobile.viewport", "fails", "a fixed width", home(func(d *doc) { d.Viewport = "width=980" }), "without device-width"},
	{"mobile.viewport", "passes", "the width of the device", home(nil), ""},
	{"mobile.viewport", "edge", "other spelling", home(func(d *doc) { d.Viewport = "initial-scale=1; WIDTH = Device-Width" }), ""},
	{"perf.ttfb", "fails", "801 ms", page(answer{Body: "x", Wait: 801 * time.Millisecond}), "801 ms"},
	{"perf.ttfb", "passes", "fast", home(nil), ""},
	{"perf.ttfb", "edge", "800 ms", page(answer{Body: "x", Wait: 800 * time.Millisecond}), ""},
}

// sameBody has the body of the first page under another title and description.
func sameBody(d doc) doc {
	first := checktest.Good(root + "/")
	first.Title, first.Description, first.Canonical, first.Links = d.Title, d.Description, d.Canonical, []string{"/x"}
	return first
}
