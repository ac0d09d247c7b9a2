package check_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"syscall"
	"testing"
	"time"

	"sightline/internal/check"
	"sightline/internal/check/checktest"
	"sightline/internal/check/facts"
	"sightline/internal/seo"
)

// typical is a page of about 36 KB: a menu, paragraphs with links, some images and structured data.
func typical() []byte {
	d := checktest.Good(root + "/typical")
	d.Head = `<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Article", "name": "Typical"}</script>` +
		"<style>" + strings.Repeat(".menu a { color: #123456; padding: 4px }\n", 60) + "</style>"
	var b strings.Builder
	for i := range 90 {
		fmt.Fprintf(&b, "<li class=\"menu-item\"><a class=\"menu-link\" href=\"/section-%d/page-%d.html\"><span>Section %d</span></a></li>\n", i%9, i, i)
	}
	for i := range 40 {
		fmt.Fprintf(&b, "<p class=\"text\">%s <a href=\"https://other-%d.example/article?id=%d\" rel=\"noopener\">read more</a></p>\n", checktest.Words("lamps and tables", 75), i%4, i)
	}
	for i := range 15 {
		fmt.Fprintf(&b, "<img src=\"/images/%d.jpg\" srcset=\"/images/%d-2x.jpg 2x\" alt=\"Lamp %d\" width=\"200\" height=\"100\">\n", i, i, i)
	}
	d.Body = b.String()
	return []byte(d.HTML())
}

func BenchmarkPage(b *testing.B) {
	body := typical()
	where := checktest.Addresses{Host: "a.example"}
	f := facts.Fetch{URL: root + "/typical", Status: 200, At: checktest.Now, Body: body,
		Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	start := processorTime(b)
	for b.Loop() {
		p := facts.Read(f, where.From)
		if findings := check.Page(p); len(findings) != 0 || len(p.Links) != 130 {
			b.Fatal(len(p.Links), findings)
		}
	}
	b.ReportMetric(float64(processorTime(b)-start)/float64(b.N), "cpu-ns/op")
}

// processorTime is what the process has used so far: other processes on the machine do not count, the garbage collector does.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkFinish measures the checks over a finished crawl of many pages, per page.
func BenchmarkFinish(b *testing.B) {
	const pages = 1000
	crawl := large(b, pages)
	b.ReportAllocs()
	b.ResetTimer()
	start := processorTime(b)
	for b.Loop() {
		if _, err := check.Finish(b.Context(), crawl, func(*seo.Page, []seo.Finding, seo.PageScore) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime(b)-start)/float64(b.N)/pages, "cpu-ns/page")
}

// packed is a crawl as a store keeps it: every page is unpacked anew whenever it is read.
type packed struct {
	about seo.Site
	pages [][]byte
}

func (c *packed) Site() seo.Site { return c.about }

func (c *packed) Pages(context.Context) iter.Seq2[*seo.Page, error] {
	return func(yield func(*seo.Page, error) bool) {
		for _, page := range c.pages {
			if !yield(seo.UnpackPage(page)) {
				return
			}
		}
	}
}

func (c *packed) Resources(context.Context) iter.Seq2[seo.Resource, error] {
	return func(func(seo.Resource, error) bool) {}
}

// large is a crawl of typical pages that link to each other.
func large(tb testing.TB, n int) *packed {
	where := checktest.Addresses{Host: "a.example"}
	c := &packed{about: seo.Site{Start: root + "/0", Complete: true}}
	body := string(typical())
	for i := range n {
		text := strings.NewReplacer("typical", fmt.Sprint(i), "/section-1/", fmt.Sprintf("/%d/", i+1), "lamps", fmt.Sprint("lamps-", i)).Replace(body)
		p := facts.Read(facts.Fetch{URL: fmt.Sprintf("%s/%d", root, i), Status: 200, At: checktest.Now, Body: []byte(text), Listed: root + "/sitemap.xml",
			Header: map[string][]string{"Content-Type": {"text/html"}}}, where.From)
		page, err := p.Pack()
		if err != nil {
			tb.Fatal(err)
		}
		c.pages = append(c.pages, page)
	}
	return c
}
