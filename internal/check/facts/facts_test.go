package facts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/check/checktest"
	"sightline/internal/check/facts"
	"sightline/internal/seo"
)

var (
	where = checktest.Addresses{Host: "a.example"}
	now   = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
)

// read makes the facts of an answer at https://a.example/dir/page with header lines such as "Link: …".
func read(body string, header ...string) *seo.Page {
	h := map[string][]string{}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		h[name] = append(h[name], value)
	}
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"text/html"}
	}
	return facts.Read(facts.Fetch{URL: "https://a.example/dir/page", Status: 200, At: now, Header: h, Body: []byte(body)}, where.From)
}

func texts(list []seo.Element) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Text
	}
	return strings.Join(out, "|")
}

func raws(list []seo.Element) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Raw
	}
	return strings.Join(out, "|")
}

func links(p *seo.Page) string {
	var out []string
	for _, l := range p.Links {
		side := "out"
		if l.Internal {
			side = "in"
		}
		out = append(out, fmt.Sprintf("%s %s [%s]", side, l.URL, l.Text))
	}
	return strings.Join(out, "|")
}

func images(p *seo.Page) string {
	var out []string
	for _, i := range p.Images {
		out = append(out, i.URL)
	}
	return strings.Join(out, "|")
}

func canonicals(p *seo.Page) string {
	var out []string
	for _, c := range p.Canonicals {
		out = append(out, c.URL)
	}
	return strings.Join(out, "|")
}

func rules(p *seo.Page) string {
	var out []string
	for _, r := range p.Robots {
		text := strings.TrimSpace(r.Agent + " " + r.Name)
		if !r.Until.IsZero() {
			text += " " + r.Until.Format(time.DateOnly)
		}
		out = append(out, text)
	}
	return strings.Join(out, "|")
}

