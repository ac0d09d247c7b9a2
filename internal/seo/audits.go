package seo

import (
	"context"
	"errors"
	"time"
)

// A Lease is the right to work on a run, until another server may think that its owner is dead.
type Lease struct {
	Report int64
	Run    int64  // the store's own id of the run
	Owner  string // differs for each claim
}

// ErrLeaseLost says that a run is no longer its owner's: another server took it over, it ended, or its report was deleted.
var ErrLeaseLost = errors.New("the audit was taken over or deleted")

// A Job is a run that a server has claimed, with where it stands.
type Job struct {
	Lease
	Report Report
	Totals Totals
	Site   *Site // what was saved of it; nil: nothing
}

// A Step is what an audit has learned since the step before.
type Step struct {
	Found   []Item    // in the order in which they were found; many are known already
	Done    []ItemKey // need not be fetched again
	Fetched int       // how many pages of Done count towards the limit of pages
	Cut     string    // the limit that has kept addresses out so far; empty: as before
	Current string    // the address that was fetched last; empty: as before

	Pages     []PageFacts // each replaces what is known of its address
	Resources []Resource  // each replaces what is known of its address
	Site      *Site       // replaces what is known; nil: as before
	Ratings   []Rating    // of pages that were stored before
}

// An Item is an address that a crawl found.
type Item struct {
	URL      string
	Kind     Kind
	Depth    int
	Unlinked bool   // known from a sitemap, and no path of links leads to it so far
	From     string // the page or sitemap that it was found on
}

// KindAsset is a script, a stylesheet and the like.
const KindAsset Kind = "asset"

// An ItemKey is what an item is known by.
type ItemKey struct {
	URL  string
	Kind Kind
}

// PageFacts are the facts of a page with what its own checks find.
type PageFacts struct {
	*Page
	Findings []Finding
}

// A Rating is how a page was rated when all pages were known, with the findings that needed that.
type Rating struct {
	URL      string
	Score    PageScore
	Findings []Finding
}

// Totals count what a crawl knows.
type Totals struct {
	Pages, PagesDone   int
	Checks, ChecksDone int    // all that are not pages
	Fetched            int    // the sum of Step.Fetched
	Cut                string // that of the last step that had one
}

// MaxStep is the most addresses, pages, resources or ratings that one step may have, each. Whoever has more saves more steps.
const MaxStep = 10_000

// unlinked is from which rank on no link leads to an address.
const unlinked = 1 << 24

// Rank is the order in which addresses wait: pages that links lead to before others, then by depth. All others wait in the
// order in which they were found.
func (i *Item) Rank() int {
	if i.Kind != KindPage {
		return 0
	}
	rank := min(i.Depth, unlinked-1)
	if i.Unlinked {
		rank += unlinked
	}
	return rank
}

// Distinct are the items of the step, each address and kind once: in the order in which they were first found, by the shortest way.
func (s *Step) Distinct() []Item {
	at := make(map[ItemKey]int, len(s.Found))
	items := make([]Item, 0, len(s.Found))
	for _, item := range s.Found {
		key := ItemKey{item.URL, item.Kind}
		known, seen := at[key]
		switch {
		case !seen:
			at[key] = len(items)
			items = append(items, item)
		case item.Rank() < items[known].Rank():
			items[known] = item
		}
	}
	return items
}

// Check reports a step that is too large.
func (s *Step) Check() error {
	if max(len(s.Found), len(s.Done), len(s.Pages), len(s.Resources), len(s.Ratings)) > MaxStep {
		return errors.New("a step of an audit is larger than is stored at once")
	}
	return nil
}

// Audits is the queue of the runs that wait, and where those under way keep what they learn. It is for the program itself, and
// not bound to an account. Any number of servers may share it. All that takes a lease answers ErrLeaseLost when it is lost.
type Audits interface {
	// ClaimAudit takes on the next run: one that waits, or one whose owner has let its lease end. The account with the fewest
	// runs under way comes first, then the one that has waited longest. It is NotFound when there is none.
	ClaimAudit(ctx context.Context, owner string, now, until time.Time) (Job, error)
	// RenewAudit extends a lease, and says whether the run is to stop. One that ends now gives the run back to the queue.
	RenewAudit(ctx context.Context, l Lease, until time.Time) (stop bool, err error)
	// SaveAudit stores a step and says where the crawl stands. It may do so in parts, Done the last: after a crash, what is not
	// done is found and stored once more, which does no harm. A found item that is known stays as it is, except that a page
	// not done yet takes over Depth, Unlinked and From of a lower Rank. Found counts before Done.
	SaveAudit(ctx context.Context, l Lease, s Step) (Totals, error)
	// WaitingItems lists the first items that are not done, pages or else all others, by Rank and then in the order in which
	// they were first found. It changes nothing.
	WaitingItems(ctx context.Context, l Lease, pages bool, most int) ([]Item, error)
	// SavedCrawl is what was saved of a run, for the checks over all of it. It reads a few pages at a time, so steps may be
	// saved while it does.
	SavedCrawl(ctx context.Context, l Lease) (Crawl, error)
	// EarlierPage is a page as the newest run before that was done has it, or NotFound.
	EarlierPage(ctx context.Context, l Lease, url string) (*Page, error)
	// FinishAudit ends a run with its state and outcome, shows it in its report, and in the project if that is the newest
	// report with a score.
	FinishAudit(ctx context.Context, l Lease, state State, o Outcome, now time.Time) error
}
