package storetest

import (
	"slices"
	"testing"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/store"
)

var websiteListContracts = []contract{
	{"are searched", websiteSearch},
	{"are sorted", websiteSort},
	{"are sorted by the bytes of the domain", websiteSortDomain},
	{"are paged", websitePages},
	{"page the rows that match", websiteSearchPages},
}

// websiteRequest asks for everything, oldest first.
func websiteRequest() listing.Request {
	return listing.Request{SearchBy: analytics.SearchByURL, SortBy: analytics.SortByCreated, Page: 1, PerPage: 100}
}

// The websites that are searched, oldest first.
var searchedWebsites = []keyed{
	{"percent", "https://shop.example/100%"},
	{"hundred", "https://shop.example/1000"},
	{"under", "https://www.snake.example/a_b"},
	{"plain", "https://snake.example/a-b/AND-or-NOT*"},
	{"slash", `https://slash.example/a\b`},
	{"quotes", `https://quotes.example/it's"x"--;`},
	{"idn", "https://xn--mnchen-3ya.de/?a=1"},
	{"umlaut", "https://path.example/Über/STRAẞE"},
	{"apart", "https://path.example/cafe\u0301"},
	{"script", "https://xn--wgv71a119e.jp:8080/日本語/👩‍👩‍👧"},
}

