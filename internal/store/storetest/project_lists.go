package storetest

import (
	"slices"
	"testing"

	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
)

var projectListContracts = []contract{
	{"are searched", projectSearch},
	{"are sorted by the bytes of the name", projectSortName},
	{"are sorted by creation", projectSortCreated},
	{"are paged", projectPages},
}

// projectRequest asks for everything, oldest first.
func projectRequest() listing.Request {
	return listing.Request{SearchBy: seo.SearchByProject, SortBy: seo.SortByCreated, Page: 1, PerPage: 100}
}

// The projects that are searched, oldest first.
var searchedProjects = []keyed{
	{"host", "shop.example:8080"},
	{"percent", "100% sale"},
	{"hundred", "100 sale"},
	{"under", "snake_case"},
	{"spaced", "Snake case"},
	{"slash", `C:\temp\100%`},
	{"quotes", `O'Neill "x"; --`},
	{"words", "NEAR this OR that*"},
	{"idn", "xn--mnchen-3ya.de"},
	{"umlaut", "Über Straße"},
	{"apart", "Café"},
	{"kelvin", "Kelvin"},
	{"greek", "ΟΔΟΣ"},
	{"script", "日本語 👩‍👩‍👧"},
}

// What a search finds: keys of the projects above.
var projectSearches = []struct{ search, want string }{
	{"", everything},
	{"nothing", ""},
	{"%", "percent slash"},
	{"100%", "percent slash"},
	{"100 s", "hundred"},
	{"_", "under"},
	{"SNAKE_", "under"},
	{"snake case", "spaced"},
	{"case snake", ""},
	{" ", "percent hundred spaced quotes words umlaut script"},
	{`\`, "slash"},
	{`c:\T`, "slash"},
	{`\\`, ""},
	{`\_`, ""},
	{"'", "quotes"},
	{"''", ""},
	{`"X"; --`, "quotes"},
	{`"`, "quotes"},
	{"near THIS", "words"},
	{"this that", ""},
	{"near OR shop", ""},
	{"*", "words"},
	{"that*", "words"},
	{"tha*", ""},
	{"^near", ""},
	{"sh", "host"},
	{"-", "quotes idn"},
	{":8080", "host"},
	{"München", "idn"},
	{"MU\u0308NCHEN", "idn"},
	{"XN--mnchen", "idn"},
	{"Mnchen-3ya.de", "idn"},
	{"munchen", ""},
	{"ü", "idn umlaut"},
	{"u\u0308BER sTRASSE", "umlaut"},
	{"u\u0308BER sTRAßE", "umlaut"},
	{"uber", ""},
	{"CAFÉ", "apart"},
	{"cafe\u0301", "apart"},
	{"cafe", ""},
	{"KELVIN", "kelvin"},
	{"\u212A", "spaced under kelvin"},
	{"οδοσ", "greek"},
	{"ΔΟ", "greek"},
	{"本語", "script"},
	{"👩", "script"},
}

func projectSearch(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	for _, project := range searchedProjects {
		newProject(t, c, owner, project.text, 0)
		newProject(t, c, other, project.text, 0)
	}
	for _, test := range projectSearches {
		r := projectRequest()
		r.Search = test.search
		page := must(c.Projects(t.Context(), owner, r))(t)
		checkFound(t, "searching for "+test.search, searchedProjects, test.want, names(page.Items), page.Total)
	}
}

func names(projects []seo.Project) []string {
	var list []string
	for _, p := range projects {
		list = append(list, p.Name)
	}
	return list
}

func projectSortName(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	want := []string{"(a)", "10 a", "9 a", "B", "Z", "[", "_", "a", "a b", "a-b", "a.b", "aB", "a_b", "aa", "ab", "b", "z", "~", "Ä", "É", "ä", "ö", "\uFF5E", "😀"}
	order := []int{13, 4, 20, 0, 9, 17, 2, 22, 7, 11, 18, 5, 15, 1, 23, 10, 6, 19, 3, 14, 8, 21, 16, 12}
	for _, i := range order {
		p := seo.NewProject(owner, at(i*5%3))
		p.Name = want[i]
		ok(t, c.CreateProject(t.Context(), &p, nil))
	}
	for _, desc := range []bool{false, true} {
		r := projectRequest()
		r.SortBy, r.Desc = seo.SortByProject, desc
		same(t, "the order by name"+direction(desc), want, names(must(c.Projects(t.Context(), owner, r))(t).Items))
		slices.Reverse(want)
	}
}

func projectSortCreated(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	for i, seconds := range []int{1, 0, 1, 2, 1, 0, 120, 59, 3600} {
		newProject(t, c, owner, string(rune('a'+i)), seconds)
	}
	want := []string{"b", "f", "a", "c", "e", "d", "h", "g", "i"}
	for _, desc := range []bool{false, true} {
		r := projectRequest()
		r.Desc = desc
		same(t, "the order by creation"+direction(desc), want, names(must(c.Projects(t.Context(), owner, r))(t).Items))
		slices.Reverse(want)
	}
}

func projectPages(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	for i := range 23 {
		newProject(t, c, owner, numbered("project", i*7%23), i*3%4)
		newProject(t, c, other, numbered("other", i), 0)
	}
	list := func(r listing.Request) (listing.Page[seo.Project], error) { return c.Projects(t.Context(), owner, r) }
	for _, sortBy := range []string{seo.SortByProject, seo.SortByCreated} {
		for _, desc := range []bool{false, true} {
			r := projectRequest()
			r.SortBy, r.Desc = sortBy, desc
			checkPages(t, "by "+sortBy+direction(desc), 23, r, list)
			r.Search = "PROJECT-1" // 1 and 10 to 19
			checkPages(t, "searched, by "+sortBy+direction(desc), 11, r, list)
		}
	}
}
