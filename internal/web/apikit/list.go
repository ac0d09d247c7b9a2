package apikit

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sightline/internal/listing"
)

// ListQuery names the query parameters of every list.
var ListQuery = []string{"search", "search_by", "sort_by", "sort", "per_page", "page"}

// A List says what the caller of a list may ask for. The first of SearchBy and of SortBy is the default.
type List struct {
	SearchBy []string
	SortBy   []string
	Aliases  map[string]string // other spellings of a SortBy
	Desc     bool              // the default direction
	PerPage  []int             // the sizes that are allowed; the first is the default
	// PerPageWords says which sizes are allowed.
	PerPageWords string
}

// Request reads what the caller asks for.
func (l List) Request(r *http.Request) (listing.Request, error) {
	query := CallOf(r).Query
	request := listing.Request{Search: query.Text("search"), SearchBy: l.SearchBy[0], SortBy: l.SortBy[0], Desc: l.Desc, Page: 1, PerPage: l.PerPage[0]}
	if utf8.RuneCountInString(request.Search) > listing.MaxSearch {
		query.Bad.Add("search", fmt.Sprintf("must be at most %d characters long", listing.MaxSearch))
	}
	if value, sent := query.Choice("search_by", l.SearchBy, oneOf(l.SearchBy)); sent {
		request.SearchBy = value
	}
	sorts := slices.Clone(l.SortBy)
	for alias := range l.Aliases {
		sorts = append(sorts, alias)
	}
	slices.Sort(sorts)
	if value, sent := query.Choice("sort_by", sorts, oneOf(sorts)); sent {
		request.SortBy = value
		if real, alias := l.Aliases[value]; alias {
			request.SortBy = real
		}
	}
	if value, sent := query.Choice("sort", []string{"desc", "asc"}, oneOf([]string{"desc", "asc"})); sent {
		request.Desc = value == "desc"
	}
	request.PerPage = query.Number("per_page", request.PerPage, l.PerPageWords, func(n int) bool { return slices.Contains(l.PerPage, n) })
	request.Page = PageNumber(query)
	return request, query.Bad.OrNil()
}

func oneOf(values []string) string {
	return "must be one of " + strings.Join(values, ", ")
}

// PageNumber reads which page of a list is wanted.
func PageNumber(query Fields) int {
	return query.Number("page", 1, fmt.Sprintf("must be an integer from 1 to %d", listing.MaxPage), func(n int) bool { return n >= 1 && n <= listing.MaxPage })
}

// WriteList answers with one page of a list, at base.
func WriteList[T, J any](w http.ResponseWriter, r *http.Request, base string, request listing.Request, page listing.Page[T], toJSON func(T) J) error {
	body := listBody[J]{Data: make([]J, 0, len(page.Items)), Status: http.StatusOK}
	body.Links, body.Meta = Pages(r, base, request, len(page.Items), page.Total)
	for _, item := range page.Items {
		body.Data = append(body.Data, toJSON(item))
	}
	return Write(w, http.StatusOK, body)
}

type listBody[J any] struct {
	Data   []J   `json:"data"`
	Links  Links `json:"links"`
	Meta   Meta  `json:"meta"`
	Status int   `json:"status"`
}

// Links lead to other pages of a list.
type Links struct {
	First *string `json:"first"`
	Last  *string `json:"last"`
	Prev  *string `json:"prev"`
	Next  *string `json:"next"`
}

// Meta says which part of a list a page is.
type Meta struct {
	CurrentPage int    `json:"current_page"`
	From        *int   `json:"from"`
	LastPage    int    `json:"last_page"`
	Path        string `json:"path"`
	PerPage     int    `json:"per_page"`
	To          *int   `json:"to"`
	Total       int    `json:"total"`
}

// Pages describes one page of a list, at base, that has so many rows out of so many.
func Pages(r *http.Request, base string, request listing.Request, rows, total int) (Links, Meta) {
	path, own := base+r.URL.Path, ownParameters(r)
	link := func(n int) *string {
		text := path + "?" + own + "page=" + strconv.Itoa(n)
		return &text
	}
	last := listing.LastPage(total, request.PerPage)
	links := Links{First: link(1), Last: link(last)}
	if request.Page > 1 {
		links.Prev = link(min(request.Page-1, last))
	}
	if request.Page < last {
		links.Next = link(request.Page + 1)
	}
	meta := Meta{CurrentPage: request.Page, LastPage: last, Path: path, PerPage: request.PerPage, Total: total}
	if rows > 0 {
		from, to := request.Offset()+1, request.Offset()+rows
		meta.From, meta.To = &from, &to
	}
	return links, meta
}

// ownParameters writes the parameters that the caller sent, but for the page, ready to be followed by it.
func ownParameters(r *http.Request) string {
	var text strings.Builder
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, _ = url.QueryUnescape(name) // readFields has seen that both can be decoded
		value, _ = url.QueryUnescape(value)
		if part != "" && name != "page" {
			text.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value) + "&")
		}
	}
	return text.String()
}
