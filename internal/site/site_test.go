package site

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("a", MaxURL-20)
	tests := []struct{ in, url, domain string }{
		{"https://example.com", "https://example.com", "example.com"},
		{"  HTTPS://WWW.Example.COM/A?b=C#d  ", "https://www.example.com/A?b=C#d", "example.com"},
		{"http://example.com:80/", "http://example.com:80/", "example.com"},
		{"https://example.com:443", "https://example.com:443", "example.com"},
		{"https://example.com:80", "https://example.com:80", "example.com:80"},
		{"https://example.com:8443/x", "https://example.com:8443/x", "example.com:8443"},
		{"example.com", "https://example.com", "example.com"},
		{"example.com/shop?u=http://other.org", "https://example.com/shop?u=http://other.org", "example.com"},
		{"localhost", "https://localhost", "localhost"},
		{"http://localhost:3000/", "http://localhost:3000/", "localhost:3000"},
		{"http://intranet/", "http://intranet/", "intranet"},
		{"192.168.1.20:8080", "https://192.168.1.20:8080", "192.168.1.20:8080"},
		{"http://127.1/", "http://127.0.0.1/", "127.0.0.1"},
		{"http://[2001:DB8::0:1]:81/x", "http://[2001:db8::1]:81/x", "[2001:db8::1]:81"},
		{"[::1]", "https://[::1]", "[::1]"},
		{"https://münchen.de/straße", "https://xn--mnchen-3ya.de/straße", "xn--mnchen-3ya.de"},
		{"https://XN--MNCHEN-3YA.de", "https://xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
		{"https://my_shop.example.com", "https://my_shop.example.com", "my_shop.example.com"},
		{"https://example.com.", "https://example.com", "example.com"},
		{"https://www.www.example.com", "https://www.www.example.com", "example.com"},
		{"https://www.com", "https://www.com", "www.com"},
		{long, long, "example.com"},
	}
	for _, test := range tests {
		got, err := Parse(test.in)
		if err != nil || got.URL != test.url || got.Domain != test.domain {
			t.Errorf("Parse(%q) = %+v, %v; want %q %q", test.in, got, err, test.url, test.domain)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "example", "12", "1.5", "0x7f.1", "ftp://example.com", "javascript:alert(1)", "mailto:a@example.com", "//example.com", "/path",
		"https://", "https:///path", "https://user:pass@example.com", "https://example.com:99999", "https://example.com:0", "https://example.com:x",
		"https://exa mple.com", "https://example.com/a b", "https://example.com\\path", "https://*.example.com", "https://a..b",
		"https://" + strings.Repeat("a", 64) + ".com", "https://[::1", "https://[fe80::1%25eth0]/", "https://256.1.1.1", "https:example.com",
		"https://example.com/" + strings.Repeat("a", MaxURL), "https://example.com/\x00", "https://%65xample.com", "https://xn--a.example",
	} {
		if got, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", in, got)
		}
	}
}

func TestName(t *testing.T) {
	tests := []struct{ in, want string }{
		{"Example.COM", "example.com"}, {"www.example.com", "example.com"}, {"localhost:9000", "localhost:9000"},
		{"example.com:443", "example.com:443"}, {"example.com:80", "example.com:80"}, {"München.de", "xn--mnchen-3ya.de"},
		{"Blog", "Blog"}, {"My Project", "My Project"}, {"  spring sale ", "spring sale"}, {"a/b", "a/b"}, {"..", ".."},
		{"1.2", "1.2"}, {"v1.2", "v1.2"}, {"10.0.0.1", "10.0.0.1"}, {"[::1]:8080", "[::1]:8080"}, {"50%", "50%"}, {"a@b.c", "a@b.c"},
	}
	for _, test := range tests {
		if got := Name(test.in); got != test.want {
			t.Errorf("Name(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestUnicode(t *testing.T) {
	tests := []struct{ in, want string }{
		{"xn--mnchen-3ya.de", "münchen.de"}, {"https://www.xn--mnchen-3ya.de:81/xn--x", "https://www.münchen.de:81/xn--x"},
		{"example.com", "example.com"}, {"https://example.com", "https://example.com"},
	}
	for _, test := range tests {
		if got := Unicode(test.in); got != test.want {
			t.Errorf("Unicode(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"https://example.com", "example.com:80", "http://[::1]:81/x?y#z", "münchen.de", "127.1", "www.www.a.b", "xn--mnchen-3ya.de."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := Name(text)
		if again := Name(name); again != name {
			t.Errorf("Name(%q) = %q, but of that %q", text, name, again)
		}
		Unicode(text)
		first, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(first.URL); err != nil || again != first {
			t.Errorf("Parse(%q) = %+v, but again %+v, %v", text, first, again, err)
		}
		if Name(first.Domain) != first.Domain && strings.Contains(first.Domain, ".") {
			t.Errorf("domain %q is not its own name: %q", first.Domain, Name(first.Domain))
		}
	})
}
