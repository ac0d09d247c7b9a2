package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/seo"
)

// TestEvidence demands that findings show exactly what stands in the page, the header or the redirect.
func TestEvidence(t *testing.T) {
	tests := []struct {
		check string
		scene scene
		count int
		want  []string
	}{
		{"http.4xx", page(gone), 1, []string{root + "/x → 404", "linked from " + root + "/"}},
		{"http.no_response", page(answer{Drop: true}), 1, []string{root + "/x → the server closed the connection", "linked from " + root + "/"}},
		{"http.redirect", page(to(301, "../")), 1, []string{root + "/x → 301 Location: ../", "linked from " + root + "/"}},
		{"redirect.chain", page(to(301, "/y"), "/y", to(302, "/")), 1, []string{root + "/x → 301 Location: /y", root + "/y → 302 Location: /"}},
		{"index.noindex", page(header("X-Robots-Tag", "bingbot: noindex, none")), 1, []string{"X-Robots-Tag: bingbot: noindex, none"}},
		{"index.noindex", home(head("<META name=Robots content='NOINDEX'>")), 1, []string{"<META name=Robots content='NOINDEX'>"}},
		{"canonical.multiple", page(header("Link", `</y>; rel="canonical"`)), 2, []string{`Link: </y>; rel="canonical"`, `<link rel="canonical" href="` + root + `/x">`}},
		{"title.duplicate", page(good("/x", func(d *doc) { d.Title = "All there is to know of a example" })), 1, []string{"<title>All there is to know of a example</title>", "same on " + root + "/"}},
		{"h1.multiple", home(func(d *doc) { d.H1, d.Body = "", "<h1 class=a>One</h1><H1>Two <i>2</i></H1>" }), 2, []string{"<h1 class=a>One</h1>", "<H1>Two <i>2</i></H1>"}},
		{"link.broken_internal", home(body(`<a  HREF="/y" class=z>to <b>y</b></a><map><area href=/w alt=W></map>`)), 2, []string{`<a  HREF="/y" class=z>to y</a> → 404`, "<area href=/w alt=W> → 404"}},
		{"img.broken", home(body(`<img alt="" src=y.png>`)), 1, []string{`<img alt="" src=y.png> → ` + root + "/y.png → 404"}},
		{"lang.missing", home(func(d *doc) { d.Lang = "en_US" }), 1, []string{`<html lang="en_US">`}},
		{"robots.invalid", home(nil, "/robots.txt", answer{Type: "text/plain", Body: "User-agent: *\nNope: /\n"}), 1, []string{"line 2: unknown directive: Nope: /"}},
		{"sitemap.missing", home(nil), 1, []string{root + "/sitemap.xml → 404"}},
		{"sec.mixed_content", home(body(`<script async src="http://b.example/s.js"></script>`)), 1, []string{`<script async src="http://b.example/s.js">`}},
	}
	for _, test := range tests {
		findings, _, _ := run(t, test.scene.site.Crawl())
		var got *seo.Finding
		for i, f := range findings {
			if f.Check == test.check && f.Page == test.scene.judged {
				got = &findings[i]
			}
		}
		if got == nil {
			t.Errorf("%s is not found", test.check)
		} else if diff := cmp.Diff(test.want, got.Evidence); diff != "" || got.Count != test.count {
			t.Errorf("%s: %d times (-want +got):\n%s", test.check, got.Count, diff)
		}
	}
}
