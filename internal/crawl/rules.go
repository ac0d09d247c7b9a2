package crawl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
	"sightline/internal/crawl/robots"
)

const (
	rulesKept       = 24 * time.Hour
	manyRules       = 1000 // robots.txt files remembered in one crawl
	robotsRedirects = 5
)

// A rulebook holds the robots.txt of each host of a site.
type rulebook struct {
	run      *run
	mu       sync.Mutex
	byOrigin map[string]*rules
}

// rules are one robots.txt.
type rules struct {
	ready  chan struct{} // closed when it has been read
	file   *robots.File
	closed *guard.Failure // why all is disallowed
	until  time.Time
	err    error // why it was not read: the crawl is ending
}

// ask finds the rule that decides about an address, or the reason for which all of its host is disallowed.
func (b *rulebook) ask(ctx context.Context, to address.Address) (robots.Rule, *guard.Failure, error) {
	r, err := b.of(ctx, to)
	if err != nil {
		return robots.Rule{}, nil, err
	}
	return r.file.Match(Agent, to.Target), r.closed, nil
}

// of reads the robots.txt for an address, if it has not been read yet.
func (b *rulebook) of(ctx context.Context, to address.Address) (*rules, error) {
	origin := to.Origin()
	b.mu.Lock()
	r, known := b.byOrigin[origin]
	if !known || isClosed(r.ready) && time.Now().After(r.until) {
		r = &rules{ready: make(chan struct{})}
		if len(b.byOrigin) >= manyRules {
			for other := range b.byOrigin {
				delete(b.byOrigin, other)
				break
			}
		}
		b.byOrigin[origin] = r
		b.mu.Unlock()
		r.err = b.read(ctx, to, r)
		r.until = time.Now().Add(rulesKept)
		close(r.ready)
		return r, r.err
	}
	b.mu.Unlock()
	select {
	case <-r.ready:
		return r, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// read fetches a robots.txt and tells the handler.
func (b *rulebook) read(ctx context.Context, to address.Address, r *rules) error {
	at, err := address.Parse(to.Origin() + "/robots.txt")
	if err != nil {
		return fmt.Errorf("the robots.txt of %s: %w", to.Origin(), err)
	}
	var text bytes.Buffer
	answer := b.run.fetch(ctx, guard.Request{URL: at, Method: http.MethodGet, Gate: pacer{b.run},
		Limits: guard.Limits{Redirects: robotsRedirects, Body: robots.MaxSize + 1, Time: b.run.job.Limits.Fetch.Time},
		Read:   func(_ *guard.Hop, body io.Reader) { text.ReadFrom(io.LimitReader(body, robots.MaxSize+1)) }}, text.Reset)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.file, r.closed = &robots.File{}, closedBy(answer)
	if status := answer.Last().Status; answer.Err == nil && status >= 200 && status < 300 {
		r.file = robots.Parse(text.Bytes())
	}
	b.run.hosts.setDelay(to.Host, r.file.Delay(Agent))
	return b.run.job.Handler.Robots(ctx, &RobotsFile{URL: at.URL, Answer: answer, File: r.file, Closed: r.closed})
}

// closedBy says why a robots.txt that was not read closes its host. One that is not there, or that redirects without end,
// leaves it open.
func closedBy(answer guard.Answer) *guard.Failure {
	status := answer.Last().Status
	switch {
	case answer.Err != nil:
		switch answer.Err.Kind {
		case guard.RedirectLoop, guard.TooManyRedirects, guard.BadRedirect:
			return nil
		}
		kind := guard.Robots
		if answer.Err.Down() { // that says more than the rule that follows from it
			kind = answer.Err.Kind
		}
		return &guard.Failure{Kind: kind, Err: answer.Err,
			Text: answer.Err.Text + " (asked for robots.txt, without which all of the host counts as disallowed)"}
	case status >= 500 || status == http.StatusTooManyRequests:
		return &guard.Failure{Kind: guard.Robots,
			Text: fmt.Sprintf("robots.txt was answered with %d, so all of the host counts as disallowed", status)}
	}
	return nil
}
