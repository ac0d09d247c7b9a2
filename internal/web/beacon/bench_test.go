package beacon_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkReport is what a report costs before it is counted.
func BenchmarkReport(b *testing.B) {
	for name, body := range map[string]string{
		"ours":      `{"s":"7hUqk2LwZ9xV4sNn0RbTyA","n":"pageview","u":"https://example.com/a?b=c","r":"https://news.example/","w":1920}`,
		"classic":   `{"page":"https://example.com/a","referrer":"","screen_resolution":"1920x1080"}`,
		"plausible": `{"n":"pageview","v":36,"u":"https://example.com/a","d":"example.com","r":null,"p":{"author":"Ada"}}`,
	} {
		b.Run(name, func(b *testing.B) {
			s := newServer(b)
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequest("POST", "/api/event", strings.NewReader(body))
				s.handler.ServeHTTP(httptest.NewRecorder(), request)
				s.collector.hits = s.collector.hits[:0]
			}
		})
	}
}
