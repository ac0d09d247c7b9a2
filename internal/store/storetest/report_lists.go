package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

// someReports makes reports of two projects, of which most are done: with scores at the borders of the results, one without.
func someReports(t *testing.T, c store.Catalog, owner int64) []seo.Report {
	t.Helper()
	scores := []*int{score(0), score(49), score(50), score(79), score(80), score(100), score(50), nil}
	var all []seo.Report
	for i := range 10 {
		host := []string{"https://a.example/", "https://bücher.example/"}[i%2]
		r := newReport(t, c, owner, numbered(host+"Path", (i*7)%5), i)
		if i < len(scores) {
			finishNext(t, c, seo.Outcome{Score: scores[i]}, 100+(i*3)%7)
		}
		all = append(all, r)
	}
	for i := range all {
		all[i] = readReport(t, c, all[i])
	}
	return all
}

func reportLists(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	all := someReports(t, c, owner)
	newReport(t, c, other, "https://a.example/Path", 0)
	filters := map[seo.ReportFilter]func(seo.Report) bool{
		{}:                                       func(seo.Report) bool { return true },
		{Result: "good"}:                         func(r seo.Report) bool { return r.Result() == "good" },
		{Result: "decent"}:                       func(r seo.Report) bool { return r.Result() == "decent" },
		{Result: "bad"}:                          func(r seo.Report) bool { return r.Result() == "bad" },
		{Project: seo.Ref{Name: "a.example"}}:    func(r seo.Report) bool { return r.Project == "a.example" },
		{Project: seo.Ref{ID: all[1].ProjectID}}: func(r seo.Report) bool { return r.ProjectID == all[1].ProjectID },
		{Project: seo.Ref{Name: "unknown.example"}}:    func(seo.Report) bool { return false },
		{Project: seo.Ref{ID: nowhere}}:                func(seo.Report) bool { return false },
		{Project: seo.Ref{ID: 1 << 40}, Result: "bad"}: func(seo.Report) bool { return false },
		{Project: seo.Ref{Name: "xn--bcher-kva.example"}, Result: "decent"}: func(r seo.Report) bool {
			return r.Project == "xn--bcher-kva.example" && r.Result() == "decent"
		},
	}
	for filter, holds := range filters {
		for search, contains := range map[string]func(seo.Report) bool{
			"":        func(seo.Report) bool { return true },
			"PATH-1":  func(r seo.Report) bool { return r.URL[len(r.URL)-6:] == "Path-1" },
			"BÜCHER":  func(r seo.Report) bool { return r.Project == "xn--bcher-kva.example" },
			"nothing": func(seo.Report) bool { return false },
		} {
			var want []seo.Report
			for _, r := range all {
				if holds(r) && contains(r) {
					want = append(want, r)
				}
			}
			wantSorted(t, c, owner, filter, search, want)
		}
	}
}

// wantSorted demands a list in every order, and that its pages are parts of it.
func wantSorted(t *testing.T, c store.Catalog, owner int64, f seo.ReportFilter, search string, want []seo.Report) {
	t.Helper()
	orders := map[string]func(a, b seo.Report) int{
		seo.SortByID:        func(a, b seo.Report) int { return 0 },
		seo.SortByGenerated: func(a, b seo.Report) int { return a.GeneratedAt.Compare(b.GeneratedAt) },
		seo.SortByURL:       func(a, b seo.Report) int { return cmp.Compare(a.URL, b.URL) },
		seo.SortByScore:     func(a, b seo.Report) int { return cmp.Compare(orLess(a.Score), orLess(b.Score)) },
	}
	for by, order := range orders {
		for _, desc := range []bool{false, true} {
			want := slices.SortedFunc(slices.Values(want), func(a, b seo.Report) int { return cmp.Or(order(a, b), cmp.Compare(a.ID, b.ID)) })
			if desc {
				slices.Reverse(want)
			}
			r := reportRequest()
			r.Search, r.SortBy, r.Desc = search, by, desc
			got := must(c.Reports(t.Context(), owner, f, r))(t)
			same(t, "the reports by "+by+direction(desc), want, got.Items)
			checkPages(t, "the reports by "+by+direction(desc), len(want), r, func(r listing.Request) (listing.Page[seo.Report], error) {
				return c.Reports(t.Context(), owner, f, r)
			})
		}
	}
}

