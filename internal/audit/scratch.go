package audit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"sightline/internal/crawl"
	"sightline/internal/fault"
	"sightline/internal/seo"
)

// A Scratch is a Store that lasts until it is closed. What is large lies in a file: memory holds some hundred bytes for each page.
type Scratch struct {
	frontier *crawl.Memory
	pile     pile // facts of pages, and findings

	mu        sync.Mutex
	checks    []scratchCheck // that have found something
	pages     map[string]*scratchPage
	resources map[string]seo.Resource
	site      seo.Site
}

type scratchPage struct {
	facts    piece
	findings []scratchFinding
	score    seo.PageScore
}

type scratchCheck struct {
	id       string
	severity seo.Severity
}

type scratchFinding struct {
	details piece
	check   int32 // its place among the checks
}

// NewScratch makes an empty store.
func NewScratch() *Scratch {
	return &Scratch{frontier: crawl.NewMemory(), pages: map[string]*scratchPage{}, resources: map[string]seo.Resource{}}
}

// Close gives back what the store holds outside of memory.
func (s *Scratch) Close() error { return s.pile.close() }

// Save implements Store.
func (s *Scratch) Save(ctx context.Context, step crawl.Step, l Learned) (crawl.Totals, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range l.Pages {
		if err := s.keepPage(p); err != nil {
			return crawl.Totals{}, err
		}
	}
	for _, r := range l.Resources {
		s.resources[r.URL] = r
	}
	for _, rating := range l.Ratings {
		p := s.pages[rating.URL]
		if p == nil {
			continue
		}
		p.score = rating.Score
		if err := s.keepFindings(p, rating.Findings); err != nil {
			return crawl.Totals{}, err
		}
	}
	if l.Site != nil {
		s.site = *l.Site
	}
	return s.frontier.Save(ctx, step)
}

func (s *Scratch) keepPage(p seo.PageFacts) error {
	packed, err := p.Pack()
	if err != nil {
		return err
	}
	kept := &scratchPage{}
	if kept.facts, err = s.pile.add(packed); err != nil {
		return err
	}
	s.pages[p.URL] = kept
	return s.keepFindings(kept, p.Findings)
}

// keepFindings takes in findings. One replaces what the same check found on the page before.
func (s *Scratch) keepFindings(p *scratchPage, findings []seo.Finding) error {
	p.findings = slices.Grow(p.findings, len(findings))
	for i := range findings {
		f := &findings[i]
		text, err := f.Details()
		if err != nil {
			return err
		}
		details, err := s.pile.add([]byte(text))
		if err != nil {
			return err
		}
		check := s.check(f)
		p.findings = slices.DeleteFunc(p.findings, func(known scratchFinding) bool { return known.check == check })
		p.findings = append(p.findings, scratchFinding{details, check})
	}
	return nil
}

// check is the place of the check that found something.
func (s *Scratch) check(f *seo.Finding) int32 {
	check := scratchCheck{f.Check, f.Severity}
	at := slices.Index(s.checks, check)
	if at < 0 {
		at = len(s.checks)
		s.checks = append(s.checks, check)
	}
	return int32(at)
}

// Waiting implements Store.
func (s *Scratch) Waiting(ctx context.Context, pages bool, most int) ([]crawl.Item, error) {
	return s.frontier.Waiting(ctx, pages, most)
}

// Earlier implements Store: there is no earlier audit.
func (s *Scratch) Earlier(context.Context, string) (*seo.Page, error) { return nil, fault.NotFound }

// Crawl implements Store.
func (s *Scratch) Crawl(context.Context) (seo.Crawl, error) { return scratchCrawl{s}, nil }

// Pages are all pages with how they were rated, by address.
func (s *Scratch) Pages(ctx context.Context) iter.Seq2[seo.PageResult, error] {
	return func(yield func(seo.PageResult, error) bool) {
		for _, url := range s.addresses() {
			p, err := s.page(ctx, url)
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

func (s *Scratch) addresses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.pages))
}

// kept is what is held of a page.
func (s *Scratch) kept(url string) scratchPage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.pages[url]
}

func (s *Scratch) page(ctx context.Context, url string) (seo.PageResult, error) {
	if err := ctx.Err(); err != nil {
		return seo.PageResult{}, err
	}
	kept := s.kept(url)
	packed, err := s.pile.read(kept.facts)
	if err != nil {
		return seo.PageResult{}, err
	}
	page, err := seo.UnpackPage(packed)
	if err != nil {
		return seo.PageResult{}, fmt.Errorf("page %s: %w", url, err)
	}
	return seo.PageResult{Page: page, Score: kept.score, Findings: len(kept.findings)}, nil
}

// Findings are all findings: errors, then warnings, then notices, by check and by address.
func (s *Scratch) Findings() iter.Seq2[seo.Finding, error] {
	return func(yield func(seo.Finding, error) bool) {
		addresses := s.addresses()
		for _, check := range s.ranked() {
			for _, url := range addresses {
				for _, kept := range s.kept(url).findings {
					if kept.check != check {
						continue
					}
					f, err := s.finding(url, kept)
					if !yield(f, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// ranked are the places of the checks, the worst first.
func (s *Scratch) ranked() []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	order := make([]int32, len(s.checks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		one, other := s.checks[a], s.checks[b]
		return cmp.Or(cmp.Compare(one.severity.Rank(), other.severity.Rank()), cmp.Compare(one.id, other.id))
	})
	return order
}

func (s *Scratch) finding(url string, kept scratchFinding) (seo.Finding, error) {
	s.mu.Lock()
	check := s.checks[kept.check]
	s.mu.Unlock()
	f := seo.Finding{Check: check.id, Page: url, Severity: check.severity}
	details, err := s.pile.read(kept.details)
	if err == nil {
		err = f.SetDetails(string(details))
	}
	return f, err
}

// scratchCrawl is what a Scratch holds as the checks read it.
type scratchCrawl struct{ s *Scratch }

// Site implements seo.Crawl.
func (c scratchCrawl) Site() seo.Site {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.site
}

// Pages implements seo.Crawl.
func (c scratchCrawl) Pages(ctx context.Context) iter.Seq2[*seo.Page, error] {
	return func(yield func(*seo.Page, error) bool) {
		for p, err := range c.s.Pages(ctx) {
			if !yield(p.Page, err) {
				return
			}
		}
	}
}

// Resources implements seo.Crawl.
func (c scratchCrawl) Resources(ctx context.Context) iter.Seq2[seo.Resource, error] {
	return func(yield func(seo.Resource, error) bool) {
		c.s.mu.Lock()
		all := slices.Collect(maps.Values(c.s.resources))
		c.s.mu.Unlock()
		for _, r := range all {
			if !yield(r, ctx.Err()) {
				return
			}
		}
	}
}
