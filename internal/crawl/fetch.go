package crawl

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
	"sightline/internal/crawl/robots"
)

const (
	retries    = 2       // of a request that was answered with 429 or 503
	keepBuffer = 1 << 20 // larger buffers are given back to the system
)

// buffers are reused from page to page.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func putBuffer(b *bytes.Buffer) {
	if b.Cap() <= keepBuffer {
		buffers.Put(b)
	}
}

// A pacer lets a fetch through at the pace of each host it comes to.
type pacer struct{ run *run }

// Enter implements guard.Gate.
func (p pacer) Enter(ctx context.Context, to address.Address, _ http.Header) error {
	rate := p.run.manners.ChecksPerSecond
	if p.run.scope.Contains(to) {
		rate = p.run.manners.PerSecond
	}
	return p.run.hosts.enter(ctx, to.Host, rate)
}

// Leave implements guard.Gate.
func (p pacer) Leave(hop *guard.Hop, _ *guard.Failure) { p.run.hosts.leave(hop.URL.Host, hop) }

// A pageGate also heeds the robots.txt of each host of the site, and asks only for what has changed.
type pageGate struct {
	pacer
	rule        robots.Rule // what decided about the first hop
	asked       bool        // the first hop has been decided about
	refused     bool        // robots.txt keeps a hop out
	conditional bool        // the last hop was asked for only if it has changed
	err         error       // what ends the crawl
	validators  func(string) (etag, modified string)
}

// Enter implements guard.Gate.
func (g *pageGate) Enter(ctx context.Context, to address.Address, header http.Header) error {
	if g.run.scope.Contains(to) {
		rule, closed, err := g.run.rules.ask(ctx, to)
		if err != nil {
			g.err = err
			return err
		}
		if !g.asked {
			g.rule = rule
		}
		if refused := refusal(rule, closed); refused != nil && !g.run.job.IgnoreRobots {
			g.refused = true
			return refused
		}
	}
	g.asked = true
	if err := g.pacer.Enter(ctx, to, header); err != nil {
		return err
	}
	g.conditional = false
	if g.validators == nil {
		return nil
	}
	etag, modified := g.validators(to.URL)
	if etag != "" {
		header.Set("If-None-Match", etag)
	}
	if modified != "" {
		header.Set("If-Modified-Since", modified)
	}
	g.conditional = etag != "" || modified != ""
	return nil
}

// refusal says why robots.txt keeps a fetch out; nil if it does not.
func refusal(rule robots.Rule, closed *guard.Failure) *guard.Failure {
	switch {
	case closed != nil:
		return closed
	case rule.Disallow:
		return &guard.Failure{Kind: guard.Robots, Text: "robots.txt disallows it: " + rule.Text}
	}
	return nil
}

// fetch asks again, after a pause, for what a host was too busy to give.
func (r *run) fetch(ctx context.Context, request guard.Request, restart func()) guard.Answer {
	for attempt := 0; ; attempt++ {
		answer := r.fetcher.Fetch(ctx, request)
		if attempt == retries || answer.Err != nil || !overloaded(answer.Last().Status) {
			return answer
		}
		restart()
	}
}

// fetchPage fetches a page into a buffer.
func (r *run) fetchPage(ctx context.Context, item Item, body *bytes.Buffer) (*Fetch, error) {
	gate := &pageGate{pacer: pacer{r}, validators: r.job.Validators}
	read := func(last *guard.Hop, from io.Reader) {
		if r.scope.Contains(last.URL) && readable(last.Header) {
			body.ReadFrom(from)
		}
	}
	answer := r.fetch(ctx, guard.Request{URL: item.URL, Method: http.MethodGet, Limits: r.job.Limits.Fetch, Read: read, Gate: gate}, body.Reset)
	f := newFetch(item, answer, gate)
	f.Body = body.Bytes()
	f.Unchanged = f.Status == http.StatusNotModified && gate.conditional
	return f, gate.err
}

// newFetch is what a handler is told of an answer.
func newFetch(item Item, answer guard.Answer, gate *pageGate) *Fetch {
	f := &Fetch{Item: item, Hops: answer.Hops, Err: answer.Err, Rule: gate.rule}
	if len(f.Hops) == 1 && gate.refused {
		f.Hops = nil // it was not asked for at all
		return f
	}
	last := f.Last()
	f.Status = last.Status
	f.MediaType = mediaType(last.Header)
	return f
}

func mediaType(header http.Header) string {
	if text := header.Get("Content-Type"); text != "" {
		if media, _, err := mime.ParseMediaType(text); err == nil || media != "" {
			return media
		}
		before, _, _ := strings.Cut(text, ";")
		return strings.ToLower(strings.TrimSpace(before))
	}
	return ""
}

// readable says that the body of a page is text: pictures, films and archives are not fetched whole.
func readable(header http.Header) bool {
	media := mediaType(header)
	kind, sub, _ := strings.Cut(media, "/")
	return media == "" || kind == "text" || kind == "application" &&
		(sub == "json" || sub == "xml" || sub == "javascript" || strings.HasSuffix(sub, "+xml") || strings.HasSuffix(sub, "+json"))
}

// check finds out whether something is there: by asking for its headers and, where a host does not answer that well, for
// the thing itself without reading it.
func (r *run) check(ctx context.Context, item Item) (*Fetch, error) {
	gate := &pageGate{pacer: pacer{r}}
	request := guard.Request{URL: item.URL, Method: http.MethodHead, Limits: r.job.Limits.Fetch, Gate: gate}
	answer := r.fetch(ctx, request, func() {})
	if gate.err == nil && doubtful(answer) {
		request.Method = http.MethodGet
		answer = r.fetch(ctx, request, func() {})
	}
	return newFetch(item, answer, gate), gate.err
}

// doubtful says that a host may have a better answer to GET than to HEAD.
func doubtful(answer guard.Answer) bool {
	if answer.Err != nil {
		return answer.Err.Kind == guard.Protocol || answer.Err.Kind == guard.Reset || answer.Err.Kind == guard.Incomplete
	}
	status := answer.Last().Status
	return status >= 400 && status != http.StatusGone && !overloaded(status)
}
