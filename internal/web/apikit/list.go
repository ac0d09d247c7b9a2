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
	request.PerPage = number(query, "per_page", request.PerPage, l.PerPageWords, func(n int) bool { return slices.Contains(l.PerPage, n) })
	request.Page = number(query, "page", 1, fmt.Sprintf("must be an integer from 1 to %d", listing.MaxPage), func(n int) bool { return n >= 1 && n <= listing.MaxPage })
	return request, query.Bad.OrNil()
}

// number reads an integer; an empty value counts as not sent.
func number(query Fields, name string, otherwise int, words string, allowed func(int) bool) int {
	text := query.sent[name].text
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || !allowed(n) {
		query.Bad[name] = []string{words}
	}
	return n
}

func oneOf(values []string) string {
	return "must be one of " + strings.Join(values, ", ")
}

// WriteList answers with one page of a list, at base.
func WriteList[T, J any](w http.ResponseWriter, r *http.Request, base string, request listing.Request, page listing.Page[T], toJSON func(T) J) error {
	path, own := base+r.URL.Path, ownParameters(r)
	link := func(n int) *string {
		text := path + "?" + own + "page=" + strconv.Itoa(n)
		return &text
	}
	last := listing.LastPage(page.Total, request.PerPage)
	body := listBody[J]{Data: make([]J, 0, len(page.Items)), Status: http.StatusOK}
	body.Links.First, body.Links.Last = link(1), link(last)
	if request.Page > 1 {
		body.Links.Prev = link(min(request.Page-1, last))
	}
	if request.Page < last {
		body.Links.Next = link(request.Page + 1)
	}
	body.Meta = listMeta{CurrentPage: request.Page, LastPage: last, Path: path, PerPage: request.PerPage, Total: page.Total}
	if len(page.Items) > 0 {
		from, to := request.Offset()+1, request.Offset()+len(page.Items)
		body.Meta.From, body.Meta.To = &from, &to
	}
	for _, item := range page.Items {
		body.Data = append(body.Data, toJSON(item))
	}
	return Write(w, http.StatusOK, body)
}

type listBody[J any] struct {
	Data  []J `json:"data"`
	Links struct {
		First *string `json:"first"`
		Last  *string `json:"last"`
		Prev  *string `json:"prev"`
		Next  *string `json:"next"`
	} `json:"links"`
	Meta   listMeta `json:"meta"`
	Status int      `json:"status"`
}

type listMeta struct {
	CurrentPage int    `json:"current_page"`
	From        *int   `json:"from"`
	LastPage    int    `json:"last_page"`
	Path        string `json:"path"`
	PerPage     int    `json:"per_page"`
	To          *int   `json:"to"`
	Total       int    `json:"total"`
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
