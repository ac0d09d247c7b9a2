package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// PageOptions say which page of a list to read. What is zero is left to the server.
type PageOptions struct {
	PerPage int // the server takes 10 to 100 websites; of anything else 10, 25, 50 or 100
	Page    int // from 1
}

// ListOptions say what a list shall hold, and in which order. What is empty is left to the server.
type ListOptions struct {
	Search   string // a part of what SearchBy names; any case
	SearchBy string // websites: url or domain; projects: project; reports: url
	SortBy   string // websites: url or created_at; projects: created_at or project; reports: id, generated_at, url or score
	Sort     string // asc or desc
	PerPage  int    // websites: 10 to 100; all else: 10, 25, 50 or 100
	Page     int    // from 1
}

func (o ListOptions) values() url.Values {
	query := PageOptions{o.PerPage, o.Page}.values()
	for name, value := range map[string]string{"search": o.Search, "search_by": o.SearchBy, "sort_by": o.SortBy, "sort": o.Sort} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

func (o PageOptions) values() url.Values {
	query := url.Values{}
	for name, value := range map[string]int{"per_page": o.PerPage, "page": o.Page} {
		if value != 0 {
			query.Set(name, strconv.Itoa(value))
		}
	}
	return query
}

// A Page is one page of a list.
type Page[T any] struct {
	Items   []T
	Number  int // from 1
	Last    int // number of the last page
	PerPage int
	Total   int // how many there are on all pages
}

// page reads one page of a list.
func page[T any](ctx context.Context, c *Client, area Area, path string, query url.Values) (Page[T], error) {
	var body struct {
		Data []T `json:"data"`
		Meta struct {
			CurrentPage int `json:"current_page"`
			LastPage    int `json:"last_page"`
			PerPage     int `json:"per_page"`
			Total       int `json:"total"`
		} `json:"meta"`
	}
	_, err := c.do(ctx, call{area: area, method: http.MethodGet, path: path, query: query}, &body)
	return Page[T]{body.Data, body.Meta.CurrentPage, body.Meta.LastPage, body.Meta.PerPage, body.Meta.Total}, err
}

// largestPage is the page size of iterators: the fewest requests.
const largestPage = 100

// all reads page after page from first on; an error is the last that it yields.
func all[T any](first PageOptions, read func(PageOptions) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		o := first
		if o.PerPage == 0 {
			o.PerPage = largestPage
		}
		for o.Page = max(o.Page, 1); ; o.Page++ {
			page, err := read(o)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if len(page.Items) == 0 || o.Page >= page.Last {
				return
			}
		}
	}
}