func TestHTML(t *testing.T) {
	titles := func(p *seo.Page) string { return texts(p.Titles) }
	headings := func(p *seo.Page) string { return texts(p.Headings) }
	words := func(p *seo.Page) string { return fmt.Sprint(p.Words) }
	noAlt := func(p *seo.Page) string { return strings.Join(p.NoAlt.First, "|") }
	insecure := func(p *seo.Page) string { return strings.Join(p.Insecure.First, "|") }
	data := func(p *seo.Page) string { return strings.Join(p.BadData.First, "|") }
	tests := []struct {
		name, html string
		fact       func(*seo.Page) string
		want       string
	}{
		{"title with entities and white space", "<title>\n Fish &amp;  Chips </title>", titles, "Fish & Chips"},
		{"two titles", "<title>a</title><title>b</title>", titles, "a|b"},
		{"a title never closed", "<title>a <p>b", titles, "a <p>b"},
		{"a title as written", "<TITLE Class=x>A &amp; b</TITLE>", func(p *seo.Page) string { return raws(p.Titles) }, "<TITLE Class=x>A &amp; b</title>"},
		{"a title in a drawing", "<svg><title>x</title><style/></svg><title>y</title>", titles, "y"},
		{"a title behind a drawing that never ends", "<svg><path><p><title>x</title>", titles, "x"},
		{"images of a drawing", "<svg><image href=x></svg>", noAlt, ""},
		{"description", `<META NAME=Description CONTENT="a  b">`, func(p *seo.Page) string { return texts(p.Descriptions) }, "a b"},
		{"description as written", `<META NAME=Description CONTENT="a &lt; b">`, func(p *seo.Page) string { return raws(p.Descriptions) }, `<META NAME=Description CONTENT="a &lt; b">`},
		{"lang", `<html class=x lang=de-AT><html lang=fr>`, func(p *seo.Page) string { return p.Lang + p.Root }, "de-AT<html class=x lang=de-AT>"},
		{"heading with markup", "<h1>One <b>two</b>\nthree</h1>", headings, "One two three"},
		{"heading as written", "<h1 Class=x>One <B>t</B></h1>", func(p *seo.Page) string { return raws(p.Headings) }, "<h1 Class=x>One <B>t</B></h1>"},
		{"heading never closed", "<h1>One<h1>Two", headings, "One|Two"},
		{"heading of an image", `<h1><img alt="Lamps"></h1>`, headings, "Lamps"},
		{"words", "one two-three, four. – 5", words, "4"},
		{"words across inline elements", "wo<b>rd</b>s and<p>more</p>more", words, "4"},
		{"words that visitors do not see", "one<script>two</script><style>three</style><noscript>four</noscript><template>five</template><!-- six --><textarea>seven</textarea>", words, "1"},
		{"words without spaces", "日本語 and ひらがな", words, "8"},
		{"links", `<a href="x">to <b>x</b></a><a href=/y#top>y</a><a href="https://b.example">b</a>`, links, "in https://a.example/dir/x [to x]|in https://a.example/y [y]|out https://b.example/ [b]"},
		{"links to the same target", `<a href=x>one</a><a href="./x">two</a><a href=x#y>three</a>`, links, "in https://a.example/dir/x [one]"},
		{"links that lead nowhere", `<a href="#top">x</a><a href="javascript:x()">x</a><a href="mailto:a@b.example">x</a><a href=" ">x</a><a>x</a><a href="http://[">x</a>`, links, ""},
		{"links with a base behind them", `<a href=x>x</a><base href="/other/"><base href="/third/">`, links, "in https://a.example/other/x [x]"},
		{"a link that is not closed", `<a href=x>one<a href=y>two`, links, "in https://a.example/dir/x [one]|in https://a.example/dir/y [two]"},
		{"a link around an image", `<a href=x><img src=i alt="To x"></a>`, links, "in https://a.example/dir/x [To x]"},
		{"an area", `<area href=x alt=North>`, links, "in https://a.example/dir/x [North]"},
		{"links of a drawing", `<svg><a href=x>x</a></svg>`, links, ""},
		{"links of a template or a comment", `<template><a href=x>x</a></template><!--<a href=y>y</a>-->`, links, ""},
		{"images", `<img src=a.png alt=a><img src=a.png alt=b><input type=image src=b.png><input src=no.png><video poster=c.png>`, images,
			"https://a.example/dir/a.png|https://a.example/dir/b.png|https://a.example/dir/c.png"},
		{"images of a set", `<picture><source srcset="a.webp 1x, b,c.webp 2x,d.webp"><img srcset="e.png" alt></picture>`, images,
			"https://a.example/dir/a.webp|https://a.example/dir/b,c.webp|https://a.example/dir/d.webp|https://a.example/dir/e.png"},
		{"images without alt", `<IMG src="a.png"><img src=b.png alt=""><img alt=x src=c.png>`, noAlt, `<IMG src="a.png">`},
		{"insecure parts", `<img src=" HTTP://b.example/x" alt><link rel=stylesheet href=http://b.example/s><link rel=next href=http://b.example/n><script src=//b.example/></script>`,
			insecure, `<img src=" HTTP://b.example/x" alt>|<link rel=stylesheet href=http://b.example/s>`},
		{"insecure parts of a set", `<img alt src="x" srcset="y 1x, http://b.example/z 2x">`, insecure, `<img alt src="x" srcset="y 1x, http://b.example/z 2x">`},
		{"insecure parts that a policy upgrades", `<img src="http://b.example/x" alt><meta http-equiv=content-security-policy content="Upgrade-Insecure-Requests">`, insecure, ""},
		{"canonical", `<link rel="canonical nofollow" href=" ../x ">`, canonicals, "https://a.example/x"},
		{"robots", `<meta name=robots content="NoIndex,nofollow"><meta name=googlebot content=none><meta name=author content=noindex>`, rules, "noindex|nofollow|googlebot none"},
		{"JSON-LD", `<script type="application/LD+json; charset=utf-8">{"a":[1,2]}</script>`, data, ""},
		{"JSON-LD that breaks off", "<script type=application/ld+json>{\n\"a\":</script>", data, `<script type=application/ld+json>: unexpected end of JSON input in line 2 near { "a":`},
		{"JSON-LD with nothing in it", "<script type=application/ld+json> </script>", data, "<script type=application/ld+json>: it is empty"},
		{"microdata without scope", `<p itemtype="https://schema.org/X">`, data, `<p itemtype="https://schema.org/X">: itemtype without itemscope`},
		{"microdata of no type", `<p itemscope itemtype="X"><b itemprop=" ">`, data, `<p itemscope itemtype="X">: itemtype is not an absolute address|<b itemprop=" ">: itemprop is empty`},
	}
	for _, test := range tests {
		if got := test.fact(read(test.html)); got != test.want {
			t.Errorf("%s: %s\n got %q\nwant %q", test.name, test.html, got, test.want)
		}
	}
}

