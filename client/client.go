// Package client calls the API of a Sightline server.
//
//	api, err := client.New(client.Options{AnalyticsURL: "http://localhost:8082", Key: key})
//	…
//	for site, err := range api.AllWebsites(ctx, client.ListOptions{Search: "shop"}) {
//		…
//	}
//
// Calls that fail for a passing reason (no connection, 429, 502, 503, 504) are made again, a few times and for a limited
// time. That is safe for every operation: a creation carries an idempotency key, the same at each try. An answer that was lost
// on its way can still show: a deletion that is tried again answers 404, an update with IfMatch 412.
//
// What the server refuses is an *Error; that no answer came is a *ConnectionError.
package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// An Area is one half of a server, with an address of its own.
type Area string

// The areas.
const (
	SEO       Area = "search-optimization" // projects and reports
	Analytics Area = "analytics"           // websites
)

// Options say which server to call, and how.
type Options struct {
	SEOURL       string // address of the search-optimization area; may be empty when only the other is called
	AnalyticsURL string // address of the analytics area; likewise
	Key          string // API key

	HTTP     *http.Client  // nil: one that gives up a try after 30 s
	Version  string        // of the calling program, for the User-Agent; empty: "unknown"
	Tries    int           // how often a call is tried at most; 0: 5
	Patience time.Duration // how long a call may take with all its tries; 0: one minute
}

// What Options that are left out stand for.
const (
	defaultTries    = 5
	defaultPatience = time.Minute
	tryTime         = 30 * time.Second
)

// A Client calls one server for one account. It may be used by several goroutines at once.
type Client struct {
	bases     map[Area]string // without a trailing slash
	key       string
	userAgent string
	http      *http.Client
	tries     int
	patience  time.Duration
}

// New makes a client. It does not call the server yet.
func New(o Options) (*Client, error) {
	c := &Client{bases: map[Area]string{}, key: strings.TrimSpace(o.Key), userAgent: "sightline-client/" + cmp.Or(o.Version, "unknown"),
		tries: cmp.Or(o.Tries, defaultTries), patience: cmp.Or(o.Patience, defaultPatience)}
	if c.key == "" || strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("client: the key must be printable characters without spaces")
	}
	for area, address := range map[Area]string{SEO: o.SEOURL, Analytics: o.AnalyticsURL} {
		if address == "" {
			continue
		}
		base, err := url.Parse(address)
		if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
			return nil, fmt.Errorf("client: the address of the %s area must be like http://localhost:8081", area)
		}
		c.bases[area] = strings.TrimRight(base.String(), "/")
	}
	if len(c.bases) == 0 {
		return nil, errors.New("client: an address of an area is needed")
	}
	own := http.Client{Timeout: tryTime}
	if o.HTTP != nil {
		own = *o.HTTP
	}
	if own.CheckRedirect == nil { // the API never redirects, and a POST would arrive as a GET
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	c.http = &own
	return c, nil
}

// anyArea is an area that can be called, for operations that both have.
func (c *Client) anyArea() Area {
	if c.bases[Analytics] != "" {
		return Analytics
	}
	return SEO
}
