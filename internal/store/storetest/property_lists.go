package storetest

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/seo"
)

// The sites and names of the random calls: few, so that they collide.
var (
	someURLs = []string{
		"https://example.com", "https://www.example.com/", "http://example.com:8080/Path?q=100%_x", "https://example.org/a\\b'c\"d",
		"https://ÜBER.example/Straße", "https://xn--mnchen-3ya.de/cafe\u0301", "https://日本語.jp", "https://a-b.example/ΟΔΟΣ", "https://a.b.example/K",
		"https://a_b.example",
	}
	someNames = []string{
		"example.com", "xn--mnchen-3ya.de", "München", "Blog", "blog", "100% of_it", `a\b'c"d`, "ΟΔΟΣ", "日本語", "Cafe\u0301", "Café", "\u212Aelvin",
	}
)

// lists is how many lists are read at a time: reads are quick, and there is more to ask than to write.
const lists = 5

// someSearch is a part of a text that may be there, in one of its forms.
func someSearch(t *rapid.T, texts []string) string {
	text := []rune(draw(t, "search in", texts...))
	from := rapid.IntRange(0, len(text)).Draw(t, "search from")
	to := rapid.IntRange(from, len(text)).Draw(t, "search to")
	part := string(text[from:to])
	switch draw(t, "form", "as it is", "upper case", "lower case", "composed", "decomposed") {
	case "upper case":
		return strings.ToUpper(part)
	case "lower case":
		return strings.ToLower(part)
	case "composed":
		return norm.NFC.String(part)
	case "decomposed":
		return norm.NFD.String(part)
	default:
		return part
	}
}

// somePage asks for some page of a list that is not searched or sorted.
func somePage(t *rapid.T) listing.Request {
	return listing.Request{Page: rapid.IntRange(1, 3).Draw(t, "page"), PerPage: draw(t, "per page", 1, 2, 3, 10, 100)}
}

// someRequest asks for some page.
func someRequest(t *rapid.T, texts, searchBy, sortBy []string) listing.Request {
	r := somePage(t)
	r.SearchBy, r.SortBy, r.Desc = draw(t, "search by", searchBy...), draw(t, "sort by", sortBy...), rapid.Bool().Draw(t, "descending")
	if rapid.Bool().Draw(t, "search") {
		r.Search = someSearch(t, texts)
	}
	return r
}

func (m *machine) listWebsites(t *rapid.T) {
	sorts, searches := []string{analytics.SortByURL, analytics.SortByCreated}, []string{analytics.SearchByURL, analytics.SearchByDomain}
	texts := slices.Concat(someURLs, []string{"https://münchen.de", "https://über.example", "https://xn--wgv71a119e.jp"})
	owner := m.accounts.any(t, "account")
	for range lists {
		m.compareWebsites(t, owner, someRequest(t, texts, searches, sorts))
	}
}

func (m *machine) compareWebsites(t *rapid.T, owner twin, r listing.Request) {
	want, wantErr := m.oracle.Websites(m.ctx, owner.oracle, r)
	got, err := m.engine.Websites(m.ctx, owner.engine, r)
	agree(t, wantErr, err)
	for i, w := range got.Items {
		got.Items[i] = m.asOracleWebsite(w)
	}
	equal(t, want, got)
}

func (m *machine) listProjects(t *rapid.T) {
	sorts, searches := []string{seo.SortByProject, seo.SortByCreated}, []string{seo.SearchByProject}
	owner := m.accounts.any(t, "account")
	for range lists {
		m.compareProjects(t, owner, someRequest(t, someNames, searches, sorts))
	}
}

func (m *machine) compareProjects(t *rapid.T, owner twin, r listing.Request) {
	want, wantErr := m.oracle.Projects(m.ctx, owner.oracle, r)
	got, err := m.engine.Projects(m.ctx, owner.engine, r)
	agree(t, wantErr, err)
	for i, p := range got.Items {
		got.Items[i] = m.asOracleProject(p)
	}
	equal(t, want, got)
}

// asOracleWebsite is a website of the engine with the oracle's ids.
func (m *machine) asOracleWebsite(w analytics.Website) analytics.Website {
	w.ID, w.AccountID = m.websites.oracle(w.ID), m.accounts.oracle(w.AccountID)
	return w
}

// asOracleProject is a project of the engine with the oracle's ids.
func (m *machine) asOracleProject(p seo.Project) seo.Project {
	p.ID, p.AccountID = m.projects.oracle(p.ID), m.accounts.oracle(p.AccountID)
	return p
}

// someTime is one of three moments, so that rows are created in the same second.
func someTime(t *rapid.T) time.Time {
	return at(rapid.IntRange(0, 2).Draw(t, "second"))
}
