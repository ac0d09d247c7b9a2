package referrer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sightline/internal/analytics"
	"sightline/internal/collect/page"
)

func TestSources(t *testing.T) {
	tests := []struct{ referring, query, source, channel string }{
		{"", "", "", Direct},
		{"https://example.com/other", "", "", Direct},
		{"https://blog.example.com/", "", "", Direct},
		{"https://www.example.com/", "", "", Direct},
		{"about:blank", "", "", Direct},
		{"/path", "", "", Direct},
		{"https://www.google.com/", "", "Google", Search},
		{"https://www.google.co.uk/", "", "Google", Search},
		{"https://google.com.br/search", "", "Google", Search},
		{"https://google.evil.example/", "", "google.evil.example", Referral},
		{"https://google.com.evil.example/", "", "google.com.evil.example", Referral},
		{"https://mail.google.com/", "", "Gmail", Email},
		{"https://gemini.google.com/app", "", "Gemini", AI},
		{"https://chatgpt.com/", "", "ChatGPT", AI},
		{"https://www.perplexity.ai/search", "", "Perplexity", AI},
		{"https://duckduckgo.com/", "", "DuckDuckGo", Search},
		{"https://fr.search.yahoo.com/", "", "Yahoo", Search},
		{"https://l.facebook.com/", "", "Facebook", Social},
		{"https://t.co/abc", "", "X", Social},
		{"https://old.reddit.com/r/x", "", "Reddit", Social},
		{"https://news.ycombinator.com/item", "", "Hacker News", Social},
		{"android-app://com.google.android.gm/", "", "Gmail", Email},
		{"android-app://com.example.app/", "", "com.example.app", Referral},
		{"https://www.other.example/a", "", "other.example", Referral},
		{"https://other.example:8080/a", "", "other.example:8080", Referral},
		{"https://www.google.com/", "gclid=1", "Google", Paid},
		{"", "gclid=1", "", Paid},
		{"", "utm_source=google&utm_medium=cpc", "Google", Paid},
		{"", "utm_source=facebook&utm_medium=paid_social", "Facebook", Paid},
		{"https://l.facebook.com/", "fbclid=1", "Facebook", Social},
		{"", "utm_source=newsletter&utm_medium=email", "newsletter", Email},
		{"https://www.google.com/", "utm_source=Partner", "Partner", Referral},
		{"", "ref=producthunt.com", "Product Hunt", Social},
		{"", "utm_source=chatgpt.com", "ChatGPT", AI},
		{"", "source=ig", "Instagram", Social},
		{"", "utm_campaign=spring", "", Referral},
	}
	for _, test := range tests {
		_, campaign := page.Params{}.Page(page.Split("https://example.com/?"+test.query), false)
		got := Read(test.referring, "example.com", campaign)
		if got.Source != test.source || got.Channel != test.channel {
			t.Errorf("%s with %q: got %s by %s, want %s by %s", test.referring, test.query, got.Source, got.Channel, test.source, test.channel)
		}
	}
}

func TestReferringPage(t *testing.T) {
	tests := map[string]string{
		"https://Other.Example/a/B?q=secret#part":     "https://other.example/a/B",
		"https://user:secret@other.example":           "https://other.example/",
		"https://other.example/\xff":                  "https://other.example/\uFFFD",
		"https://example.com/a":                       "",
		"javascript:alert(1)":                         "",
		"android-app://com.example.app":               "android-app://com.example.app/",
		"https://other.example/<b>'; DROP TABLE x;--": "https://other.example/<b>'; DROP TABLE x;--",
	}
	for in, want := range tests {
		if got := Read(in, "example.com", page.Campaign{}).Referrer; got != want {
			t.Errorf("%q is stored as %q, want %q", in, got, want)
		}
	}
}

func TestTablesAreInTheirNormalForm(t *testing.T) {
	for host, source := range hosts {
		if got := ofHost(host); got != source || strings.ToLower(host) != host || strings.HasPrefix(host, "www.") {
			t.Errorf("%s is found as %v", host, got)
		}
	}
}

func FuzzReferrer(f *testing.F) {
	for _, seed := range []string{"https://www.google.co.uk/?q=x", "android-app://a.b/", "https://\xff@:99/\\", "//", "http://[::1"} {
		f.Add(seed, "utm_source=x&utm_medium=cpc&ref=%zz")
	}
	channels := map[string]bool{Direct: true, Search: true, Social: true, Referral: true, Email: true, Paid: true, AI: true}
	f.Fuzz(func(t *testing.T, referring, query string) {
		_, campaign := page.Params{}.Page(page.Address{Query: query}, false)
		got := Read(referring, "example.com", campaign)
		if !channels[got.Channel] {
			t.Errorf("the channel of %q is %q", referring, got.Channel)
		}
		for _, text := range []string{got.Referrer, got.Source, got.UTMSource, got.UTMMedium, got.UTMCampaign, got.UTMContent, got.UTMTerm} {
			if len(text) > analytics.MaxText || !utf8.ValidString(text) {
				t.Errorf("%q, %q gave %q", referring, query, text)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		Read("https://www.google.co.uk/search?q=x", "example.com", page.Campaign{})
	}
}
