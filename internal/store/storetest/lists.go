package storetest

import (
	"strings"
	"testing"

	"sightline/internal/listing"
)

// keyed is a text that is searched, with a word that stands for it in tables.
type keyed struct{ key, text string }

// everything stands for the keys of all texts.
const everything = "everything"

// checkFound fails the test unless a search found the texts of the wanted keys, in the order of all texts.
func checkFound(t *testing.T, what string, all []keyed, want string, found []string, total int) {
	t.Helper()
	wanted := map[string]bool{}
	for key := range strings.FieldsSeq(want) {
		wanted[key] = true
	}
	var texts []string
	for _, one := range all {
		if want == everything || wanted[one.key] {
			texts = append(texts, one.text)
		}
		delete(wanted, one.key)
	}
	if len(wanted) > 0 && want != everything {
		t.Fatalf("%s: the table wants %q, which has an unknown key", what, want)
	}
	same(t, what, texts, found)
	same(t, what+": the total", len(texts), total)
}

// direction is the end of a sentence about a sort.
func direction(desc bool) string {
	if desc {
		return ", descending"
	}
	return ", ascending"
}

// checkPages fails the test unless the pages of a list, put together, are the whole list of total rows.
func checkPages[T any](t *testing.T, what string, total int, r listing.Request, list func(listing.Request) (listing.Page[T], error)) {
	t.Helper()
	whole := must(list(r))(t)
	if len(whole.Items) != total {
		t.Fatalf("%s: one page has %d rows, want %d", what, len(whole.Items), total)
	}
	for _, r.PerPage = range []int{max(3, total/20), max(10, total/9), max(1, total)} {
		var rows []T
		for r.Page = 1; r.Page <= listing.LastPage(total, r.PerPage); r.Page++ {
			page := must(list(r))(t)
			if len(page.Items) > r.PerPage || page.Total != total {
				t.Errorf("%s: page %d has %d rows of %d, want at most %d of %d", what, r.Page, len(page.Items), page.Total, r.PerPage, total)
			}
			rows = append(rows, page.Items...)
		}
		same(t, what+": the pages put together", whole.Items, rows)
		for _, r.Page = range []int{listing.LastPage(total, r.PerPage) + 1, listing.MaxPage} {
			page := must(list(r))(t)
			if len(page.Items) != 0 || page.Total != total {
				t.Errorf("%s: page %d past the end has %d rows of %d, want 0 of %d", what, r.Page, len(page.Items), page.Total, total)
			}
		}
	}
}
