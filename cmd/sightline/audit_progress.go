package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"sightline/internal/seo"
)

// An auditProgress tells a person how far an audit is: in one line on a terminal, elsewhere by a line now and then.
type auditProgress struct {
	w     io.Writer
	live  bool
	width int
	every time.Duration // between two notes
	now   func() time.Time

	mu    sync.Mutex
	next  time.Time // when the next note is due
	shown bool
}

func newAuditProgress(term *terminal) *auditProgress {
	p := &auditProgress{w: term.stderr, live: isTerminal(term.stderr), width: max(widthOf(term.stderr), 40), every: 10 * time.Second, now: term.now}
	if p.live {
		p.every = 100 * time.Millisecond
	}
	p.next = p.now().Add(p.every)
	return p
}

// note shows how far the audit is, if that is due.
func (p *auditProgress) note(at seo.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.every)
	line := fmt.Sprintf("%d of %d pages  %s", at.Done, max(at.Found, at.Done), printable(at.Current))
	if !p.live {
		fmt.Fprintln(p.w, line)
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", clip(line, p.width-1))
	p.shown = true
}

// end leaves the terminal to others.
func (p *auditProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
