package checktest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sites are websites that together have every defect the checks know, each a known number of times. Three are needed: some
// defects of a host exclude each other.
func Sites() []*Site {
	return []*Site{shop(), bare(), closed()}
}

const (
	shopRoot = "https://shop.example"
	partner  = "https://partner.example"
)

// A garden is a site while defects are planted in it.
type garden struct {
	Site
	root    string
	home    Doc
	sitemap []string
}

func newGarden(root string) *garden {
	g := &garden{root: root, home: Good(root + "/")}
	g.Start = root + "/"
	g.Answers, g.Other, g.Plants = map[string]Answer{}, map[string]Answer{}, map[string][]string{}
	g.Answers["http"+strings.TrimPrefix(root, "https")+"/"] = Answer{Status: 301, Location: root + "/"}
	g.Answers[root+"/robots.txt"] = Answer{Type: "text/plain", Body: "User-agent: *\nDisallow: /private/\n"}
	return g
}

// grown is the site with its home page, its sitemap and all that was planted.
func (g *garden) grown() *Site {
	g.Answers[g.Start] = Answer{Body: g.home.HTML()}
	if g.sitemap != nil {
		body := `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
		for _, loc := range g.sitemap {
			body += "<url><loc>" + loc + "</loc></url>\n"
		}
		g.Answers[g.root+"/sitemap.xml"] = Answer{Type: "application/xml", Body: body + "</urlset>\n"}
	}
	for _, pages := range g.Plants {
		slices.Sort(pages)
	}
	return &g.Site
}

// plant notes that pages fail a check.
func (g *garden) plant(check string, pages ...string) {
	g.Plants[check] = append(g.Plants[check], pages...)
}

// page adds a good page with a change, linked from the home page, and returns its address.
func (g *garden) page(path string, change func(*Doc)) string {
	address := g.root + path
	g.home.Links = append(g.home.Links, path)
	g.put(address, change)
	return address
}

// put adds a good page with a change that nothing links to.
func (g *garden) put(address string, change func(*Doc)) {
	d := Good(address)
	if change != nil {
		change(&d)
	}
	g.Answers[address] = Answer{Body: d.HTML()}
}

// from adds a good page that links to an address, and returns its own.
func (g *garden) from(name string, i int, target string) string {
	return g.page(fmt.Sprintf("/to-%s/%d", name, i), func(d *Doc) { d.Links = []string{target} })
}

// changed plants a defect of a single page n times.
func (g *garden) changed(check string, n int, change func(d *Doc, i int)) {
	for i := range n {
		address := g.page("/"+strings.ReplaceAll(check, ".", "-")+"/"+fmt.Sprint(i+1), func(d *Doc) { change(d, i) })
		g.plant(check, address)
	}
}

func shop() *Site {
	g := newGarden(shopRoot)
	g.Answers[partner+"/"] = Answer{Body: Good(partner + "/").HTML()}
	g.Answers[partner+"/gone"] = Answer{Status: 410, Body: "Gone"}
	g.Answers[partner+"/members"] = Answer{Status: 403, Body: "No robots"}
	g.Answers[shopRoot+"/lamp.png"] = Answer{Type: "image/png", Body: "PNG"}
	g.answers()
	g.heads()
	g.bodies()
	g.groups()
	g.sitemaps()
	g.host()
	return g.grown()
}

// host plants what is wrong with the host as a whole.
func (g *garden) host() {
	g.Answers["http://shop.example/"] = Answer{Body: Good("http://shop.example/").HTML()}
	g.plant("site.no_https_redirect", g.Start)
	g.Other["shop.example"] = Answer{Body: "<title>Sorry</title>Nothing here."}
	g.plant("site.soft_404", g.Start)
	g.Answers[shopRoot+"/robots.txt"] = Answer{Type: "text/plain", Body: "User-agent: *\nDisallow: /private/\nNoindex: /old/\nAllways: /\n"}
	g.plant("robots.invalid", g.Start)
}

// answers plants addresses that do not answer as they should. A page that links to an error has a broken link.
func (g *garden) answers() {
	broken := func(name, check string, i int, answer Answer) {
		address := fmt.Sprintf("%s/%s/%d", g.root, name, i)
		g.Answers[address] = answer
		g.plant(check, address)
		g.plant("link.broken_internal", g.from(name, i, address))
	}
	for i := range 3 {
		broken("lost", "http.4xx", i, Answer{Status: []int{404, 410, 403}[i], Body: "no"})
	}
	for i := range 2 {
		broken("failing", "http.5xx", i, Answer{Status: 500 + 3*i, Body: "no"})
		broken("cut", "http.no_response", i, Answer{Drop: true})
		broken("circle", "redirect.loop", i, Answer{Status: 302, Location: fmt.Sprintf("/circle/%d/back", i)})
		g.Answers[fmt.Sprintf("%s/circle/%d/back", g.root, i)] = Answer{Status: 302, Location: fmt.Sprintf("/circle/%d", i)}
	}
	for i := range 3 {
		address := fmt.Sprintf("%s/moved/%d", g.root, i)
		g.Answers[address] = Answer{Status: []int{301, 302, 307}[i], Location: "/"}
		g.from("moved", i, address)
		g.plant("http.redirect", address)
	}
	for i := range 2 {
		address := fmt.Sprintf("%s/chain/%d", g.root, i)
		g.Answers[address] = Answer{Status: 301, Location: fmt.Sprintf("/chain/%d/next", i)}
		g.Answers[address+"/next"] = Answer{Status: 301, Location: "/"}
		g.from("chain", i, address)
		g.plant("http.redirect", address)
		g.plant("redirect.chain", address)
	}
	for i := range 2 {
		address := fmt.Sprintf("%s/private/%d", g.root, i)
		g.Answers[address] = Answer{Body: "secret"}
		g.from("private", i, address)
		g.plant("index.robots_blocked", address)
	}
	slow := g.page("/slow", nil)
	g.Answers[slow] = Answer{Body: Good(slow).HTML(), Wait: 900 * time.Millisecond}
	g.plant("perf.ttfb", slow)
	plain := "http://shop.example/plain"
	g.put(plain, nil)
	g.from("plain", 0, plain)
	g.plant("sec.http_page", plain)
}

// heads plants defects in the heads of pages.
func (g *garden) heads() {
	g.changed("title.missing", 2, func(d *Doc, i int) { d.Title, d.Head = "", []string{"", "<title> </title>"}[i] })
	g.changed("title.length", 3, func(d *Doc, i int) { d.Title = []string{"Short", "A title", strings.Repeat("long ", 13)}[i] })
	g.changed("desc.missing", 2, func(d *Doc, _ int) { d.Description = "" })
	g.changed("desc.length", 2, func(d *Doc, i int) { d.Description = []string{"Too short.", strings.Repeat("too long ", 20)}[i] })
	g.changed("canonical.missing", 2, func(d *Doc, _ int) { d.Canonical = "" })
	g.changed("canonical.multiple", 2, func(d *Doc, i int) {
		d.Head = fmt.Sprintf(`<link rel="canonical" href="%s">`, []string{d.Canonical, "/elsewhere"}[i])
	})
	g.changed("canonical.bad_target", 3, func(d *Doc, i int) {
		d.Canonical = []string{g.root + "/moved/0", g.root + "/lost/0", "http://shop.example/plain"}[i]
	})
	g.Answers[g.root+"/elsewhere"] = Answer{Body: Good(g.root + "/elsewhere").HTML()}
	g.changed("lang.missing", 2, func(d *Doc, i int) { d.Lang = []string{"", "en_US"}[i] })
	g.changed("mobile.viewport", 2, func(d *Doc, i int) { d.Viewport = []string{"", "width=1024"}[i] })
	g.changed("index.noindex", 3, func(d *Doc, i int) {
		d.Head = `<meta name="robots" content="` + []string{"noindex", "none", "unavailable_after: 1 Jan 2026"}[i] + `">`
	})
}

// bodies plants defects in the bodies of pages.
func (g *garden) bodies() {
	g.changed("h1.missing", 2, func(d *Doc, i int) { d.H1, d.Body = "", []string{"", "<h1></h1>"}[i] })
	g.changed("h1.multiple", 2, func(d *Doc, _ int) { d.Body = "<h1>Another</h1>" })
	g.changed("content.thin", 2, func(d *Doc, i int) { d.Text = Words(d.Title, 5+i) })
	g.changed("img.alt_missing", 2, func(d *Doc, _ int) { d.Body = `<img src="/lamp.png"><img src="/lamp.png">` })
	g.changed("img.broken", 2, func(d *Doc, i int) { d.Body = fmt.Sprintf(`<img src="/broken-%d.png" alt="A lamp">`, i) })
	for i := range 2 {
		g.Answers[fmt.Sprintf("%s/broken-%d.png", g.root, i)] = Answer{Status: 404}
	}
	g.changed("link.broken_external", 2, func(d *Doc, i int) {
		d.Links = []string{partner + "/", partner + "/members", []string{partner + "/gone", "https://nowhere.example/"}[i]}
	})
	g.changed("sd.parse_error", 3, func(d *Doc, i int) {
		d.Head = []string{`<script type="application/ld+json">{"name": "Lamp",}</script>`, `<script type="application/ld+json"></script>`, ""}[i]
		d.Body = []string{"", "", `<div itemtype="https://schema.org/Product">Lamp</div>`}[i]
	})
	g.changed("sec.mixed_content", 2, func(d *Doc, i int) {
		d.Body = []string{`<script src="http://partner.example/a.js"></script>`, `<iframe src="http://partner.example/"></iframe>`}[i]
	})
}

// groups plants pages that are too much alike: two and three of each kind.
func (g *garden) groups() {
	for i, size := range []int{2, 3} {
		for n := range size {
			where := fmt.Sprintf("%d/%d", i, n)
			g.plant("title.duplicate", g.page("/same-title/"+where, func(d *Doc) { d.Title = fmt.Sprintf("The same title, number %d", i) }))
			g.plant("desc.duplicate", g.page("/same-description/"+where, func(d *Doc) {
				d.Description = fmt.Sprintf("The same description stands on several pages, and that helps nobody to choose one: %d", i)
			}))
			g.plant("content.duplicate", g.page("/same-content/"+where, func(d *Doc) {
				d.H1, d.Text = "The same", Words(fmt.Sprintf("content %d", i), 230)
			}))
		}
	}
}

// sitemaps plants what a sitemap should not list, and pages that only it lists.
func (g *garden) sitemaps() {
	for i := range 2 {
		orphan := fmt.Sprintf("%s/orphan/%d", g.root, i)
		g.put(orphan, nil)
		g.plant("page.orphan", orphan)
		g.sitemap = append(g.sitemap, orphan)
	}
	bad := []string{g.root + "/moved/0", g.root + "/lost/0", g.root + "/failing/0"}
	excluded := []string{g.root + "/private/0", g.root + "/index-noindex/1"}
	g.plant("sitemap.bad_status", bad...)
	g.plant("sitemap.excluded_url", excluded...)
	g.sitemap = append(append(append(g.sitemap, bad...), excluded...), g.root+"/", g.root+"/slow", "lamp.html")
	g.plant("sitemap.invalid", g.Start)
}

// bare is a site without a sitemap.
func bare() *Site {
	g := newGarden("https://bare.example")
	g.plant("sitemap.missing", g.Start)
	g.page("/about", nil)
	return g.grown()
}

// closed is a site whose robots.txt is out of reach, so that nothing of it may be read.
func closed() *Site {
	g := newGarden("https://closed.example")
	g.Answers[g.root+"/robots.txt"] = Answer{Status: 503}
	g.plant("robots.unreachable", g.Start)
	g.page("/about", nil)
	return g.grown()
}
