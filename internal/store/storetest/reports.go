package storetest

import (
	"errors"
	"testing"

	"sightline/internal/access"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/trash"
)

var reportContracts = []contract{
	{"a report is read as it was created", reportReads},
	{"makes the project of its host, or joins it", reportProject},
	{"joins one project from many calls at once", reportProjectRace},
	{"a project in the trash stays there", reportProjectTrash},
	{"is created, stopped and restored once for a receipt", reportReceipt},
	{"keeps what its owner may change", reportUpdate},
	{"is listed, searched, filtered, sorted and paged", reportLists},
	{"waits only so long a queue", reportQueueLimit},
	{"a deleted report is seen by nobody and comes back", reportTrash},
	{"goes with its project and comes back with it", reportWithProject},
	{"does not come back without its project", reportProjectGone},
	{"is purged by itself and with its project", reportPurge},
	{"a project follows its newest report with a score", reportCounters},
	{"what another account owns is not found", reportIsolation},
}

// allKinds are all the kinds of records that can be in the trash.
var allKinds = []trash.Object{trash.Website, trash.Project, trash.Report}

// newReport stores a report that was created some seconds after the beginning.
func newReport(t *testing.T, c store.Catalog, owner int64, url string, seconds int) seo.Report {
	t.Helper()
	r := seo.NewReport(owner, at(seconds))
	ok(t, r.SetURL(url))
	ok(t, r.Check())
	ok(t, c.CreateReport(t.Context(), &r, nil))
	return r
}

// fullReport is a report with something in each field that callers fill.
func fullReport(t *testing.T, owner int64) seo.Report {
	t.Helper()
	r := seo.NewReport(owner, at(3))
	ok(t, r.SetURL("https://www.München.de:8443/"+awkwardPath))
	r.SetScope(seo.ScopeSite)
	ok(t, r.SetSitemap("https://münchen.de/sitemap.xml"))
	r.MaxPages, r.MaxDepth, r.IgnoreRobots, r.Privacy, r.PasswordHash = 1234, 7, true, access.Password, "$argon2id$v=19$…"
	ok(t, r.Check())
	return r
}

// awkwardPath is the path of an address that an engine may stumble over.
const awkwardPath = `a'b"c\d%_e?q=100%25&x=<b>#日本語`

// readReport reads a report.
func readReport(t *testing.T, c store.Catalog, r seo.Report) seo.Report {
	t.Helper()
	return must(c.Report(t.Context(), r.AccountID, r.ID))(t)
}

// reportRequest asks for everything of a list of reports.
func reportRequest() listing.Request {
	return listing.Request{SearchBy: seo.SearchByURL, SortBy: seo.SortByID, Page: 1, PerPage: 100}
}

// listReports lists the reports of an account that a filter lets through.
func listReports(t *testing.T, c store.Catalog, owner int64, f seo.ReportFilter) []seo.Report {
	t.Helper()
	return whole(t, "reports", must(c.Reports(t.Context(), owner, f, reportRequest()))(t))
}

// projectOf reads the project of a report.
func projectOf(t *testing.T, c store.Catalog, r seo.Report) seo.Project {
	t.Helper()
	return must(c.Project(t.Context(), r.AccountID, seo.Ref{ID: r.ProjectID}))(t)
}

func reportReads(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	plain, full := newReport(t, c, owner, "https://example.com/", 0), fullReport(t, owner)
	ok(t, c.CreateReport(t.Context(), &full, nil))
	for _, want := range []seo.Report{plain, full} {
		same(t, "the report", want, readReport(t, c, want))
		run := seo.Run{Number: 1, State: seo.Queued, QueuedAt: want.QueuedAt}
		same(t, "its first run", run, must(c.ReportRun(t.Context(), owner, seo.RunRef{Report: want.ID}))(t))
	}
	if plain.ID == 0 || full.ID <= plain.ID || full.ProjectID <= plain.ProjectID || full.Project != "xn--mnchen-3ya.de:8443" {
		t.Errorf("the ids are %d and %d, in the projects %d and %d, %s", plain.ID, full.ID, plain.ProjectID, full.ProjectID, full.Project)
	}
	stranger := seo.NewReport(nowhere, at(0))
	ok(t, stranger.SetURL("https://example.com"))
	wantNotFound(t, "a report of an unknown account", c.CreateReport(t.Context(), &stranger, nil))
}

