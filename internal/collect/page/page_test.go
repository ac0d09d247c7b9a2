package page

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sightline/internal/analytics"
)

func TestPage(t *testing.T) {
	tests := []struct{ exclude, in, want string }{
		{"", "https://example.com", "/"},
		{"", "https://example.com/", "/"},
		{"", "https://example.com/a/b?x=1&y=2#part", "/a/b?x=1&y=2"},
		{"", "/a?x=1", "/a?x=1"},
		{"", "a/b", "/a/b"},
		{"", "?x=1", "/?x=1"},
		{"", "", "/"},
		{"", "https://example.com/?utm_source=n&utm_medium=m&utm_id=1&ref=r&source=s&gclid=g&fbclid=f&x=1", "/?x=1"},
		{"", "https://example.com/?utm%5Fsource=n&x=1", "/?x=1"},
		{"", "https://example.com/?&&x=1&&", "/?x=1"},
		{"", "https://example.com/?reference=1&sources=2", "/?reference=1&sources=2"},
		{"session", "https://example.com/?session=1&sessions=2&Session=3", "/?sessions=2&Session=3"},
		{"s*", "https://example.com/?session=1&a=2", "/?a=2"},
		{"*id", "https://example.com/?id=1&sid=2&ids=3", "/?ids=3"},
		{"a*b*c", "https://example.com/?abc=1&axbxc=2&acb=3&ac=4", "/?acb=3&ac=4"},
		{"ab*ba", "https://example.com/?aba=1&abba=2", "/?aba=1"},
		{"*", "https://example.com/p?a=1&b=2", "/p"},
		{"&", "https://example.com/p?a=1&b", "/p"},
		{"a b", "https://example.com/p?a=1&b&c", "/p?c"},
		{"a[0]", "https://example.com/p?a%5B0%5D=1&c", "/p?c"},
		{"", "https://example.com/gr%C3%BC%C3%9Fe?q=%zz", "/gr%C3%BC%C3%9Fe?q=%zz"},
		{"", "https://example.com/\xff", "/\uFFFD"},
		{"", "https://example.com/<script>alert(1)</script>", "/<script>alert(1)</script>"},
		{"", "https://example.com/?q='; DROP TABLE events; --", "/?q='; DROP TABLE events; --"},
	}
	for _, test := range tests {
		names, err := analytics.ParseParams(test.exclude)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := NewParams(names).Page(Split(test.in), false); got != test.want {
			t.Errorf("%q without %q is %q, want %q", test.in, test.exclude, got, test.want)
		}
	}
}

func TestFragment(t *testing.T) {
	params := NewParams([]string{"token"})
	got, campaign := params.Page(Split("https://example.com/app?a=1#/reset?token=secret&utm_source=mail&b=2"), true)
	if want := "/app?a=1#/reset?b=2"; got != want || campaign.Source != "mail" {
		t.Errorf("got %q of %q, want %q", got, campaign.Source, want)
	}
}

func TestCampaign(t *testing.T) {
	tests := []struct {
		query string
		want  Campaign
	}{
		{"utm_source=News+Letter&utm_medium=e%2Dmail&utm_campaign=c&utm_content=d&utm_term=e", Campaign{Source: "News Letter", Medium: "e-mail", Name: "c", Content: "d", Term: "e"}},
		{"ref=a", Campaign{Ref: "a"}},
		{"source=b&ref=a", Campaign{Ref: "b"}},
		{"ref=a&source=b", Campaign{Ref: "b"}},
		{"gclid=1", Campaign{Paid: true}},
		{"fbclid=1", Campaign{}},
		{"utm_source=%zz", Campaign{Source: "%zz"}},
		{"utm_source=" + strings.Repeat("ü", 1000), Campaign{Source: strings.Repeat("ü", maxCampaign/2)}},
	}
	for _, test := range tests {
		// What a site leaves out is read all the same.
		if _, got := NewParams([]string{"&"}).Page(Split("https://example.com/?"+test.query), false); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.query, got, test.want)
		}
	}
}

