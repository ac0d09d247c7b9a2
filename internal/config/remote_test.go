package config_test

import (
	"strings"
	"testing"

	"sightline/internal/config"
)

func TestRemote(t *testing.T) {
	const key = "my-very-own-secret-key"
	for _, c := range []struct {
		what         string
		flags        config.Remote
		seo, problem string
	}{
		{"plain", config.Remote{APIKey: key, SEOURL: "http://localhost:8081", AnalyticsURL: "http://localhost:8082"}, "http://localhost:8081", ""},
		{"normal form", config.Remote{APIKey: " " + key + "\n", SEOURL: "https://SEO.Example.com:443/", AnalyticsURL: "http://localhost"}, "https://seo.example.com", ""},
		{"no key", config.Remote{SEOURL: "http://localhost:8081", AnalyticsURL: "http://localhost:8082"}, "", "an API key is needed: put one into SIGHTLINE_API_KEY"},
		{"a key in two parts", config.Remote{APIKey: key + " " + key, SEOURL: "http://localhost", AnalyticsURL: "http://localhost"}, "", "--api-key must be"},
		{"a bad address", config.Remote{APIKey: key, SEOURL: "localhost:8081", AnalyticsURL: "http://localhost"}, "", "--seo-url must be an http or https address"},
		{"any port", config.Remote{APIKey: key, SEOURL: "http://localhost", AnalyticsURL: "http://localhost:0"}, "", "--analytics-url must have the port"},
	} {
		got, err := c.flags.Check()
		switch {
		case c.problem == "" && (err != nil || got.SEOURL != c.seo || got.APIKey != key):
			t.Errorf("%s: %+v, %v", c.what, got, err)
		case c.problem != "" && (err == nil || !strings.HasPrefix(err.Error(), c.problem) || strings.Contains(err.Error(), key)):
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