func reportProject(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	newReport(t, c, other, "https://example.com", 0)
	first := newReport(t, c, owner, "https://www.EXAMPLE.com/a", 1)
	want := seo.Project{ID: first.ProjectID, AccountID: owner, Name: "example.com", Reports: 1, Version: 1, CreatedAt: at(1), UpdatedAt: at(1)}
	same(t, "the project that it makes", want, projectOf(t, c, first))
	second := newReport(t, c, owner, "http://example.com/b", 2)
	want.Reports, want.Version, want.UpdatedAt = 2, 2, at(2)
	same(t, "the project that it joins", want, projectOf(t, c, second))
	made := newProject(t, c, owner, "other.example", 3)
	same(t, "the project of a host that has one", made.ID, newReport(t, c, owner, "https://other.example", 4).ProjectID)
	if apart := newReport(t, c, owner, "https://example.com:8443", 5); apart.ProjectID == first.ProjectID {
		t.Error("another port is in the same project")
	}
}

func reportProjectRace(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	allSucceed(t, 12, func(i int) error {
		r := seo.NewReport(owner, at(i))
		return errors.Join(r.SetURL(numbered("https://example.com/", i)), c.CreateReport(t.Context(), &r, nil))
	})
	page := must(c.Projects(t.Context(), owner, projectRequest()))(t)
	if len(page.Items) != 1 || page.Items[0].Reports != 12 || page.Items[0].Version != 12 {
		t.Errorf("the projects are %+v", page.Items)
	}
	same(t, "the number of reports", 12, len(listReports(t, c, owner, seo.ReportFilter{})))
}

func reportProjectTrash(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	gone := newReport(t, c, owner, "https://example.com", 0)
	deleteProject(t, c, projectOf(t, c, gone), 1)
	fresh := newReport(t, c, owner, "https://example.com", 2)
	if fresh.ProjectID == gone.ProjectID {
		t.Error("a report joins a project in the trash")
	}
	same(t, "the reports", []seo.Report{fresh}, listReports(t, c, owner, seo.ReportFilter{}))
}

func reportReceipt(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := seo.NewReport(owner, at(0))
	ok(t, r.SetURL("https://example.com"))
	ok(t, c.CreateReport(t.Context(), &r, newReceipt(owner, "create")))
	twin := r
	var used *receipt.Used
	if err := c.CreateReport(t.Context(), &twin, newReceipt(owner, "create")); !errors.As(err, &used) {
		t.Errorf("the same key again: %v", err)
	}
	same(t, "the reports", 1, len(listReports(t, c, owner, seo.ReportFilter{})))
	same(t, "the count of the project", 1, projectOf(t, c, r).Reports)
	ok(t, c.StopReport(t.Context(), owner, r.ID, at(1), &twin, newReceipt(owner, "stop")))
	r.State, r.Version, r.UpdatedAt = seo.Stopped, 2, at(1)
	same(t, "the stopped report", r, twin)
	same(t, "the report after that", r, readReport(t, c, r))
	if err := c.StopReport(t.Context(), owner, r.ID, at(2), &twin, newReceipt(owner, "stop")); !errors.As(err, &used) {
		t.Errorf("the same stop again: %v", err)
	}
	ok(t, c.DeleteReport(t.Context(), owner, r.ID, toTrash(1)))
	ok(t, c.RestoreReport(t.Context(), owner, r.ID, &twin, newReceipt(owner, "restore")))
	if err := c.RestoreReport(t.Context(), owner, r.ID, &twin, newReceipt(owner, "restore")); !errors.As(err, &used) {
		t.Errorf("the same restore again: %v", err)
	}
}

func reportUpdate(t *testing.T, c store.Catalog) {
	owner := newAccount(t, c, "ann").ID
	r := newReport(t, c, owner, "https://example.com", 0)
	want := r
	want.Privacy, want.PasswordHash, want.Version, want.UpdatedAt = access.Password, "hash", 2, at(5)
	update := func(edit func(*seo.Report) error) (seo.Report, error) {
		return c.UpdateReport(t.Context(), owner, r.ID, func(r *seo.Report) error { return r.Edit(at(5), edit) })
	}
	got := must(update(func(r *seo.Report) error { r.Privacy, r.PasswordHash = access.Password, "hash"; return nil }))(t)
	same(t, "the updated report", want, got)
	same(t, "the report read after that", want, readReport(t, c, r))
	same(t, "an update that changes nothing", want, must(update(func(*seo.Report) error { return nil }))(t))
	_, err := update(func(r *seo.Report) error { r.PasswordHash = ""; return nil })
	wantInvalid(t, "an update that breaks a rule", err, "password", "is required when privacy is 2")
	_, err = c.UpdateReport(t.Context(), owner, r.ID, func(r *seo.Report) error { r.Version = 9; return errRefused })
	if !errors.Is(err, errRefused) {
		t.Errorf("the error of an edit becomes %v", err)
	}
	must(c.UpdateReport(t.Context(), owner, r.ID, func(r *seo.Report) error {
		r.ID, r.AccountID, r.ProjectID, r.URL, r.Score, r.GeneratedAt = 7, 7, 7, "x", score(1), at(9)
		return nil
	}))(t)
	same(t, "the report after all that", want, readReport(t, c, r))
}

