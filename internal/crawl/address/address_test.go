package address_test

import (
	"errors"
	"strings"
	"testing"

	"sightline/internal/crawl/address"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"http://example.com", "http://example.com/"},
		{"HTTP://EXAMPLE.com/A", "http://example.com/A"},
		{" \thttps://example.com/a\nb ", "https://example.com/ab"},
		{"https://example.com:443/", "https://example.com/"},
		{"http://example.com:80/x", "http://example.com/x"},
		{"http://example.com:443/x", "http://example.com:443/x"},
		{"https://example.com:080/x", "https://example.com:80/x"},
		{"https:example.com/x", "https://example.com/x"},
		{`https:\\example.com\x\y`, "https://example.com/x/y"},
		{"https://example.com/a/../b/./c", "https://example.com/b/c"},
		{"https://example.com/../../x", "https://example.com/x"},
		{"https://example.com/a/%2e%2E/b", "https://example.com/b"},
		{"https://example.com/a/.", "https://example.com/a/"},
		{"https://example.com/a/..", "https://example.com/"},
		{"https://example.com/.well-known/x", "https://example.com/.well-known/x"},
		{"https://example.com/a//b", "https://example.com/a//b"},
		{"https://example.com/%e3%83%84", "https://example.com/%E3%83%84"},
		{"https://example.com/ツ", "https://example.com/%E3%83%84"},
		{"https://example.com/a b", "https://example.com/a%20b"},
		{"https://example.com/100%", "https://example.com/100%"},
		{"https://example.com/%zz", "https://example.com/%zz"},
		{"https://example.com/x#top", "https://example.com/x"},
		{"https://example.com/x?#top", "https://example.com/x"},
		{"https://example.com/?", "https://example.com/"},
		{"https://example.com?q=1", "https://example.com/?q=1"},
		{"https://example.com/?q=a b&r='", "https://example.com/?q=a%20b&r=%27"},
		{"https://example.com/?b=2&a=1", "https://example.com/?b=2&a=1"},
		{"https://example.com/?utm_source=x&id=7&UTM_medium=y", "https://example.com/?id=7"},
		{"https://example.com/?gclid=abc", "https://example.com/"},
		{"https://example.com/?a=1&fbclid=2#x", "https://example.com/?a=1"},
		{"https://example.com/?utm=1", "https://example.com/?utm=1"},
		{"https://bücher.example/", "https://xn--bcher-kva.example/"},
		{"https://ＥＸＡＭＰＬＥ.com/", "https://example.com/"},
		{"http://127.1/", "http://127.0.0.1/"},
		{"http://0x7f000001/", "http://127.0.0.1/"},
		{"http://0177.0.0.1/", "http://127.0.0.1/"},
		{"http://2130706433/", "http://127.0.0.1/"},
		{"http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"},
		{"http://[::127.0.0.1]/", "http://[::7f00:1]/"},
	} {
		got, err := address.Parse(c.in)
		if err != nil || got.URL != c.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.in, got.URL, err, c.want)
		}
	}
}

