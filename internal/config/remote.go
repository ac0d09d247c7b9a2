package config

import (
	"errors"
	"fmt"
	"strings"
)

// Remote is the flags of every command that calls a running server.
type Remote struct {
	APIKey       string `name:"api-key" placeholder:"KEY" help:"API key of the account. Better in the environment: other users of this machine can read command lines."`
	SEOURL       string `name:"seo-url" default:"http://localhost:8081" placeholder:"URL" help:"Address of the search-optimization area."`
	AnalyticsURL string `name:"analytics-url" default:"http://localhost:8082" placeholder:"URL" help:"Address of the analytics area."`
}

// Check brings the flags into their normal form, or says in one sentence what is wrong with one of them. It never repeats the
// key.
func (r Remote) Check() (Remote, error) {
	for _, place := range []struct {
		flag    string
		address *string
	}{{"--seo-url", &r.SEOURL}, {"--analytics-url", &r.AnalyticsURL}} {
		base, err := parseURL(*place.address)
		if err != nil {
			return Remote{}, fmt.Errorf("%s %w", place.flag, err)
		}
		if base.Port() == "0" {
			return Remote{}, fmt.Errorf("%s must have the port at which the server listens", place.flag)
		}
		*place.address = base.String()
	}
	r.APIKey = strings.TrimSpace(r.APIKey)
	if r.APIKey == "" {
		return Remote{}, fmt.Errorf("an API key is needed: put one into %s (sightline key create makes one)", Variable("api-key"))
	}
	if strings.ContainsFunc(r.APIKey, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return Remote{}, errors.New("--api-key must be printable characters without spaces")
	}
	return r, nil
}
