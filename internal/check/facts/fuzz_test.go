package facts_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/check"
	"sightline/internal/check/checktest"
	"sightline/internal/seo"
)

// FuzzRead demands of any body: facts that can be kept (valid text, no control characters, bounded), the same each time, and checks
// that run over them.
func FuzzRead(f *testing.F) {
	for _, site := range checktest.Sites() {
		for _, a := range site.Answers {
			f.Add([]byte(a.Body), "text/html")
		}
	}
	for _, seed := range []string{"", "<", "<a href", "<title", "<svg><title/><a>", "<template>", "<h1><h1></h1>", "\xff\xfe<\x00h\x00", "<script type=application/ld+json>",
		"<a href=x><a href=y></a></h1>", "<img srcset=', ,'>", "<html lang=\x00>", "<base href='//['>", "</p itemprop>", "<p itemscope itemtype itemprop>", "<textarea><title>"} {
		f.Add([]byte(seed), "text/html; charset=utf-8")
		f.Add([]byte(seed), "text/html; charset=shift_jis")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := string(body)
		p := read(string(body), "Content-Type: "+contentType)
		if string(body) != before {
			t.Error("the body was changed")
		}
		if diff := cmp.Diff(p, read(string(body), "Content-Type: "+contentType)); diff != "" {
			t.Errorf("a second reading differs:\n%s", diff)
		}
		if len(p.Links) > 1000 || len(p.Images) > 500 || len(p.Titles)+len(p.Descriptions)+len(p.Headings)+len(p.Viewports)+len(p.Canonicals) > 5*20 {
			t.Errorf("too many facts: %+v", p)
		}
		for _, text := range allText(t, p) {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\n\r") || len(text) > 2048+8 {
				t.Errorf("text that cannot be kept: %q", text)
			}
		}
		for _, finding := range check.Page(p) {
			if finding.Count < 1 || finding.Value == "" || len(finding.Evidence) == 0 || len(finding.Evidence) > 10 {
				t.Errorf("%+v", finding)
			}
		}
	})
}

// allText lists every text of the facts.
func allText(t *testing.T, p *seo.Page) (texts []string) {
	encoded, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(decoded)
	return texts
}