func reportQueueLimit(t *testing.T, c store.Catalog) {
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	r := seo.NewReport(owner, at(0))
	ok(t, r.SetURL("https://example.com"))
	const workers = 40
	allSucceed(t, workers, func(int) error {
		one := r
		for range seo.MaxWaiting / workers {
			if err := c.CreateReport(t.Context(), &one, nil); err != nil {
				return err
			}
		}
		return nil
	})
	last := must(c.Reports(t.Context(), owner, seo.ReportFilter{}, reportRequest()))(t).Items[0].ID
	full := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, seo.ErrTooMany) {
			t.Errorf("%s: %v", what, err)
		}
	}
	full("one report more", c.CreateReport(t.Context(), &r, nil))
	stop := func(r *seo.Report) error { return r.Edit(at(1), func(r *seo.Report) error { r.Stop(); return nil }) }
	again := func(r *seo.Report) error {
		return r.Edit(at(1), func(r *seo.Report) error { r.Again(at(1)); return nil })
	}
	must(c.UpdateReport(t.Context(), owner, last, stop))(t)
	r.ID = 0
	ok(t, c.CreateReport(t.Context(), &r, nil))
	_, err := c.UpdateReport(t.Context(), owner, last, again)
	full("another run", err)
	same(t, "the report that could not run again", seo.Stopped, must(c.Report(t.Context(), owner, last))(t).State)
	same(t, "the number of reports", seo.MaxWaiting+1, must(c.Reports(t.Context(), owner, seo.ReportFilter{}, reportRequest()))(t).Total)
	newReport(t, c, other, "https://example.com", 0)
}

func reportIsolation(t *testing.T, c store.Catalog) {
	f, ctx := fill(t, c, "ann"), t.Context()
	all := strangers(t, c)
	before := stateOf(t, c)
	ref := seo.RunRef{Report: f.report.ID}
	for _, stranger := range all {
		var r seo.Report
		for what, err := range map[string]error{
			"Report":         second(c.Report(ctx, stranger, f.report.ID)),
			"UpdateReport":   second(c.UpdateReport(ctx, stranger, f.report.ID, func(*seo.Report) error { t.Error("a stranger sees it"); return nil })),
			"StopReport":     c.StopReport(ctx, stranger, f.report.ID, at(1), &r, nil),
			"DeleteReport":   c.DeleteReport(ctx, stranger, f.report.ID, erase),
			"RestoreReport":  c.RestoreReport(ctx, stranger, f.deletedReport.ID, &r, nil),
			"Purge":          second(c.Purge(ctx, stranger, trash.Report, f.deletedReport.ID, anyVersion)),
			"ReportRuns":     second(c.ReportRuns(ctx, stranger, f.report.ID, pageRequest())),
			"ReportRun":      second(c.ReportRun(ctx, stranger, ref)),
			"ReportPages":    second(c.ReportPages(ctx, stranger, ref, seo.PageFilter{}, pagesRequest())),
			"ReportFindings": second(c.ReportFindings(ctx, stranger, ref, seo.FindingFilter{}, pageRequest())),
			"EachPage":       c.EachPage(ctx, stranger, ref, func(seo.PageResult) error { return nil }),
			"EachFinding":    c.EachFinding(ctx, stranger, ref, seo.FindingFilter{}, func(seo.Finding) error { return nil }),
			"CompareRuns":    second(c.CompareRuns(ctx, stranger, f.report.ID, 1, 1)),
		} {
			wantNotFound(t, what, err)
		}
		same(t, "the list of a stranger", 0, len(listReports(t, c, stranger, seo.ReportFilter{})))
		same(t, "the list of a stranger, by project", 0, len(listReports(t, c, stranger, seo.ReportFilter{Project: seo.Ref{ID: f.report.ProjectID}})))
	}
	same(t, "the catalog after the calls of strangers", before, stateOf(t, c))
}

// second is the error of a call that answers more.
func second[T any](_ T, err error) error { return err }