func TestLongPages(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 5000), strings.Repeat("ü", 5000), strings.Repeat("%C3%BC", 1000)} {
		got, _ := Params{}.Page(Split("https://example.com/"+text), false)
		if len(got) > analytics.MaxPage || len(got) < analytics.MaxPage-5 || !utf8.ValidString(got) || strings.HasSuffix(got, "%") || strings.HasSuffix(got, "%C") {
			t.Errorf("a page of %d bytes that ends in %q", len(got), got[len(got)-6:])
		}
	}
}

func TestDomain(t *testing.T) {
	tests := map[string]string{
		"https://example.com/":          "example.com",
		"https://www.example.com":       "example.com",
		"HTTPS://WWW.Example.COM:443/x": "example.com",
		"http://example.com:80":         "example.com",
		"https://example.com:8443":      "example.com:8443",
		"//example.com/x":               "example.com",
		"https://user:pw@example.com/":  "example.com",
		"https://bücher.example":        "xn--bcher-kva.example",
		"http://127.0.0.1:8080/":        "127.0.0.1:8080",
		"http://[::1]/":                 "[::1]",
		"http://localhost/":             "localhost",
		"https://example.com./":         "example.com",
		"/only/a/path":                  "",
		"":                              "",
		"file:///home/me/index.html":    "",
	}
	for in, want := range tests {
		if got := Split(in).Domain(); got != want {
			t.Errorf("the domain of %q is %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"data:text/html,x", "about:blank", "javascript:alert(1)", "blob:null/1-2"} {
		if Split(in).OnSite() {
			t.Errorf("%q is of no site", in)
		}
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		domain, of string
		want       bool
	}{
		{"example.com", "example.com", true}, {"blog.example.com", "example.com", true}, {"notexample.com", "example.com", false},
		{"example.com", "blog.example.com", false}, {"example.com.evil.example", "example.com", false}, {"", "example.com", false},
	}
	for _, test := range tests {
		if got := Within(test.domain, test.of); got != test.want {
			t.Errorf("Within(%q, %q) = %v", test.domain, test.of, got)
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, seed := range []string{"https://www.example.com/a?utm_source=x&b=%zz#f?c=1", "//h\\@x:/", "data:,", "?&=&%", "\xff#\xfe?", "/%%%"} {
		f.Add(seed, "b*", true)
	}
	f.Fuzz(func(t *testing.T, text, exclude string, fragment bool) {
		names, err := analytics.ParseParams(exclude)
		if err != nil {
			return
		}
		params, address := NewParams(names), Split(text)
		page, campaign := params.Page(address, fragment)
		if len(page) > analytics.MaxPage || !utf8.ValidString(page) || !strings.HasPrefix(page, "/") {
			t.Errorf("%q is stored as %q", text, page)
		}
		if again, _ := params.Page(Split(page), fragment); again != page && len(page) < analytics.MaxPage-6 && !strings.HasPrefix(page, "//") && strings.TrimSpace(page) == page {
			t.Errorf("%q is stored as %q, and that as %q", text, page, again)
		}
		for _, field := range []string{campaign.Source, campaign.Medium, campaign.Name, campaign.Content, campaign.Term, campaign.Ref} {
			if len(field) > maxCampaign || !utf8.ValidString(field) {
				t.Errorf("%q has the campaign %q", text, field)
			}
		}
		if domain := address.Domain(); (Address{Host: domain}).Domain() != domain && isPlain(domain) {
			t.Errorf("the domain of %q is %q", text, domain)
		}
	})
}

func BenchmarkPage(b *testing.B) {
	params := NewParams([]string{"session*", "token"})
	for b.Loop() {
		params.Page(Split("https://www.example.com/blog/2026/a-title?utm_source=newsletter&utm_medium=email&page=2"), false)
	}
}
