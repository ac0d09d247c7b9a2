package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"sightline/internal/crawl/sitemap"
)

const head = `<?xml version="1.0" encoding="UTF-8"?>`

func zip(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	io.WriteString(w, text)
	w.Close()
	return out.String()
}

func TestRead(t *testing.T) {
	urlset := head + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://a.example/1 </loc><lastmod>2024-05-01</lastmod></url>
		<url><loc>https://a.example/2?a=1&amp;b=2</loc><image:image><image:loc>https://a.example/no.png</image:loc></image:image></url></urlset>`
	for _, c := range []struct {
		name, text string
		kind       sitemap.Kind
		want       string // the addresses, each with its date in brackets if it has one
	}{
		{"urlset", urlset, sitemap.URLs, "https://a.example/1(2024-05-01) https://a.example/2?a=1&b=2"},
		{"compressed", zip(urlset), sitemap.URLs, "https://a.example/1(2024-05-01) https://a.example/2?a=1&b=2"},
		{"byte order mark and no declaration", "\ufeff\n<urlset><url><loc>https://a.example/</loc></url></urlset>", sitemap.URLs, "https://a.example/"},
		{"CDATA and comments", "<urlset><!-- x --><url><loc><![CDATA[https://a.example/?a&b]]></loc></url></urlset>", sitemap.URLs, "https://a.example/?a&b"},
		{"Latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>https://a.example/\xe9</loc></url></urlset>", sitemap.URLs, "https://a.example/%C3%A9"},
		{"UTF-16", "\xff\xfe" + wide("<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>https://a.example/</loc></url></urlset>"), sitemap.URLs, "https://a.example/"},
		{"empty urlset", "<urlset/>", sitemap.URLs, ""},
		{"index", head + `<sitemapindex><sitemap><loc>https://a.example/s1.xml.gz</loc><lastmod>2024</lastmod></sitemap></sitemapindex>`, sitemap.Index, "https://a.example/s1.xml.gz(2024)"},
		{"RSS", `<rss version="2.0"><channel><link>https://a.example/</link><item><title>x</title><link>https://a.example/p</link><pubDate>Mon</pubDate></item></channel></rss>`, sitemap.RSS, "https://a.example/p(Mon)"},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="x"><channel><link>https://a.example/</link></channel><item><link>https://a.example/p</link></item></rdf:RDF>`, sitemap.RSS, "https://a.example/p"},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.example/"/><entry><link rel="edit" href="https://a.example/e"/><link rel="alternate" href="https://a.example/p"/><updated>2024</updated></entry>
			<entry><link href="https://a.example/q"/><link rel="enclosure" href="https://a.example/m.mp3"/></entry></feed>`, sitemap.Atom, "https://a.example/p(2024) https://a.example/q"},
		{"text", "\ufeffhttps://a.example/1\r\n\r\n  https://a.example/2  \n", sitemap.Text, "https://a.example/1 https://a.example/2"},
		{"text compressed", zip("https://a.example/1\n"), sitemap.Text, "https://a.example/1"},
	} {
		file := sitemap.Read(strings.NewReader(c.text))
		var got []string
		for _, e := range file.Entries {
			if e.Modified != "" {
				e.URL.URL += "(" + e.Modified + ")"
			}
			got = append(got, e.URL.URL)
		}
		if strings.Join(got, " ") != c.want || file.Kind != c.kind || file.Err != nil || file.Problems != nil || file.TooLarge {
			t.Errorf("%s: %q, %+v", c.name, got, file)
		}
	}
}

func wide(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		out.Write([]byte{c, 0})
	}
	return out.String()
}

// A bad address is reported with its line and does not hide the others.
func TestProblems(t *testing.T) {
	file := sitemap.Read(strings.NewReader("<urlset>\n<url><loc>/relative</loc></url>\n<url></url>\n<url><loc>ftp://a.example/</loc></url>\n<url><loc>https://a.example/</loc></url></urlset>"))
	want := []sitemap.Problem{{2, `"/relative": this is not a web address`}, {3, "an entry has no address"}, {4, `"ftp://a.example/": the address does not begin with http:// or https://`}}
	if fmt.Sprint(file.Problems) != fmt.Sprint(want) || len(file.Entries) != 1 || file.Err != nil {
		t.Errorf("got %+v", file)
	}
}

func TestNotASitemap(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"empty", "", sitemap.Empty},
		{"only space", " \n ", sitemap.Empty},
		{"a page", "<!doctype html><html><body>Not found</body></html>", sitemap.WrongRoot},
		{"another XML", head + "<catalog><url/></catalog>", sitemap.WrongRoot},
		{"only a declaration", head, sitemap.WrongRoot},
		{"words", "Not found\n", sitemap.NotText},
		{"binary", "\x00\x01\x02", sitemap.NotText},
		{"broken compression", "\x1f\x8bnonsense", gzip.ErrHeader},
	} {
		if file := sitemap.Read(strings.NewReader(c.text)); !errors.Is(file.Err, c.want) {
			t.Errorf("%s: %+v", c.name, file)
		}
	}
	for _, text := range []string{"<urlset><url><loc>https://a.example/1</loc></url><url>", "<urlset><url><loc>https://a.example/1</loc></url></sitemap>",
		zip("<urlset><url><loc>https://a.example/1</loc></url></urlset>")[:60], "<urlset><url><loc>https://a.example/1</loc></url>&bomb;</urlset>"} {
		if file := sitemap.Read(strings.NewReader(text)); file.Err == nil {
			t.Errorf("%.40q is read without an error: %+v", text, file)
		}
	}
}

