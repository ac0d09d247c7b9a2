package address

import (
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// The quick way either declines or says what the full parser says.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"http://example.com/", "https://a.b/c.d/e_f-g?a=b&c#d", "https://a-b.c/./x", "https://abc/x", "http://a.b/..", "http://ab--c.d/", "https://a1.2b.cd/x", "http://1.2.3.4/", "http://1.2.3.0x/", "http://a.1/",
		"x.html", "../x", "../../../x/y?utm_a=1", "/a?b", "a/../b", "./x", "?x", "//a.b/c", "..", "x?", "x?utm_a=1&b=2", "http:x", "https"} {
		f.Add(seed)
	}
	base, err := ParseBase("https://example.com/one/two/three.html?q=/1")
	if err != nil {
		f.Fatal(err)
	}
	if err := base.parse(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if quick, ok := plain(text); ok {
			agree(t, text, quick)(whatwg.Parse(text))
		}
		if quick, ok := base.plain(text); ok {
			agree(t, text, quick)(base.url.Parse(text))
		}
	})
}

func agree(t *testing.T, text string, quick Address) func(*whatwg.Url, error) {
	return func(parsed *whatwg.Url, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%q is %+v the quick way; the parser says %v", text, quick, err)
		}
		if full, err := normal(parsed); err != nil || full != quick {
			t.Fatalf("%q is %+v the quick way, %+v, %v the full way", text, quick, full, err)
		}
	}
}