func orLess(score *int) int {
	if score == nil {
		return -1
	}
	return *score
}

// reportItem is a deleted report in the trash.
func reportItem(r seo.Report, seconds int) trash.Item {
	return trash.Item{Object: trash.Report, ID: r.ID, Name: r.URL, DeletedAt: at(seconds)}
}

// wholeTrash is all that is in the trash of an account.
func wholeTrash(t *testing.T, c store.Catalog, owner int64) []trash.Item {
	t.Helper()
	return whole(t, "trash", must(c.Trash(t.Context(), owner, allKinds, pageRequest()))(t))
}

func reportTrash(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	kept, r := newReport(t, c, owner, "https://example.com/kept", 0), newReport(t, c, owner, "https://example.com/gone", 1)
	refused := trash.Deletion{At: at(5), Check: func(version int64) error {
		same(t, "the version that is checked", r.Version, version)
		return errRefused
	}}
	if err := c.DeleteReport(t.Context(), owner, r.ID, refused); err != errRefused {
		t.Errorf("a refused deletion answers %v", err)
	}
	ok(t, c.DeleteReport(t.Context(), owner, r.ID, toTrash(6)))
	_, err := c.Report(t.Context(), owner, r.ID)
	wantNotFound(t, "reading a deleted report", err)
	wantNotFound(t, "deleting a deleted report", c.DeleteReport(t.Context(), owner, r.ID, erase))
	_, err = c.ReportRun(t.Context(), owner, seo.RunRef{Report: r.ID})
	wantNotFound(t, "the run of a deleted report", err)
	same(t, "the list", []seo.Report{kept}, listReports(t, c, owner, seo.ReportFilter{}))
	same(t, "the trash", []trash.Item{reportItem(r, 6)}, wholeTrash(t, c, owner))
	p := projectOf(t, c, kept)
	same(t, "the project", []any{1, int64(3), at(6)}, []any{p.Reports, p.Version, p.UpdatedAt})

	var back seo.Report
	ok(t, c.RestoreReport(t.Context(), owner, r.ID, &back, nil))
	same(t, "the restored report", r, back)
	same(t, "the list after that", []seo.Report{kept, r}, listReports(t, c, owner, seo.ReportFilter{}))
	same(t, "the trash after that", []trash.Item{}, wholeTrash(t, c, owner))
	same(t, "the count of the project", 2, projectOf(t, c, r).Reports)
	wantNotFound(t, "restoring it again", c.RestoreReport(t.Context(), owner, r.ID, &back, nil))

	for _, one := range []seo.Report{kept, r} {
		ok(t, c.DeleteReport(t.Context(), owner, one.ID, erase))
	}
	same(t, "the trash after erasing", []trash.Item{}, wholeTrash(t, c, owner))
	same(t, "the count of the project, which stays", 0, projectOf(t, c, r).Reports)
}

func reportWithProject(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b, alone := newReport(t, c, owner, "https://example.com/a", 0), newReport(t, c, owner, "https://example.com/b", 1), newReport(t, c, owner, "https://example.com/c", 2)
	other := newReport(t, c, owner, "https://other.example", 3)
	ok(t, c.DeleteReport(t.Context(), owner, alone.ID, toTrash(4)))
	p := projectOf(t, c, a)
	deleteProject(t, c, p, 5)
	same(t, "the list", []seo.Report{other}, listReports(t, c, owner, seo.ReportFilter{}))
	same(t, "the trash", []trash.Item{projectItem(p, 5), reportItem(alone, 4)}, wholeTrash(t, c, owner))
	var back seo.Report
	wantNotFound(t, "restoring a report that went with its project", c.RestoreReport(t.Context(), owner, a.ID, &back, nil))
	wantNotPurged(t, c, owner, trash.Report, a.ID)

	var project seo.Project
	ok(t, c.RestoreProject(t.Context(), owner, p.ID, &project, newReceipt(owner, "restore")))
	same(t, "the restored project", p, project)
	same(t, "the list after that", []seo.Report{a, b, other}, listReports(t, c, owner, seo.ReportFilter{}))
	same(t, "the trash after that", []trash.Item{reportItem(alone, 4)}, wholeTrash(t, c, owner))
	ok(t, c.RestoreReport(t.Context(), owner, alone.ID, &back, nil))
	same(t, "the count of the project", 3, projectOf(t, c, a).Reports)
}

