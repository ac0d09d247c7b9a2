package crawl

import (
	"context"
	"slices"
	"sync"

	"sightline/internal/crawl/address"
)

// An Item is an address that a crawl found.
type Item struct {
	URL      address.Address
	Kind     Kind
	Depth    int    // clicks from the start page, or from a sitemap if Unlinked
	Unlinked bool   // known from a sitemap, and no path of links leads to it so far
	From     string // the page or sitemap that it was found on; empty for the start page
}

// A Key is what an item is known by.
type Key struct {
	URL  string
	Kind Kind
}

func (i *Item) key() Key { return Key{i.URL.URL, i.Kind} }

// A rank says how close to the start page an item is; less is closer.
type rank int32

const unlinkedRank rank = 1 << 24

func (i *Item) rank() rank {
	at := rank(min(i.Depth, int(unlinkedRank)-1))
	if i.Unlinked {
		at += unlinkedRank
	}
	return at
}

// A Step is what a crawl has learned since the step before.
type Step struct {
	Found   []Item // in the order in which they were found; many are known already
	Done    []Key  // need not be fetched again
	Fetched int    // how many pages of Done count towards the limit of pages
	Cut     Reason // the limit that has kept addresses out so far
}

// Totals count what a crawl knows.
type Totals struct {
	Pages, PagesDone   int
	Checks, ChecksDone int    // all that are not pages
	Fetched            int    // the sum of Step.Fetched
	Cut                Reason // that of the last step that had one
}

// A Frontier remembers the addresses of one crawl. To resume a crawl after the program was killed, keep it in a database:
// a table of items with a unique index over URL and kind, a flag for done, and beside it the counter of fetched pages and the
// limit that cut. The crawl calls it from one goroutine.
type Frontier interface {
	// Save takes in a step, in one transaction, and says where the crawl stands. A found item that is known stays as it is,
	// except that a page not done yet takes over Depth, Unlinked and From of a path that is shorter (linked before unlinked,
	// then by depth). What a handler stored of the pages done may be committed together with it.
	Save(ctx context.Context, s Step) (Totals, error)
	// Waiting lists the first items that are not done, pages or else checks: pages linked before unlinked, then by
	// depth; those alike, and checks, in the order in which they were first found. It changes nothing, and lists the same until they are done.
	Waiting(ctx context.Context, pages bool, most int) ([]Item, error)
}

// Memory is a Frontier that lasts as long as the program.
type Memory struct {
	mu     sync.Mutex
	nodes  []node
	index  map[Key]int32
	queues [3]queue // linked pages, unlinked pages, checks
	totals Totals
}

type node struct {
	Item
	done bool
}

// A queue holds nodes by depth, those of one depth in the order in which they were found.
type queue struct {
	levels [][]int32
	low    int // no level below it holds a node that waits
}

// NewMemory makes an empty frontier.
func NewMemory() *Memory { return &Memory{index: map[Key]int32{}} }

// Save implements Frontier.
func (m *Memory) Save(_ context.Context, s Step) (Totals, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range s.Found {
		m.add(&s.Found[i])
	}
	for _, key := range s.Done {
		at, known := m.index[key]
		if !known || m.nodes[at].done {
			continue
		}
		m.nodes[at].done = true
		if key.Kind == Page {
			m.totals.PagesDone++
		} else {
			m.totals.ChecksDone++
		}
	}
	m.totals.Fetched += s.Fetched
	if s.Cut != Complete {
		m.totals.Cut = s.Cut
	}
	return m.totals, nil
}

func (m *Memory) add(item *Item) {
	at, known := m.index[item.key()]
	if known {
		if n := &m.nodes[at]; n.done || item.Kind != Page || item.rank() >= n.rank() {
			return
		}
		m.nodes[at].Item = *item // the place in its old queue is skipped from now on
	} else {
		at = int32(len(m.nodes))
		m.nodes = append(m.nodes, node{Item: *item})
		m.index[item.key()] = at
		if item.Kind == Page {
			m.totals.Pages++
		} else {
			m.totals.Checks++
		}
	}
	q, depth := m.place(item)
	for len(q.levels) <= depth {
		q.levels = append(q.levels, nil)
	}
	place, _ := slices.BinarySearch(q.levels[depth], at)
	q.levels[depth] = slices.Insert(q.levels[depth], place, at)
	q.low = min(q.low, depth)
}

// place is where an item waits.
func (m *Memory) place(item *Item) (q *queue, depth int) {
	switch {
	case item.Kind != Page:
		return &m.queues[2], 0
	case item.Unlinked:
		return &m.queues[1], item.Depth
	}
	return &m.queues[0], item.Depth
}

// Waiting implements Frontier.
func (m *Memory) Waiting(_ context.Context, pages bool, most int) ([]Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var items []Item
	queues := m.queues[2:]
	if pages {
		queues = m.queues[:2]
	}
	for i := range queues {
		items = m.collect(items, &queues[i], most)
	}
	return items, nil
}

// collect adds the first nodes of a queue that wait, and forgets those before them.
func (m *Memory) collect(items []Item, q *queue, most int) []Item {
	for depth := q.low; depth < len(q.levels) && len(items) < most; depth++ {
		level := q.levels[depth]
		for len(level) > 0 && !m.waits(level[0], q, depth) {
			level = level[1:]
		}
		q.levels[depth] = level
		if len(level) == 0 && depth == q.low {
			q.levels[depth] = nil
			q.low++
		}
		for _, at := range level {
			if len(items) == most {
				break
			}
			if m.waits(at, q, depth) {
				items = append(items, m.nodes[at].Item)
			}
		}
	}
	return items
}

// waits says that a node is to be fetched, and from this place.
func (m *Memory) waits(at int32, q *queue, depth int) bool {
	n := &m.nodes[at]
	if n.done {
		return false
	}
	own, level := m.place(&n.Item)
	return own == q && level == depth
}