// What a search finds: keys of the websites above.
var websiteSearches = []struct{ search, byURL, byDomain string }{
	{"", everything, everything},
	{"nothing", "", ""},
	{"100%", "percent", ""},
	{"%", "percent", ""},
	{"%%", "", ""},
	{"1%0", "", ""},
	{"_", "under", ""},
	{"a_b", "under", ""},
	{`\`, "slash", ""},
	{`a\b`, "slash", ""},
	{`\\`, "", ""},
	{`\%`, "", ""},
	{"'", "quotes", ""},
	{`'s"x"--;`, "quotes", ""},
	{`"`, "quotes", ""},
	{`""`, "", ""},
	{"*", "plain", ""},
	{"?", "idn", ""},
	{"and-OR-not", "plain", ""},
	{"a-b OR a_b", "", ""},
	{"snake exa", "", ""},
	{"SNAKE.Exa", "under plain", "under plain"},
	{"www.", "under", ""},
	{"https://s", "percent hundred plain slash", ""},
	{"e/1", "percent hundred", ""},
	{"p", everything, "percent hundred under plain slash quotes umlaut apart script"},
	{"jp", "script", "script"},
	{"münchen", "idn", "idn"},
	{"MÜNCHEN.DE", "idn", "idn"},
	{"mu\u0308nchen", "idn", "idn"},
	{"xn--MNCHEN", "idn", "idn"},
	{"https://münchen.de/?", "idn", ""},
	{"munchen", "", ""},
	{"ü", "idn umlaut", "idn"},
	{"ÜBER/straße", "umlaut", ""},
	{"strasse", "umlaut", ""},
	{"CAFÉ", "apart", ""},
	{"cafe\u0301", "apart", ""},
	{"日本", "script", "script"},
	{"本", "script", "script"},
	{"日本語.jp:8080", "script", "script"},
	{"8080/日本語", "script", ""},
	{"👩‍👩‍👧", "script", ""},
}

func websiteSearch(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	for _, website := range searchedWebsites {
		newWebsite(t, c, owner, website.text, 0)
		newWebsite(t, c, other, website.text, 0)
	}
	for _, test := range websiteSearches {
		for by, want := range map[string]string{analytics.SearchByURL: test.byURL, analytics.SearchByDomain: test.byDomain} {
			r := websiteRequest()
			r.Search, r.SearchBy = test.search, by
			page := must(c.Websites(t.Context(), owner, r))(t)
			var found []string
			for _, w := range page.Items {
				found = append(found, w.URL)
			}
			checkFound(t, "searching for "+test.search+" by "+by, searchedWebsites, want, found, page.Total)
		}
	}
}

func websiteSort(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	numbers := map[int64]int{} // id → which of the rows
	for i, row := range []struct {
		url     string
		seconds int
	}{
		{"https://b.example", 2},      // 0
		{"https://a.example/z", 1},    // 1
		{"https://a.example", 1},      // 2
		{"https://a.example", 0},      // 3
		{"http://a.example", 1},       // 4
		{"https://www.a.example", 3},  // 5
		{"https://a-b.example", 1},    // 6
		{"https://a.example/Z", 1},    // 7
		{"https://a.example/é", 1},    // 8
		{"https://a.example.com", 86}, // 9
		{"https://10.example", 1},     // 10
		{"https://a.example:81", 1},   // 11
		{"https://a.example", 1},      // 12
		{"https://9.example", 1},      // 13
	} {
		numbers[newWebsite(t, c, owner, row.url, row.seconds).ID] = i
	}
	tests := []struct {
		sortBy string
		want   []int
	}{
		{analytics.SortByURL, []int{10, 13, 6, 4, 2, 3, 12, 7, 1, 8, 5, 9, 11, 0}},
		{analytics.SortByCreated, []int{3, 1, 2, 4, 6, 7, 8, 10, 11, 12, 13, 0, 5, 9}},
	}
	for _, test := range tests {
		for _, desc := range []bool{false, true} {
			r := websiteRequest()
			r.SortBy, r.Desc = test.sortBy, desc
			var got []int
			for _, w := range must(c.Websites(t.Context(), owner, r))(t).Items {
				got = append(got, numbers[w.ID])
			}
			same(t, "the order by "+test.sortBy+direction(desc), test.want, got)
			slices.Reverse(test.want)
		}
	}
}

// websiteSortDomain has hosts that a language's order would put elsewhere: it takes - . _ : for much the same, and before digits.
func websiteSortDomain(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	want := []string{"a--b.example", "a-b.example", "a-z.example", "a.b.example", "a.example", "a.example:81", "a1.example", "a_1.example", "a_b.example",
		"aa.example", "ab.example", "b-a.example", "b.a.example", "b_a.example"}
	for _, i := range []int{8, 3, 12, 0, 6, 10, 1, 13, 4, 9, 2, 11, 5, 7} {
		newWebsite(t, c, owner, "https://"+want[i], i%3)
	}
	for _, desc := range []bool{false, true} {
		r := websiteRequest()
		r.SortBy, r.Desc = analytics.SortByURL, desc
		for _, r.PerPage = range []int{100, 3} {
			var got []string
			for r.Page = 1; r.Page <= listing.LastPage(len(want), r.PerPage); r.Page++ {
				for _, w := range must(c.Websites(t.Context(), owner, r))(t).Items {
					got = append(got, w.Domain)
				}
			}
			same(t, "the order by domain"+direction(desc), want, got)
		}
		slices.Reverse(want)
	}
}

func websitePages(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	for i := range 23 {
		newWebsite(t, c, owner, numbered("https://site", i*7%5)+".example", i*3%4)
		newWebsite(t, c, other, "https://other.example", 0)
	}
	for _, sortBy := range []string{analytics.SortByURL, analytics.SortByCreated} {
		for _, desc := range []bool{false, true} {
			r := websiteRequest()
			r.SortBy, r.Desc = sortBy, desc
			checkPages(t, "by "+sortBy+direction(desc), 23, r, func(r listing.Request) (listing.Page[analytics.Website], error) {
				return c.Websites(t.Context(), owner, r)
			})
		}
	}
}

func websiteSearchPages(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for i := range 30 {
		newWebsite(t, c, owner, numbered("https://site", i%3)+".example", i%2)
	}
	for _, by := range []string{analytics.SearchByURL, analytics.SearchByDomain} {
		r := websiteRequest()
		r.Search, r.SearchBy, r.SortBy = "SITE-1.", by, analytics.SortByURL
		checkPages(t, "searched by "+by, 10, r, func(r listing.Request) (listing.Page[analytics.Website], error) {
			return c.Websites(t.Context(), owner, r)
		})
	}
}