func TestParseParts(t *testing.T) {
	got, err := address.Parse("HTTPS://Example.com:8443/a/../b?q=1#f")
	want := address.Address{URL: "https://example.com:8443/b?q=1", Scheme: "https", Host: "example.com:8443", Target: "/b?q=1"}
	if err != nil || got != want || got.Origin() != "https://example.com:8443" {
		t.Errorf("got %+v (origin %q), %v", got, got.Origin(), err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", address.Invalid}, {"/relative", address.Invalid}, {"example.com/x", address.Invalid}, {"http://", address.Invalid},
		{"http://a b/", address.Invalid}, {"http://[::1", address.Invalid}, {"http://x:99999/", address.Invalid}, {"http://1.2.3.4.5/", address.Invalid},
		{"ftp://example.com/", address.NotWeb}, {"javascript:alert(1)", address.NotWeb}, {"file:///etc/passwd", address.NotWeb},
		{"mailto:a@example.com", address.NotWeb}, {"data:text/html,x", address.NotWeb}, {"gopher://example.com/", address.NotWeb},
		{"http://user@example.com/", address.UserInfo}, {"http://user:pass@example.com/", address.UserInfo}, {"http://:pass@example.com/", address.UserInfo},
		{"http://example.com/" + strings.Repeat("a", 2048), address.TooLong},
		{"http://example.com/" + strings.Repeat("é", 700), address.TooLong}, // longer once it is escaped
	} {
		if got, err := address.Parse(c.in); !errors.Is(err, c.want) {
			t.Errorf("Parse(%.40q) = %q, %v; want %v", c.in, got.URL, err, c.want)
		}
	}
}

func TestJoin(t *testing.T) {
	base, err := address.ParseBase("https://example.com/shop/list?page=2#x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ link, want string }{
		{"item", "https://example.com/shop/item"},
		{"item.html?a=1&utm_source=x#y", "https://example.com/shop/item.html?a=1"},
		{"../../../item", "https://example.com/item"},
		{"a/./b/../c", "https://example.com/shop/a/c"},
		{"..", "https://example.com/"},
		{"./item", "https://example.com/shop/item"},
		{"../", "https://example.com/"},
		{"/a", "https://example.com/a"},
		{"//other.example/a", "https://other.example/a"},
		{"?page=3", "https://example.com/shop/list?page=3"},
		{"", "https://example.com/shop/list?page=2"},
		{"#y", "https://example.com/shop/list?page=2"},
		{"http://other.example/x", "http://other.example/x"},
		{`\\other.example\x`, "https://other.example/x"},
	} {
		if got, err := base.Join(c.link); err != nil || got.URL != c.want {
			t.Errorf("Join(%q) = %q, %v; want %q", c.link, got.URL, err, c.want)
		}
	}
	for _, link := range []string{"javascript:void(0)", "mailto:x@example.com", "tel:123", "http://", "https://u:p@example.com/"} {
		if got, err := base.Join(link); err == nil {
			t.Errorf("Join(%q) = %q, want an error", link, got.URL)
		}
	}
}

func TestScope(t *testing.T) {
	for _, c := range []struct {
		start, link string
		subdomains  bool
		want        bool
	}{
		{"https://example.com/", "https://example.com/a", false, true},
		{"https://example.com/", "http://example.com/a", false, true},
		{"https://example.com/", "https://www.example.com/a", false, true},
		{"https://www.example.com/", "https://example.com/a", false, true},
		{"https://example.com/", "https://blog.example.com/a", false, false},
		{"https://example.com/", "https://blog.example.com/a", true, true},
		{"https://www.example.com/", "https://blog.example.com/a", true, true},
		{"https://example.com/", "https://badexample.com/", true, false},
		{"https://example.com/", "https://example.com:8443/", true, false},
		{"https://example.com/", "https://example.com.evil.example/", true, false},
	} {
		start, _ := address.Parse(c.start)
		link, _ := address.Parse(c.link)
		if got := address.ScopeOf(start, c.subdomains).Contains(link); got != c.want {
			t.Errorf("%s belongs to the site of %s (subdomains %v): %v", c.link, c.start, c.subdomains, got)
		}
	}
}

// What is read is in normal form: reading it again changes nothing, and its parts are those of the whole.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"http://example.com", "https://a.b/%e3?utm_a=1&x=%zz#f", `https:\\x\y`, "http://0x7f.1/..", "http://[::ffff:1.2.3.4]:80/?",
		"https://xn--a.example/", "https://a--b.example/x", "http://a/?&&utm_x&&", "http://ex.com/%", "http://x/.%2e/", "HTTPS:/a.", "http://a.b/?utm_a&#"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := address.Parse(text)
		if err != nil {
			return
		}
		again, err := address.Parse(a.URL)
		if err != nil || again != a {
			t.Fatalf("Parse(%q) = %+v, and that parses to %+v, %v", text, a, again, err)
		}
		if a.URL != a.Scheme+"://"+a.Host+a.Target || !strings.HasPrefix(a.Target, "/") || strings.Contains(a.URL, "#") {
			t.Fatalf("Parse(%q) = %+v", text, a)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{"plain": "https://docs.example.com/guide/start.html?page=2#top", "full": "https://docs.example.com/guide/st%C3%A4rt"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := address.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestRestore demands that an address comes back from its URL alone.
func TestRestore(t *testing.T) {
	for _, text := range []string{"https://example.com", "http://127.0.0.1:8080/a?b#c", "https://[::1]:1/x//y", "https://b%C3%BCcher.example/%7e"} {
		want, err := address.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := address.Restore(want.URL); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "example.com/", "https:///", "https://example.com"} {
		if got, err := address.Restore(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
