// Package config turns flags, environment and file into one checked struct.
package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Storage is the flags of every command that opens the catalog.
type Storage struct {
	Data     string `default:"./sightline-data" placeholder:"DIR" help:"Directory of the embedded catalog."`
	Database string `placeholder:"URL" help:"PostgreSQL database to use instead, such as postgres://user:password@host/name."`
}

// Check says in one sentence what is wrong with the flags, if anything. It never repeats the database's password.
func (s *Storage) Check() error {
	if s.Database != "" && !strings.HasPrefix(s.Database, "postgres://") && !strings.HasPrefix(s.Database, "postgresql://") {
		return errors.New("--database must be a PostgreSQL address such as postgres://user:password@host/name")
	}
	if s.Data == "" {
		return errors.New("--data must name a directory")
	}
	return nil
}

// Serve is the flags of the serve command, as they were written. Check makes a Config of them.
type Serve struct {
	Storage
	SEOURL          string `name:"seo-url" default:"http://localhost:8081" placeholder:"URL" help:"Address of the search-optimization area."`
	AnalyticsURL    string `name:"analytics-url" default:"http://localhost:8082" placeholder:"URL" help:"Address of the analytics area."`
	SEOListen       string `name:"seo-listen" placeholder:"HOST:PORT" help:"Where to listen instead for the search-optimization area, behind a proxy."`
	AnalyticsListen string `name:"analytics-listen" placeholder:"HOST:PORT" help:"Where to listen instead for the analytics area, behind a proxy."`
	Owner           string `default:"owner@localhost" placeholder:"EMAIL" help:"Account that the first start creates."`
	FirstKey        string `placeholder:"KEY" help:"API key that the first start gives to that account, 20 or more characters; random if left out."`
	Demo            bool   `help:"Fill an empty installation with example projects and websites."`
	LogFormat       string `default:"auto" placeholder:"FORMAT" help:"auto (coloured on a terminal), text or json."`
	LogLevel        string `default:"info" placeholder:"LEVEL" help:"debug, info, warn or error."`
}

// A Config is everything that a server needs to know, checked.
type Config struct {
	Data     string // directory of the embedded catalog
	Database string // PostgreSQL address; empty: the embedded catalog

	SEOURL          *url.URL // scheme, host and port only; port 0 stands for any free one
	AnalyticsURL    *url.URL
	SEOListen       string // host:port or :port; empty: what follows from the URL
	AnalyticsListen string

	Owner     string
	FirstKey  string // empty: make one
	Demo      bool
	LogFormat string // one of LogFormats
	LogLevel  string // one of LogLevels
}

// What --log-format and --log-level may be.
var (
	LogFormats = []string{"auto", "text", "json"}
	LogLevels  = []string{"debug", "info", "warn", "error"}
)

// Check makes a Config of the flags, or says in one sentence what is wrong with one of them.
// It never repeats the first key or the database's password.
func (s *Serve) Check() (Config, error) {
	c := Config{Data: s.Data, Database: s.Database, SEOListen: s.SEOListen, AnalyticsListen: s.AnalyticsListen, Owner: s.Owner,
		FirstKey: s.FirstKey, Demo: s.Demo, LogFormat: s.LogFormat, LogLevel: s.LogLevel}
	if err := s.Storage.Check(); err != nil {
		return Config{}, err
	}
	var err error
	if c.SEOURL, err = parsePlace("seo", s.SEOURL, s.SEOListen); err != nil {
		return Config{}, err
	}
	if c.AnalyticsURL, err = parsePlace("analytics", s.AnalyticsURL, s.AnalyticsListen); err != nil {
		return Config{}, err
	}
	if !slices.Contains(LogFormats, s.LogFormat) {
		return Config{}, fmt.Errorf("--log-format must be one of %s, not %q", strings.Join(LogFormats, ", "), s.LogFormat)
	}
	if !slices.Contains(LogLevels, s.LogLevel) {
		return Config{}, fmt.Errorf("--log-level must be one of %s, not %q", strings.Join(LogLevels, ", "), s.LogLevel)
	}
	return c, nil
}

// parsePlace reads the URL of an area and checks its listen address, which https:// needs.
func parsePlace(area, address, listen string) (*url.URL, error) {
	base, err := parseURL(address)
	if err != nil {
		return nil, fmt.Errorf("--%s-url %w", area, err)
	}
	if listen != "" && !isListenAddress(listen) {
		return nil, fmt.Errorf("--%s-listen must be HOST:PORT or :PORT, such as 127.0.0.1:9001", area)
	}
	if listen == "" && base.Scheme == "https" {
		return nil, fmt.Errorf("--%s-url with https:// needs --%s-listen: where your proxy, which holds the certificate, passes requests on to, such as 127.0.0.1:9001", area, area)
	}
	return base, nil
}
