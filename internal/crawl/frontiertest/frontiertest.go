// Package frontiertest holds every crawl.Frontier to the same behaviour.
package frontiertest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
)

// Run tests a frontier; open returns an empty one each time.
func Run(t *testing.T, open func(t *testing.T) crawl.Frontier) {
	t.Run("order", func(t *testing.T) { order(t, open(t)) })
	t.Run("shorter way", func(t *testing.T) { shorterWay(t, open(t)) })
	t.Run("totals", func(t *testing.T) { totals(t, open(t)) })
	t.Run("random", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) { random(r, open(t)) })
	})
}

func item(name string, kind crawl.Kind, depth int, unlinked bool) crawl.Item {
	to, err := address.Parse("https://site.example/" + name)
	if err != nil {
		panic(err)
	}
	return crawl.Item{URL: to, Kind: kind, Depth: depth, Unlinked: unlinked, From: fmt.Sprintf("https://site.example/from-%s-%d", name, depth)}
}

func key(i crawl.Item) crawl.Key { return crawl.Key{URL: i.URL.URL, Kind: i.Kind} }

// A fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func expect(t fataler, f crawl.Frontier, pages bool, most int, want ...crawl.Item) {
	t.Helper()
	got, err := f.Waiting(context.Background(), pages, most)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("waiting: %+v, %v\nwant %+v", got, err, want)
	}
}

func save(t fataler, f crawl.Frontier, step crawl.Step) crawl.Totals {
	t.Helper()
	totals, err := f.Save(context.Background(), step)
	if err != nil {
		t.Fatalf("save: %v", err)
	}
	return totals
}

// Linked pages come before unlinked ones, then nearer before farther, then earlier before later; checks come by themselves.
func order(t *testing.T, f crawl.Frontier) {
	expect(t, f, true, 10)
	a, b, c := item("a", crawl.Page, 2, false), item("b", crawl.Page, 1, false), item("c", crawl.Page, 1, false)
	d, e := item("d", crawl.Page, 0, true), item("e", crawl.Page, 9, false)
	image, link := item("a", crawl.Image, 5, false), item("x", crawl.External, 1, true)
	save(t, f, crawl.Step{Found: []crawl.Item{d, a, image, b}})
	save(t, f, crawl.Step{Found: []crawl.Item{c, e, link}})
	expect(t, f, true, 10, b, c, a, e, d)
	expect(t, f, true, 2, b, c)
	expect(t, f, false, 10, image, link)
	expect(t, f, true, 10, b, c, a, e, d) // asking changes nothing
	save(t, f, crawl.Step{Done: []crawl.Key{key(c), key(image)}})
	expect(t, f, true, 3, b, a, e)
	expect(t, f, false, 10, link)
}

// A known page takes over a shorter way to it until it is done, and no longer one.
func shorterWay(t *testing.T, f crawl.Frontier) {
	listed, far, near := item("p", crawl.Page, 0, true), item("p", crawl.Page, 7, false), item("p", crawl.Page, 3, false)
	save(t, f, crawl.Step{Found: []crawl.Item{listed}})
	save(t, f, crawl.Step{Found: []crawl.Item{far}})
	expect(t, f, true, 10, far)
	save(t, f, crawl.Step{Found: []crawl.Item{near, far, listed}})
	expect(t, f, true, 10, near)
	totals := save(t, f, crawl.Step{Done: []crawl.Key{key(near)}, Found: []crawl.Item{item("p", crawl.Page, 1, false)}})
	expect(t, f, true, 10)
	if totals.Pages != 1 || totals.PagesDone != 1 {
		t.Fatalf("totals %+v", totals)
	}
}

func totals(t *testing.T, f crawl.Frontier) {
	page, image := item("p", crawl.Page, 0, false), item("i", crawl.Image, 1, false)
	got := save(t, f, crawl.Step{Found: []crawl.Item{page, image, page}})
	if want := (crawl.Totals{Pages: 1, Checks: 1}); got != want {
		t.Fatalf("totals %+v, want %+v", got, want)
	}
	save(t, f, crawl.Step{Done: []crawl.Key{key(page), key(page), {URL: "https://unknown.example/", Kind: crawl.Page}}, Fetched: 1, Cut: crawl.StopDepth})
	got = save(t, f, crawl.Step{Done: []crawl.Key{key(page), key(image)}, Fetched: 2})
	if want := (crawl.Totals{Pages: 1, PagesDone: 1, Checks: 1, ChecksDone: 1, Fetched: 3, Cut: crawl.StopDepth}); got != want {
		t.Fatalf("totals %+v, want %+v", got, want)
	}
}

// random compares a frontier with the one in memory over random steps.
func random(r *rapid.T, f crawl.Frontier) {
	oracle := crawl.NewMemory()
	items := rapid.Custom(func(r *rapid.T) crawl.Item {
		return item(rapid.StringMatching("[a-h]").Draw(r, "name"), rapid.SampledFrom([]crawl.Kind{crawl.Page, crawl.Page, crawl.Image, crawl.External}).Draw(r, "kind"),
			rapid.IntRange(0, 3).Draw(r, "depth"), rapid.Bool().Draw(r, "unlinked"))
	})
	for range rapid.IntRange(1, 20).Draw(r, "steps") {
		step := crawl.Step{Found: rapid.SliceOfN(items, 0, 5).Draw(r, "found"), Fetched: rapid.IntRange(0, 2).Draw(r, "fetched")}
		for _, done := range rapid.SliceOfN(items, 0, 2).Draw(r, "done") {
			step.Done = append(step.Done, key(done))
		}
		if got, want := save(r, f, step), save(r, oracle, step); got != want {
			r.Fatalf("totals %+v, want %+v", got, want)
		}
		for _, pages := range []bool{true, false} {
			most := rapid.IntRange(1, 12).Draw(r, "most")
			want, err := oracle.Waiting(context.Background(), pages, most)
			if err != nil {
				r.Fatalf("%v", err)
			}
			expect(r, f, pages, most, want...)
		}
	}
}
