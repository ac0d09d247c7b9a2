package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/store/postgres"
	"sightline/internal/store/postgres/pgtest"
)

// A large account is searched in other ways than a small one. It must find the same, with trigrams and without.
func TestSearchInLargeAccount(t *testing.T) {
	for name, test := range map[string]struct {
		url     func(*testing.T) string
		indexes string
	}{
		"with trigrams":    {func(t *testing.T) string { return pgtest.URL(t) }, "3"},
		"without trigrams": {withoutTrigrams, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			url := test.url(t)
			db := open(t, url)
			const indexes = `SELECT count(*)::text FROM pg_indexes WHERE schemaname = current_schema() AND indexdef LIKE '%gin_trgm_ops%'`
			if found := texts(t, connect(t, url), indexes); found[0] != test.indexes {
				t.Fatalf("there are %s indexes of trigrams, want %s", found[0], test.indexes)
			}
			searchLarge(t, db, fillLarge(t, db))
		})
	}
}

// withoutTrigrams is the URL of a database whose user may not make the extension.
func withoutTrigrams(t *testing.T) string {
	server := pgtest.URL(t)
	conn := connect(t, server)
	name := "plain_" + texts(t, conn, `SELECT current_schema()::text`)[0]
	exec(t, conn, `CREATE DATABASE `+name)
	exec(t, conn, `CREATE ROLE `+name+` LOGIN`)
	t.Cleanup(func() {
		for _, statement := range []string{`DROP DATABASE ` + name + ` WITH (FORCE)`, `DROP ROLE ` + name} {
			if _, err := conn.Exec(context.Background(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
	exec(t, connect(t, server+"&dbname="+name), `CREATE SCHEMA AUTHORIZATION `+name)
	return server + "&dbname=" + name + "&user=" + name + "&search_path=" + name
}

// A searched is a website with the texts in which searches look.
type searched struct {
	analytics.Website
	text map[string]string // by what is searched
}

// fillLarge makes an account with more websites than are searched by reading them all, beside a small one.
func fillLarge(t *testing.T, db *postgres.DB) []searched {
	t.Helper()
	newWebsite(t, db)
	owner := account.New("large@example.com", time.Now())
	if err := db.CreateAccount(t.Context(), &owner); err != nil {
		t.Fatal(err)
	}
	var all []*analytics.Website
	for i := range 11_000 {
		w := analytics.NewWebsite(owner.ID, time.Date(2026, 11, 14, 9, i%60, 0, 0, time.UTC))
		host := []string{"alpha", "beta", "xn--mnchen-3ya", "zulu"}[i%4]
		path := []string{"", "100%", "a_b", `a\b`, "Über", "日本語", "plain/page"}[i%7]
		if err := w.SetURL(fmt.Sprintf("https://%s.site-%05d.example/%s", host, i*7919%11_000, path)); err != nil {
			t.Fatal(err)
		}
		all = append(all, &w)
	}
	for part := range slices.Chunk(all, 1_000) {
		err := db.ApplyWebsites(t.Context(), owner.ID, nil, func(map[string]analytics.Website) ([]*analytics.Website, error) { return part, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	var stored []searched
	for _, w := range all {
		stored = append(stored, searched{*w, map[string]string{analytics.SearchByURL: w.SearchURL(), analytics.SearchByDomain: w.SearchDomain()}})
	}
	return stored
}

func searchLarge(t *testing.T, db *postgres.DB, all []searched) {
	for i, search := range []string{"", "a", "zu", "qq", "alpha", "zulu", "https", "://", "site-0123", "site-00042.example", "0%", "100%", "100_",
		"a_b", "a%b", `a\b`, "ÜBER", "MÜNCHEN.site-1", "日本", "日本語", "nothing"} {
		for _, by := range []string{analytics.SearchByURL, analytics.SearchByDomain} {
			var want []analytics.Website
			for _, w := range all {
				if strings.Contains(w.text[by], listing.Fold(search)) {
					want = append(want, w.Website)
				}
			}
			sortBy := []string{analytics.SortByURL, analytics.SortByCreated}[i%2]
			slices.SortFunc(want, order(sortBy))
			for _, page := range []int{1, len(want) / 20, len(want)/10 + 1, len(want)/10 + 2} {
				r := listing.Request{Search: search, SearchBy: by, SortBy: sortBy, Desc: page%2 == 1, Page: max(1, page), PerPage: 10}
				wantPage(t, db, all[0].AccountID, r, want)
			}
		}
	}
}

func order(by string) func(a, b analytics.Website) int {
	if by == analytics.SortByCreated {
		return func(a, b analytics.Website) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		}
	}
	return func(a, b analytics.Website) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.URL, b.URL), cmp.Compare(a.ID, b.ID))
	}
}

// wantPage fails the test unless a list has the right page of the rows that it must find, which are in ascending order.
func wantPage(t *testing.T, db *postgres.DB, owner int64, r listing.Request, want []analytics.Website) {
	t.Helper()
	got, err := db.Websites(t.Context(), owner, r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	from := min(r.Offset(), len(want))
	to := min(from+r.PerPage, len(want))
	part := want[from:to]
	if r.Desc {
		part = slices.Clone(want[len(want)-to : len(want)-from])
		slices.Reverse(part)
	}
	if got.Total != len(want) || !slices.Equal(got.Items, part) {
		t.Errorf("%+v finds %d rows in all and shows %d, want %d and %d", r, got.Total, len(got.Items), len(want), len(part))
	}
}