func TestHeader(t *testing.T) {
	tests := []struct {
		line string
		fact func(*seo.Page) string
		want string
	}{
		{"X-Robots-Tag: noindex, nofollow", rules, "noindex|nofollow"},
		{"X-Robots-Tag: googlebot: noindex, nofollow, otherbot: none", rules, "googlebot noindex|googlebot nofollow|otherbot none"},
		{"X-Robots-Tag: unavailable_after: 25 Jun 2010 15:00:00 PST", rules, "unavailable_after 2010-06-25"},
		{"X-Robots-Tag: bingbot: unavailable_after: 2010-06-25, noindex", rules, "bingbot unavailable_after 2010-06-25|bingbot noindex"},
		{"X-Robots-Tag: unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nosnippet", rules, "unavailable_after 2010-06-25|nosnippet"},
		{"X-Robots-Tag: max-snippet: 20, ,noindex", rules, "max-snippet|noindex"},
		{"X-Robots-Tag: unavailable_after: soon", rules, "unavailable_after"},
		{"X-Robots-Tag: noindex nofollow", rules, "noindex|nofollow"},
		{`Link: </x>; rel="canonical"`, canonicals, "https://a.example/x"},
		{`Link: </s.css>; rel=preload; as=style, </x>; title="a, \"b\"; rel=next"; rel=canonical`, canonicals, "https://a.example/x"},
		{`Link: </x>; rel="next canonical", </y>; rel=next; rel=canonical`, canonicals, "https://a.example/x"},
		{`Link: </x; rel=canonical`, canonicals, ""},
		{`Link: <mailto:x>; rel=canonical`, canonicals, ""},
		{"Content-Type: Text/HTML; charset=utf-8", func(p *seo.Page) string { return fmt.Sprintf("%s %t", p.MediaType, p.IsHTML) }, "text/html true"},
		{"Content-Type: application/pdf", func(p *seo.Page) string { return fmt.Sprintf("%s %t %d", p.MediaType, p.IsHTML, len(p.Titles)) }, "application/pdf false 0"},
	}
	for _, test := range tests {
		if got := test.fact(read("<title>x</title>", test.line)); got != test.want {
			t.Errorf("%s\n got %q\nwant %q", test.line, got, test.want)
		}
	}
}

func TestCharset(t *testing.T) {
	tests := []struct{ contentType, body, want string }{
		{"text/html; charset=iso-8859-1", "<title>caf\xe9</title>", "café"},
		{"text/html", "<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title>", "Привет"},
		{"text/html", "\xef\xbb\xbf<title>café</title>", "café"},
		{"text/html", "<!--" + strings.Repeat("x", 2000) + "--><title>café</title>", "café"},
		{"text/html; charset=shift_jis", "<title>\x93\xfa\x96{</title>", "日本"},
		{"text/html; charset=utf-8", "<title>caf\xe9\x00</title>", "caf\ufffd\ufffd"},
		{"text/html; charset=nonsense", "<title>café</title>", "café"},
	}
	for _, test := range tests {
		if got := texts(read(test.body, "Content-Type: "+test.contentType).Titles); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.contentType, test.body, got, test.want)
		}
	}
}

