package guard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"sightline/internal/crawl/address"
)

// How long parts of a fetch may take, and what is kept open; the time limit of the whole counts besides.
const (
	connectTime   = 10 * time.Second
	handshakeTime = 10 * time.Second
	idleTime      = 30 * time.Second
	idlePerHost   = 16
	idleTotal     = 128
	slurp         = 2 << 10
)

// Limits bound one fetch. A zero limit is the client's, and the client's zero limit is the default.
type Limits struct {
	Header    int64         // bytes of headers per answer: 256 KiB; of the client only
	Body      int64         // bytes of the decoded body: 10 MiB
	Time      time.Duration // from the first hop to the last byte, without the waits of the gate: 30 s
	Redirects int           // how many are followed: 10; a negative limit leaves it at the first hop
}

// DefaultLimits are those of a page.
var DefaultLimits = Limits{Header: 256 << 10, Body: 10 << 20, Time: 30 * time.Second, Redirects: 10}

func (l Limits) or(others Limits) Limits {
	pick := func(a, b int64) int64 {
		if a != 0 {
			return a
		}
		return b
	}
	return Limits{pick(l.Header, others.Header), pick(l.Body, others.Body), time.Duration(pick(int64(l.Time), int64(others.Time))),
		int(pick(int64(l.Redirects), int64(others.Redirects)))}
}

// Options make a client.
type Options struct {
	Rules
	Limits
	Agent    string         // what the client calls itself
	Resolver *net.Resolver  // the system's own if nil
	Roots    *x509.CertPool // the authorities that are trusted, the system's if nil
}

// A Client fetches. It keeps no cookies, sends no credentials, and heeds no proxy of the environment.
type Client struct {
	transport *http.Transport
	limits    Limits
	agent     string
}

// New makes a client. Close it when it is no longer needed.
func New(o Options) *Client {
	limits := o.Limits.or(DefaultLimits)
	return &Client{limits: limits, agent: o.Agent, transport: &http.Transport{
		DialContext:            o.dialer(o.Resolver).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: o.Roots},
		TLSHandshakeTimeout:    handshakeTime,
		DisableCompression:     true, // decoded here, so that the limit counts what comes out
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: limits.Header,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTime,
	}}
}

// Close ends the connections that are kept open.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// A Request is something to fetch.
type Request struct {
	URL    address.Address
	Method string // GET if empty
	Limits Limits
	// Read is given the decoded body of the last hop. What it leaves is not fetched; nil reads nothing. Its error is the
	// caller's own affair: that of the body is in the answer.
	Read func(last *Hop, body io.Reader)
	Gate Gate // may be nil
}

// A Gate stands before every hop of a fetch.
type Gate interface {
	// Enter may wait, add headers to the request, or refuse it with an error, best a *Failure. An entered hop leaves.
	Enter(ctx context.Context, to address.Address, header http.Header) error
	// Leave is told how the hop went; the failure is nil if it went well.
	Leave(hop *Hop, failure *Failure)
}

// A Hop is one request and its answer.
type Hop struct {
	URL       address.Address
	Status    int // zero if no answer came
	Header    http.Header
	Location  string               // where a redirect leads, as a whole address
	FirstByte time.Duration        // from the start of the request
	Time      time.Duration        // to the end of the body, or of what was read of it
	Wire      int64                // bytes of the body as they came
	Size      int64                // bytes of the body decoded
	Proto     string               // such as HTTP/1.1
	TLS       *tls.ConnectionState // nil over http
	next      address.Address      // Location
}

// An Answer is how a fetch went.
type Answer struct {
	Hops []Hop    // at least one; all but the last are redirects
	Err  *Failure // nil if the last hop was read to its end
}

// Last is the hop at which the fetch ended.
func (a *Answer) Last() *Hop { return &a.Hops[len(a.Hops)-1] }

// Fetch asks for an address and follows redirects hop by hop.
func (c *Client) Fetch(ctx context.Context, r Request) Answer {
	limits := r.Limits.or(c.limits)
	var answer Answer
	seen := map[string]bool{}
	for to := r.URL; ; {
		seen[to.URL] = true
		answer.Hops = append(answer.Hops, Hop{URL: to})
		hop := answer.Last()
		answer.Err = c.hop(ctx, r, limits, hop)
		limits.Time -= hop.Time
		if answer.Err != nil || hop.Location == "" || limits.Redirects < 0 {
			return answer
		}
		if to = hop.next; seen[to.URL] {
			answer.Err = fail(RedirectLoop, "the redirects lead in a circle", nil)
			return answer
		}
		if len(answer.Hops) > limits.Redirects {
			answer.Err = fail(TooManyRedirects, "there are too many redirects one after the other", nil)
			return answer
		}
	}
}

// hop makes one request and fills in how it went.
func (c *Client) hop(ctx context.Context, r Request, limits Limits, hop *Hop) (failure *Failure) {
	header := http.Header{"User-Agent": {c.agent}, "Accept-Encoding": {"gzip"}, "Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}}
	if r.Gate != nil {
		if err := r.Gate.Enter(ctx, hop.URL, header); err != nil {
			return refusal(ctx, err)
		}
		defer func() { r.Gate.Leave(hop, failure) }()
	}
	start := time.Now()
	defer func() { hop.Time = time.Since(start) }()
	within, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	var firstByte atomic.Int64
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { firstByte.Store(int64(time.Since(start))) }}
	request := (&http.Request{Method: r.Method, URL: requestURL(hop.URL), Host: hop.URL.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(httptrace.WithClientTrace(within, trace))
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return explain(ctx, within, err)
	}
	defer response.Body.Close()
	hop.FirstByte = time.Duration(firstByte.Load())
	hop.Status, hop.Header, hop.TLS, hop.Proto = response.StatusCode, response.Header, response.TLS, response.Proto
	if response.StatusCode < 200 {
		return fail(Protocol, "the server changed to another protocol that was not asked for", nil)
	}
	if redirects(response.StatusCode) {
		if response.ContentLength >= 0 && response.ContentLength <= slurp { // read what little there is, to keep the connection
			io.Copy(io.Discard, response.Body)
		}
		return hop.redirect()
	}
	if r.Read == nil || r.Method == http.MethodHead {
		return nil
	}
	body := newBody(response, limits.Body)
	r.Read(hop, body)
	hop.Wire, hop.Size = body.close()
	return body.failure(ctx, within)
}

// refusal is the failure with which a gate refused.
func refusal(ctx context.Context, err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	return explain(ctx, ctx, err)
}

// redirect finds out where a redirect leads.
func (h *Hop) redirect() *Failure {
	location := h.Header.Get("Location")
	if location == "" {
		return fail(BadRedirect, "the redirect does not say where to", nil)
	}
	next, err := address.Join(h.URL, location)
	if err != nil {
		h.Location = strings.ToValidUTF8(location[:min(len(location), address.MaxLength)], "\ufffd")
		return fail(BadRedirect, "the redirect leads to what is not a web page: "+err.Error(), err)
	}
	h.Location, h.next = next.URL, next
	return nil
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// requestURL asks for the target exactly as it is written, though net/url might not understand its escapes.
func requestURL(to address.Address) *url.URL {
	path, query, _ := strings.Cut(to.Target, "?")
	if strings.HasPrefix(path, "//") {
		path = "//" + to.Host + path // net/http then writes the whole address, as to a proxy; servers must take that too
	}
	return &url.URL{Scheme: to.Scheme, Host: to.Host, Opaque: path, RawQuery: query}
}
