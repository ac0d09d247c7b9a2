package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaissmai/bart"

	"sightline/internal/analytics"
	"sightline/internal/collect/page"
	"sightline/internal/collect/recent"
	"sightline/internal/fault"
)

const (
	trusted     = 500 * time.Millisecond // how long an answer of the catalog is taken as it is
	outlasted   = time.Minute            // how long one is taken while the catalog does not answer
	lookupTime  = 2 * time.Second        // how long the catalog may take
	remembered  = 50_000                 // websites, and as many that are none
	maxTracking = 64                     // bytes of a tracking id
)

// A website is what the collector needs to know of one.
type website struct {
	id      int64
	version int64
	domain  string
	bots    bool       // leave out bots
	ips     *bart.Lite // leave out these addresses; nil: none
	params  page.Params
}

func newWebsite(w analytics.Website) (*website, error) {
	prefixes, err := analytics.ParseIPs(w.ExcludeIPs)
	if err != nil {
		return nil, fmt.Errorf("exclude_ips of website %d: %w", w.ID, err)
	}
	names, err := analytics.ParseParams(w.ExcludeParams)
	if err != nil {
		return nil, fmt.Errorf("exclude_params of website %d: %w", w.ID, err)
	}
	site := &website{id: w.ID, version: w.Version, domain: w.Domain, bots: w.ExcludeBots, params: page.NewParams(names)}
	if len(prefixes) > 0 {
		site.ips = new(bart.Lite)
		for _, prefix := range prefixes {
			site.ips.Insert(prefix)
		}
	}
	return site, nil
}

// A directory finds websites. What the catalog said is trusted for half a second, so that a change, a deletion or a restoration acts within
// a second on every server.
type directory struct {
	catalog analytics.Tracked
	now     func() time.Time
	known   *recent.Cache[question, *row]
}

// A question is how a hit names its website: one of the two.
type question struct{ tracking, domain string }

// A row of the directory holds the newest answer. Whoever needs a newer one holds the lock; the others wait for it.
type row struct {
	asking sync.Mutex
	answer atomic.Pointer[answer]
}

// An answer is what the catalog said.
type answer struct {
	site    *website  // nil: there is none
	failed  error     // the catalog did not answer
	at      time.Time // when it last answered; zero: never
	checked time.Time // when it was last asked
}

func newDirectory(catalog analytics.Tracked, now func() time.Time) *directory {
	return &directory{catalog: catalog, now: now, known: recent.New[question, *row](remembered)}
}

// find returns the website that a hit is for; nil if there is none.
func (d *directory) find(ctx context.Context, hit *Hit) (*website, error) {
	q := ask(hit)
	if q == (question{}) || len(q.tracking) > maxTracking {
		return nil, nil
	}
	row := d.row(q)
	known := row.answer.Load()
	if !d.fresh(known) {
		row.asking.Lock()
		if known = row.answer.Load(); !d.fresh(known) {
			known = d.lookUp(ctx, q, known)
			row.answer.Store(known)
		}
		row.asking.Unlock()
	}
	if known.failed != nil && (known.at.IsZero() || d.now().Sub(known.at) > outlasted) {
		return nil, fmt.Errorf("find the website: %w: %w", fault.Unavailable, known.failed)
	}
	return known.site, nil
}

// row finds the row of a question, or adds one, which keeps no more of a hit than the question.
func (d *directory) row(q question) *row {
	if known, found := d.known.Find(q); found {
		return known
	}
	return d.known.FindOr(question{strings.Clone(q.tracking), strings.Clone(q.domain)}, func() *row { return &row{} })
}

// fresh says whether an answer is trusted. After a failure the catalog is given as much time before it is asked again.
func (d *directory) fresh(known *answer) bool {
	return known != nil && d.now().Sub(known.checked).Abs() < trusted
}

// ask is the question of a hit.
func ask(hit *Hit) question {
	switch {
	case hit.Site != "":
		return question{tracking: hit.Site}
	case hit.Domain != "":
		return question{domain: page.Split("https://" + hit.Domain).Domain()}
	}
	return question{domain: page.Split(hit.URL).Domain()}
}

// lookUp asks the catalog. It does not end with the request that began it, as others wait for the answer too.
func (d *directory) lookUp(ctx context.Context, q question, before *answer) *answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer cancel()
	var found analytics.Website
	var err error
	if q.tracking != "" {
		found, err = d.catalog.TrackedWebsite(ctx, q.tracking)
	} else {
		found, err = d.catalog.TrackedDomain(ctx, q.domain)
	}
	now := d.now()
	site := (*website)(nil)
	switch {
	case errors.Is(err, fault.NotFound):
		err = nil
	case err == nil && before != nil && before.site != nil && before.site.id == found.ID && before.site.version == found.Version:
		site = before.site
	case err == nil:
		site, err = newWebsite(found)
	}
	if err == nil {
		return &answer{site: site, at: now, checked: now}
	}
	failed := answer{failed: err, checked: now}
	if before != nil {
		failed.site, failed.at = before.site, before.at
	}
	return &failed
}