// repeat is a reader of a text that goes on for long.
type repeat struct {
	head, text string
	times      int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.head == "" {
		if r.times == 0 {
			return 0, io.EOF
		}
		r.times--
		r.head = r.text
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}

func TestBounds(t *testing.T) {
	page := "<url><loc>https://a.example/</loc></url>"
	for _, c := range []struct {
		name     string
		from     io.Reader
		entries  int
		tooLarge bool
		err      bool
	}{
		{"as many addresses as there may be", &repeat{"<urlset>", page, 500}, 500, false, true}, // without an end tag
		{"more", &repeat{"<urlset>", page, 501}, 500, true, false},
		{"more lines", &repeat{"", "https://a.example/\n", 501}, 500, true, false},
		{"endless tags", &repeat{"<urlset>", "<x/>", 1 << 20}, 0, true, false},
		{"endless comments", &repeat{"<urlset>", "<!--" + strings.Repeat("x", 100_000) + "-->", 1 << 20}, 0, true, false},
		{"a compressed bomb", strings.NewReader(zip("<urlset>" + strings.Repeat("<!--"+strings.Repeat("x", 100_000)+"-->", 20))), 0, true, false},
		{"deep elements", &repeat{"<urlset>", "<a>", 1 << 20}, 0, false, true},
		{"an endless tag", &repeat{"<urlset><url ", `a="" `, 1 << 20}, 0, false, true},
		{"an endless text", &repeat{"<urlset><url><loc>", "aaaaaaaa", 1 << 20}, 0, false, true},
		{"an endless comment", &repeat{"<urlset><!--", "aaaaaaaa", 1 << 20}, 0, false, true},
		{"an endless line", &repeat{"http", "aaaaaaaa", 1 << 20}, 0, false, true},
		{"a failing reader", io.MultiReader(strings.NewReader("<urlset>"), failing{}), 0, false, true},
	} {
		file := sitemap.ReadWithin(c.from, 500, 5000, 1<<20)
		if len(file.Entries) != c.entries || file.TooLarge != c.tooLarge || (file.Err != nil) != c.err {
			t.Errorf("%s: %d entries, too large %v, %v", c.name, len(file.Entries), file.TooLarge, file.Err)
		}
	}
	if file := sitemap.Read(&repeat{"", "https://a.example/\n", sitemap.MaxURLs + 1}); len(file.Entries) != sitemap.MaxURLs || !file.TooLarge {
		t.Errorf("%d entries of %d are read", len(file.Entries), sitemap.MaxURLs+1)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"<urlset><url><loc>https://a.example/</loc></url></urlset>", "https://a.example/\n", zip("<rss><channel><item><link>https://a/</link></item></channel></rss>"),
		"<feed><entry><link href='https://a/'/></entry></feed>", "<?xml version='1.0' encoding='utf-16'?><urlset/>", "\xff\xfe<\x00", "<urlset><url></urlset>", "<sitemapindex><sitemap/>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := sitemap.Read(bytes.NewReader(text))
		if len(file.Entries) > sitemap.MaxURLs || len(file.Problems) > 100 {
			t.Fatalf("%d entries, %d problems", len(file.Entries), len(file.Problems))
		}
		for _, e := range file.Entries {
			if e.URL.URL == "" {
				t.Fatalf("an entry without an address: %+v", e)
			}
		}
	})
}