func reportProjectGone(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com/a", 0)
	ok(t, c.DeleteReport(t.Context(), owner, r.ID, toTrash(1)))
	p := must(c.Project(t.Context(), owner, seo.Ref{ID: r.ProjectID}))(t)
	deleteProject(t, c, p, 2)
	before := stateOf(t, c)
	var back seo.Report
	wantInvalid(t, "restoring a report whose project is in the trash", c.RestoreReport(t.Context(), owner, r.ID, &back, nil),
		"project", "is in the trash: restore it first")
	same(t, "the catalog after that", before, stateOf(t, c))
}

func reportPurge(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b, alone := newReport(t, c, owner, "https://example.com/a", 0), newReport(t, c, owner, "https://other.example/b", 1), newReport(t, c, owner, "https://other.example/c", 2)
	for range 3 {
		finishNext(t, c, seo.Outcome{Score: score(50)}, 10)
	}
	ok(t, c.DeleteReport(t.Context(), owner, a.ID, toTrash(20)))
	same(t, "what the purge returns", reportItem(a, 20), must(c.Purge(t.Context(), owner, trash.Report, a.ID, anyVersion))(t))
	wantNotPurged(t, c, owner, trash.Report, a.ID)
	ok(t, c.DeleteReport(t.Context(), owner, alone.ID, toTrash(21)))
	deleteProject(t, c, projectOf(t, c, b), 22)
	same(t, "how many are purged", 1, must(c.PurgeOlder(t.Context(), at(22), 100))(t))
	same(t, "how many are purged then", 1, must(c.PurgeOlder(t.Context(), at(23), 100))(t))
	same(t, "the trash after that", []trash.Item{}, wholeTrash(t, c, owner))
	same(t, "the reports after that", []seo.Report{}, listReports(t, c, owner, seo.ReportFilter{}))
	for erased := 1; erased > 0; {
		erased = must(c.EraseLeftovers(t.Context(), 1))(t)
	}
	newReport(t, c, owner, "https://example.com/a", 30)
}

func reportCounters(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	a, b := newReport(t, c, owner, "https://example.com/a", 0), newReport(t, c, owner, "https://example.com/b", 1)
	wantProject := func(what string, reports int, score *int, last time.Time, updated int) {
		t.Helper()
		p := projectOf(t, c, a)
		same(t, what, []any{reports, score, last, at(updated)}, []any{p.Reports, p.Score, p.LastReportAt, p.UpdatedAt})
	}
	again := func(r seo.Report, seconds int) {
		must(c.UpdateReport(t.Context(), owner, r.ID, func(r *seo.Report) error {
			return r.Edit(at(seconds), func(r *seo.Report) error { r.Again(at(seconds)); return nil })
		}))(t)
	}
	wantProject("before any audit", 2, nil, time.Time{}, 1)
	finishNext(t, c, seo.Outcome{Score: score(60)}, 20)
	wantProject("after the first", 2, score(60), at(20), 20)
	finishNext(t, c, seo.Outcome{Score: score(0)}, 30)
	wantProject("after the second", 2, score(0), at(30), 30)
	again(a, 31)
	wantProject("while the first runs again", 2, score(0), at(30), 30)
	finishNext(t, c, seo.Outcome{Score: score(90)}, 40)
	wantProject("after it ran again", 2, score(90), at(40), 40)
	ok(t, c.DeleteReport(t.Context(), owner, a.ID, toTrash(50)))
	b = readReport(t, c, b)
	p := projectOf(t, c, b)
	same(t, "without the newest", []any{1, score(0), at(30), at(50)}, []any{p.Reports, p.Score, p.LastReportAt, p.UpdatedAt})
	var back seo.Report
	ok(t, c.RestoreReport(t.Context(), owner, a.ID, &back, nil))
	wantProject("with the newest again", 2, score(90), at(40), 50)
	again(a, 60)
	finishNext(t, c, seo.Outcome{Failure: "The site does not answer."}, 70)
	wantProject("after one without a score", 2, score(0), at(30), 70)
}
