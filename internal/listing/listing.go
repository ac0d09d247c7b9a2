// Package listing is what every list has in common: search, sort and page.
package listing

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The limits of every list.
const (
	MaxSearch = 200       // characters
	MaxPage   = 1_000_000 // page numbers start at 1
)

// A Request says which part of a list is wanted, in which order. The zero SearchBy and SortBy
// are not meaningful: whoever makes a Request fills in the list's defaults.
type Request struct {
	Search   string // as the caller typed it; empty matches everything
	SearchBy string
	SortBy   string
	Desc     bool
	Page     int // 1-based
	PerPage  int
}

// Offset is how many rows lie before the page.
func (r Request) Offset() int {
	return (r.Page - 1) * r.PerPage
}

// A Page is one part of a list, with the number of rows that match in all.
type Page[T any] struct {
	Items []T
	Total int
}

// LastPage is the number of the last page that has rows, at least 1.
func LastPage(total, perPage int) int {
	return max(1, (total+perPage-1)/perPage)
}

// Fold brings text into the form in which searches are compared: composed, without a difference between upper and
// lower case in any script. Every engine stores folded text and compares bytes, so all of them find the same rows.
func Fold(text string) string {
	text = strings.ReplaceAll(norm.NFC.String(text), "İ", "i") // not i with a second dot
	return norm.NFC.String(cases.Fold().String(text))
}
