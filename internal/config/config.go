// Package config turns flags, environment and file into one checked struct.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
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
	AdminListen     string `name:"admin-listen" placeholder:"HOST:PORT" help:"Loopback address for metrics and profiles, such as 127.0.0.1:8083; off if left out."`
	Events          string `default:"embedded" placeholder:"WHERE" help:"Where visits are kept: embedded (in the data directory), or none to count none here."`
	GeoDatabase     string `placeholder:"FILE" help:"File in MaxMind's format (mmdb) that knows regions and cities; countries are built in."`
	TrustedProxies  string `default:"127.0.0.0/8,::1/128" placeholder:"NETWORKS" help:"Proxies whose word about a caller's address is believed; none for nobody."`
	ClientHeader    string `default:"X-Forwarded-For" placeholder:"HEADER" help:"Where they put it: X-Forwarded-For, Forwarded or X-Real-IP."`
	Owner           string `default:"owner@localhost" placeholder:"EMAIL" help:"Account that the first start creates."`
	FirstKey        string `placeholder:"KEY" help:"API key that the first start gives to that account, 20 or more characters; random if left out."`
	Demo            bool   `help:"Fill an empty installation with example projects, reports and websites."`
	TrashDays       int    `default:"7" placeholder:"DAYS" help:"How long deleted websites, projects and reports can be restored; 0 erases them at once."`
	RateLimit       int    `default:"0" placeholder:"N" help:"Requests per second that each API key may make, with bursts of twice that; 0 for no limit."`
	Audits          int    `default:"2" placeholder:"N" help:"Audits that this server makes at once; 0 leaves them to other servers on the same database."`
	AllowPrivate    string `name:"allow-private-targets" placeholder:"CIDR,…" help:"Private networks whose sites may be audited, such as 10.0.0.0/8; none if left out."`
	AllowPorts      string `name:"allow-ports" placeholder:"PORT,…" help:"Ports that audits may reach besides 80 and 443, such as 8080,8443."`
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
	AdminListen     string // host:port on loopback; empty: nowhere

	Events         string // EmbeddedEvents or NoEvents
	GeoDatabase    string // an mmdb file; empty: the countries that are built in
	TrustedProxies []netip.Prefix
	ClientHeader   string // one of ClientHeaders

	Owner     string
	FirstKey  string // empty: make one
	Demo      bool
	TrashKept time.Duration // how long deleted records can be restored; 0: they are erased at once
	RateLimit int           // requests per second and key; 0: no limit
	Audits    int           // made at once; 0: none
	LogFormat string        // one of LogFormats
	LogLevel  string        // one of LogLevels

	AllowPrivate []netip.Prefix // private networks that audits may reach
	AllowPorts   []uint16       // ports besides 80 and 443 that audits may reach
}

// The limits of --trash-days, --rate-limit and --audits.
const (
	maxTrashDays = 3650
	maxRateLimit = 1_000_000
	maxAudits    = 100
)

// What --events may be.
const (
	EmbeddedEvents = "embedded"
	NoEvents       = "none"
)

// What --client-header, --log-format and --log-level may be.
var (
	ClientHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Real-IP"}
	LogFormats    = []string{"auto", "text", "json"}
	LogLevels     = []string{"debug", "info", "warn", "error"}
)

// Check makes a Config of the flags, or says in one sentence what is wrong with one of them.
// It never repeats the first key or the database's password.
func (s *Serve) Check() (Config, error) {
	c := Config{Data: s.Data, Database: s.Database, SEOListen: s.SEOListen, AnalyticsListen: s.AnalyticsListen, AdminListen: s.AdminListen,
		Events: s.Events, GeoDatabase: s.GeoDatabase, Owner: s.Owner, FirstKey: s.FirstKey, Demo: s.Demo, LogFormat: s.LogFormat, LogLevel: s.LogLevel}
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
	if s.AdminListen != "" && !isLoopback(s.AdminListen) {
		return Config{}, errors.New("--admin-listen must be a loopback address such as 127.0.0.1:8083: whoever reaches it is not asked for a key")
	}
	if s.Events != EmbeddedEvents && s.Events != NoEvents {
		return Config{}, fmt.Errorf("--events must be %s or %s, not %q", EmbeddedEvents, NoEvents, s.Events)
	}
	if c.TrustedProxies, err = parseNetworks(s.TrustedProxies); err != nil {
		return Config{}, fmt.Errorf("--trusted-proxies %w", err)
	}
	header := slices.IndexFunc(ClientHeaders, func(name string) bool { return strings.EqualFold(name, s.ClientHeader) })
	if header < 0 {
		return Config{}, fmt.Errorf("--client-header must be one of %s, not %q", strings.Join(ClientHeaders, ", "), s.ClientHeader)
	}
	c.ClientHeader = ClientHeaders[header]
	if s.TrashDays < 0 || s.TrashDays > maxTrashDays {
		return Config{}, fmt.Errorf("--trash-days must be from 0 to %d", maxTrashDays)
	}
	c.TrashKept = time.Duration(s.TrashDays) * 24 * time.Hour
	if c.RateLimit = s.RateLimit; c.RateLimit < 0 || c.RateLimit > maxRateLimit {
		return Config{}, fmt.Errorf("--rate-limit must be from 0 to %d", maxRateLimit)
	}
	if err := s.checkAudits(&c); err != nil {
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
