package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"strings"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
	"sightline/internal/site"
)

// A demoWeb answers for the example sites, which nobody else serves, and leaves all other addresses to the real web.
type demoWeb struct {
	hosts map[string]bool
	rest  crawl.Fetcher
}

// newDemoWeb serves the sites of the example projects.
func newDemoWeb(rest crawl.Fetcher) demoWeb {
	web := demoWeb{hosts: map[string]bool{}, rest: rest}
	for _, example := range demoProjects {
		if example.hasSite() {
			web.hosts[site.Name(example.name)] = true
		}
	}
	return web
}

// hasSite says that a project is a site and not a group, nor on the visitor's own machine.
func (d demoProject) hasSite() bool {
	return strings.Contains(d.name, ".") && !strings.ContainsAny(d.name, " :")
}

// Fetch implements crawl.Fetcher.
func (d demoWeb) Fetch(ctx context.Context, r guard.Request) guard.Answer {
	if !d.hosts[r.URL.Host] {
		return d.rest.Fetch(ctx, r)
	}
	var answer guard.Answer
	for to := r.URL; ; {
		if !d.hosts[to.Host] || len(answer.Hops) > guard.DefaultLimits.Redirects {
			return answer
		}
		answer.Hops = append(answer.Hops, guard.Hop{URL: to})
		hop := answer.Last()
		if answer.Err = d.hop(ctx, r, hop); answer.Err != nil || hop.Location == "" {
			return answer
		}
		next, err := address.Parse(hop.Location)
		if err != nil {
			return answer
		}
		to = next
	}
}

// hop answers one request.
func (d demoWeb) hop(ctx context.Context, r guard.Request, hop *guard.Hop) *guard.Failure {
	header := http.Header{}
	if r.Gate != nil {
		if err := r.Gate.Enter(ctx, hop.URL, header); err != nil {
			if refused, ok := err.(*guard.Failure); ok {
				return refused
			}
			return &guard.Failure{Kind: guard.Canceled, Text: "the fetch was stopped", Err: err}
		}
		defer func() { r.Gate.Leave(hop, nil) }()
	}
	page := demoSite(hop.URL.Host).answer(hop.URL.Scheme, hop.URL.Target)
	hop.Status, hop.Location, hop.FirstByte, hop.Proto = page.status, page.location, page.wait, "HTTP/1.1"
	hop.Header = http.Header{"Content-Type": {page.kind}}
	if r.Read != nil && r.Method != http.MethodHead && hop.Location == "" {
		r.Read(hop, strings.NewReader(page.body))
		hop.Size = int64(len(page.body))
	}
	return nil
}

// demoSite is the host of an example site. What is wrong with it follows from its name.
type demoSite string

// flaw says whether the site has one of its possible flaws.
func (s demoSite) flaw(name string) bool {
	sum := fnv.New32a()
	sum.Write([]byte(string(s) + " " + name))
	return sum.Sum32()%3 == 0
}

// A demoAnswer is what an example site says to an address.
type demoAnswer struct {
	status               int
	kind, body, location string
	wait                 time.Duration
}

// demoPages are the pages of an example site, below its home page.
var demoPages = []string{"about", "contact", "services", "prices", "news", "visit", "team"}

// answer is what the site says.
func (s demoSite) answer(scheme, target string) demoAnswer {
	const htmlKind = "text/html; charset=utf-8"
	root := "https://" + string(s)
	page := strings.TrimPrefix(target, "/")
	known := page == ""
	for _, name := range demoPages {
		known = known || page == name
	}
	answer := demoAnswer{status: http.StatusOK, kind: htmlKind, wait: 40 * time.Millisecond}
	switch {
	case target == "/robots.txt":
		answer.kind, answer.body = "text/plain", "User-agent: *\nDisallow: /cart\n"
	case scheme == "http" && !s.flaw("http"):
		answer.status, answer.location = http.StatusMovedPermanently, root+target
	case target == "/sitemap.xml" && !s.flaw("sitemap"):
		answer.kind, answer.body = "application/xml", s.sitemap(root)
	case page == "prices" && s.flaw("lost"):
		answer.status, answer.body = http.StatusNotFound, "Not found"
	case page == "news" && s.flaw("moved"):
		answer.status, answer.location = http.StatusFound, root+"/about"
	case known:
		answer.body = s.page(root, page)
		if page == "services" && s.flaw("slow") {
			answer.wait = 1300 * time.Millisecond
		}
	case s.flaw("soft 404"):
		answer.body = s.page(root, "")
	default:
		answer.status, answer.body = http.StatusNotFound, "Not found"
	}
	return answer
}

func (s demoSite) sitemap(root string) string {
	text := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n<url><loc>" + root + "/</loc></url>\n"
	for _, name := range demoPages {
		text += "<url><loc>" + root + "/" + name + "</loc></url>\n"
	}
	return text + "</urlset>\n"
}

// page is an HTML page of the site.
func (s demoSite) page(root, page string) string {
	name := html.EscapeString(site.Unicode(string(s)))
	topic := map[bool]string{true: "welcome", false: page}[page == ""]
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html")
	write := func(unless, format string, values ...any) {
		if unless == "" || !s.flaw(unless) {
			fmt.Fprintf(&b, format, values...)
		}
	}
	write("lang", ` lang="en"`)
	write("", "><head>\n")
	write(map[string]string{"visit": "title", "team": "title too"}[page], "<title>%s, %s and all that you may want to know</title>\n", name, topic)
	write(map[string]string{"about": "description", "contact": "description too"}[page],
		"<meta name=\"description\" content=\"The page %s of %s: who we are, what we make, where to find us and how to reach us on any day.\">\n", topic, name)
	write("viewport", "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	write("canonical", "<link rel=\"canonical\" href=\"%s/%s\">\n", root, page)
	if page == "team" && s.flaw("noindex") {
		write("", "<meta name=\"robots\" content=\"noindex\">\n")
	}
	write("", "</head><body>\n")
	write(map[string]string{"contact": "h1"}[page], "<h1>%s: %s</h1>\n", name, topic)
	words := 230
	if page == "contact" && s.flaw("thin") {
		words = 30
	}
	write("", "<p>%s</p>\n", strings.TrimSpace(strings.Repeat("we at "+name+" love "+topic+" ", words/5)))
	if page == "" && s.flaw("alt") {
		write("", "<img src=\"/about\">\n")
	}
	for _, other := range demoPages {
		write("", "<a href=\"/%s\">%s</a>\n", other, other)
	}
	write("", "<a href=\"/\">Home</a>\n</body></html>\n")
	return b.String()
}