// TestNoPage demands that an answer without a page of its own has no facts of one.
func TestNoPage(t *testing.T) {
	good := facts.Fetch{URL: "https://a.example/", Status: 200, Header: map[string][]string{"X-Robots-Tag": {"noindex"}}, Body: []byte("<html><title>x</title>")}
	for name, change := range map[string]func(*facts.Fetch){
		"an error": func(f *facts.Fetch) { f.Status = 404 },
		"a redirect": func(f *facts.Fetch) {
			f.Hops, f.End = []seo.Hop{{URL: f.URL, Status: 301, Location: "/x"}}, "https://a.example/x"
		},
		"a failure": func(f *facts.Fetch) { f.Failure, f.Reason = seo.FailedTimeout, "no answer\x00 in time" },
	} {
		f := good
		change(&f)
		p := facts.Read(f, where.From)
		want := &seo.Page{URL: f.URL, Status: f.Status, Hops: f.Hops, End: f.End, Failure: f.Failure, Reason: strings.ReplaceAll(f.Reason, "\x00", "\ufffd"), Size: len(f.Body)}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if p := facts.Read(good, where.From); !p.IsHTML || texts(p.Titles) != "x" || !p.NoIndex() {
		t.Errorf("a page without content type: %+v", p)
	}
}

// TestBounds demands that facts stay small whatever a page holds, and say what was cut.
func TestBounds(t *testing.T) {
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	long := strings.Repeat("long ", 100_000)
	p := read(many("<a href=/%d>x</a>", 5000) + many("<img src=/%d>", 3000) + many("<h1>%d</h1>", 100) + many("<meta name=robots content=noindex,%d>", 100) +
		"<title class='" + long + "'>" + long + "</title><meta name=description content='" + long + "'><a href='/" + long + "'>" + long + "</a>" +
		strings.Repeat("<div>", 100_000))
	if len(p.Links) != 1000 || !p.LinksCut || len(p.Images) != 500 || !p.ImagesCut || p.NoAlt.Count != 3000 || len(p.NoAlt.First) != 10 {
		t.Errorf("%d links (cut %t), %d images (cut %t), %+v", len(p.Links), p.LinksCut, len(p.Images), p.ImagesCut, p.NoAlt)
	}
	if len(p.Headings) != 20 || len(p.Robots) != 50 || p.Titles[0].Length != 256<<10 {
		t.Errorf("%d headings, %d rules, title of %d characters", len(p.Headings), len(p.Robots), p.Titles[0].Length)
	}
	for _, e := range []seo.Element{p.Titles[0], p.Descriptions[0]} {
		if len(e.Text) > 520 || len(e.Raw) > 450 || !strings.Contains(e.Raw, "…") {
			t.Errorf("an element of %d and %d bytes: %q", len(e.Text), len(e.Raw), e.Raw)
		}
	}
}

// TestHostileSizes reads pages that are large in one place: little memory is taken for what nobody will see.
func TestHostileSizes(t *testing.T) {
	const size = 1 << 20
	for name, body := range map[string]string{
		"rules":       `<meta name=robots content="` + strings.Repeat("a ", size/2) + `">`,
		"title":       `<title>` + strings.Repeat("a ", size/2) + `</title>`,
		"description": `<meta name=description content="` + strings.Repeat("a ", size/2) + `">`,
	} {
		var p *seo.Page
		used := testing.AllocsPerRun(1, func() { p = read(body) })
		if used > 5_000 || len(p.Robots) > 50 || p.Truncated {
			t.Errorf("%s: %v allocations, %d rules, cut off: %t", name, used, len(p.Robots), p.Truncated)
		}
	}
	if p := read(`<title>t</title><p title="` + strings.Repeat("a", 5<<20) + `"><a href=/x>x</a>`); !p.Truncated || len(p.Links) > 0 || len(p.Titles) != 1 {
		t.Errorf("a tag of 5 MB: cut off: %t, links %v, titles %v", p.Truncated, p.Links, p.Titles)
	}
}
