package storetest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"sightline/internal/access"
	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/store/archive"
	"sightline/internal/trash"
)

// RunCopies holds two engines to what moving a catalog from one to the other promises. Each function returns a fresh,
// empty catalog.
func RunCopies(t *testing.T, source, target func(t *testing.T) store.Installation) {
	direct := func(_ *testing.T, c store.Installation) iter.Seq2[archive.Row, error] {
		return c.Dump(context.Background())
	}
	for _, way := range []struct {
		name string
		rows func(*testing.T, store.Installation) iter.Seq2[archive.Row, error]
	}{{"directly", direct}, {"through a file", throughFile}} {
		t.Run(way.name, func(t *testing.T) {
			from, to := source(t), target(t)
			owner := fillAll(t, from)
			ok(t, to.Restore(t.Context(), way.rows(t, from)))
			wantCopy(t, from, to)
			wantSameAnswers(t, from, to, owner)
			wantSameReports(t, from, to, owner)
			wantNextIDs(t, from, to, owner)
		})
	}
	t.Run("an empty catalog", func(t *testing.T) {
		from, to := source(t), target(t)
		ok(t, to.Restore(t.Context(), from.Dump(t.Context())))
		wantCopy(t, from, to)
		same(t, "the first id", int64(1), newAccount(t, to, "ann").ID)
	})
	t.Run("a target with data is left alone", func(t *testing.T) {
		from, to := source(t), target(t)
		fillAll(t, from)
		newAccount(t, to, "other")
		before := stateOf(t, to)
		if err := to.Restore(t.Context(), from.Dump(t.Context())); !errors.Is(err, archive.ErrNotEmpty) {
			t.Errorf("a target with data answers %v", err)
		}
		same(t, "the target", before, stateOf(t, to))
	})
	t.Run("all or nothing", func(t *testing.T) { breakOff(t, source(t), target(t)) })
}

// throughFile takes the rows of a catalog out of a file that they were written into.
func throughFile(t *testing.T, c store.Installation) iter.Seq2[archive.Row, error] {
	var file bytes.Buffer
	counts := must(archive.Write(&file, archive.Header{Version: "test", Engine: "test", Time: at(0)}, c.Dump(t.Context())))(t)
	_, verified, err := archive.Verify(t.Context(), bytes.NewReader(file.Bytes()))
	ok(t, err)
	same(t, "the counts of the file", counts, verified)
	return must(archive.NewReader(&file))(t).Rows()
}

// breakOff copies rows that end in an error, after each number of them, and then copies them all.
func breakOff(t *testing.T, from, to store.Installation) {
	fillAll(t, from)
	rows := rowsOf(t, from)
	broken := errors.New("broken")
	for n := range rows {
		err := to.Restore(t.Context(), func(yield func(archive.Row, error) bool) {
			for _, row := range rows[:n] {
				if !yield(row, nil) {
					return
				}
			}
			yield(archive.Row{}, broken)
		})
		if !errors.Is(err, broken) {
			t.Fatalf("after %d rows: %v", n, err)
		}
		if counts := must(to.Counts(t.Context()))(t); counts.Sum() != 0 {
			t.Fatalf("after %d rows and an error these are stored: %v", n, counts)
		}
	}
	ok(t, to.Restore(t.Context(), from.Dump(t.Context())))
	wantCopy(t, from, to)
}

// rowsOf reads a whole catalog.
func rowsOf(t *testing.T, c store.Installation) []archive.Row {
	t.Helper()
	var rows []archive.Row
	for row, err := range c.Dump(t.Context()) {
		ok(t, err)
		rows = append(rows, row)
	}
	return rows
}

// fillAll gives a catalog some of everything, and returns the account that has it.
func fillAll(t *testing.T, c store.Installation) int64 {
	t.Helper()
	ctx := t.Context()
	owner, other := newAccount(t, c, "ann").ID, newAccount(t, c, "bob").ID
	used, revoked := newKey(t, c, owner, "used"), newKey(t, c, other, "revoked")
	ends := account.Key{AccountID: owner, Name: awkward, Hash: account.HashSecret("ends"), Scopes: account.Scopes{account.SEORead}, CreatedAt: at(1), ExpiresAt: at(9)}
	ok(t, c.CreateKey(ctx, &ends, nil))
	ok(t, c.TouchKeys(ctx, map[int64]time.Time{used.ID: at(5)}))
	ok(t, c.RevokeKey(ctx, other, revoked.ID, at(6)))
	for i := range 25 {
		newWebsite(t, c, owner, "https://"+numbered("site", i)+".example/"+numbered("path", i%3), i)
		newProject(t, c, owner, numbered("project", i), i)
	}
	newWebsite(t, c, other, "https://bücher.example", 1)
	last := newWebsite(t, c, owner, "https://last.example", 1)
	must(c.UpdateWebsite(ctx, owner, 3, func(w *analytics.Website) error {
		w.Privacy, w.PasswordHash, w.Email, w.ExcludeBots = access.Password, "$argon2id$…", true, false
		w.ExcludeParams, w.ExcludeIPs, w.Version = awkward, "192.0.2.1\n10.0.0.*", 2
		return nil
	}))(t)
	score, scored := 77, seo.NewProject(other, at(2))
	ok(t, scored.SetName("Größe 日本"))
	scored.Score, scored.Reports, scored.LastReportAt = &score, 3, at(8)
	r := sealedReceipt(owner, "full", map[string]string{"Location": "/x", "ETag": `"1"`, "A": awkward}, []byte(`{"data":null}`))
	ok(t, c.CreateProject(ctx, &scored, r))
	lastProject := newProject(t, c, owner, "last", 3)

	ok(t, c.DeleteWebsite(ctx, owner, 5, trash.Deletion{At: at(20)}))
	ok(t, c.DeleteWebsite(ctx, owner, 6, trash.Deletion{}))
	ok(t, c.DeleteWebsite(ctx, owner, last.ID, trash.Deletion{}))
	must(c.DeleteProject(ctx, owner, seo.Ref{Name: "project-7"}, trash.Deletion{At: at(21)}))(t)
	must(c.DeleteProject(ctx, owner, seo.Ref{ID: lastProject.ID}, trash.Deletion{}))(t)
	again := newWebsite(t, c, owner, "https://again.example", 2)
	ok(t, c.RestoreWebsite(ctx, owner, 5, &again, sealedReceipt(owner, "bare", nil, nil)))
	ok(t, c.DeleteWebsite(ctx, owner, 8, trash.Deletion{At: at(22)}))
	must(c.TakeTurn(ctx, "job", at(30).Add(123456*time.Microsecond), time.Hour))(t)
	fillReports(t, c, owner)
	return owner
}

// fillReports gives an account reports in every state: done, erased, deleted alone and with its project, under way, waiting.
func fillReports(t *testing.T, c store.Installation, owner int64) {
	t.Helper()
	done, erased := newReport(t, c, owner, "https://bücher.example/done", 1), newReport(t, c, owner, "https://other.example/erased", 2)
	for range 2 {
		job := claim(t, c, 3)
		must(c.SaveAudit(t.Context(), job.Lease, crawledSite(2)))(t)
		rating := seo.Rating{URL: "https://example.com/001", Score: seo.PageScore{Passed: 3, Applicable: 4, Counted: true, Value: 75}}
		must(c.SaveAudit(t.Context(), job.Lease, seo.Step{Ratings: []seo.Rating{rating}}))(t)
		ok(t, c.FinishAudit(t.Context(), job.Lease, seo.Done, someOutcome(), at(4)))
	}
	ok(t, c.DeleteReport(t.Context(), owner, erased.ID, erase))
	ok(t, c.DeleteReport(t.Context(), owner, newReport(t, c, owner, "https://other.example/alone", 5).ID, toTrash(6)))
	with := newReport(t, c, owner, "https://gone.example", 7)
	deleteProject(t, c, projectOf(t, c, with), 8)
	must(c.UpdateReport(t.Context(), owner, done.ID, func(r *seo.Report) error {
		return r.Edit(at(9), func(r *seo.Report) error { r.Again(at(9)); return nil })
	}))(t)
	job := claim(t, c, 10)
	must(c.SaveAudit(t.Context(), job.Lease, crawledSite(1)))(t)
	full := fullReport(t, owner)
	ok(t, c.CreateReport(t.Context(), &full, nil))
	ok(t, c.DeleteReport(t.Context(), owner, newReport(t, c, owner, "https://other.example/last", 11).ID, erase))
}

// wantSameReports demands that what audits found is the same, and that they go on where they were.
func wantSameReports(t *testing.T, from, to store.Installation, owner int64) {
	t.Helper()
	r := reportRequest()
	r.Search = "BÜCHER"
	page := must(from.Reports(t.Context(), owner, seo.ReportFilter{}, r))(t)
	same(t, "the reports", page, must(to.Reports(t.Context(), owner, seo.ReportFilter{}, r))(t))
	ref := seo.RunRef{Report: page.Items[0].ID, Number: 1}
	want, got := findingsOf(t, from, owner, ref), findingsOf(t, to, owner, ref)
	same(t, "the findings", want, got)
	var jobs [2]seo.Job
	var items [2][]seo.Item
	for i, c := range []store.Installation{from, to} {
		claim(t, c, 20)           // the one that waits
		jobs[i] = claim(t, c, 21) // the one whose lease has ended
		items[i] = must(c.WaitingItems(t.Context(), jobs[i].Lease, false, 10))(t)
	}
	same(t, "the run that goes on", jobs[0], jobs[1])
	same(t, "what it has to do", items[0], items[1])
	if len(want) == 0 || len(items[0]) == 0 || jobs[0].Site == nil {
		t.Errorf("there is nothing to compare: %d findings, %d addresses", len(want), len(items[0]))
	}
}

// sealedReceipt is a receipt that is complete beforehand.
func sealedReceipt(owner int64, key string, header map[string]string, answer []byte) *receipt.Receipt {
	return &receipt.Receipt{AccountID: owner, Operation: "POST /api/v1/projects", Key: key, Request: [32]byte{1, 2, 255}, CreatedAt: at(4),
		Status: 201, Header: header, Answer: answer}
}

// wantCopy demands that a catalog reads like another, row by row and list by list.
func wantCopy(t *testing.T, from, to store.Installation) {
	t.Helper()
	want, got := rowsOf(t, from), rowsOf(t, to)
	if len(want) != len(got) {
		t.Fatalf("%d rows became %d", len(want), len(got))
	}
	for i := range want {
		same(t, "a row of "+want[i].Table.Name, want[i].Values, got[i].Values)
	}
	same(t, "the counts", must(from.Counts(t.Context()))(t), must(to.Counts(t.Context()))(t))
	same(t, "what can be listed", stateOf(t, from), stateOf(t, to))
}

// wantSameAnswers demands that what is not in the lists is the same too.
func wantSameAnswers(t *testing.T, from, to store.Installation, owner int64) {
	t.Helper()
	ctx := t.Context()
	for _, secret := range []string{"used", "revoked", "ends"} {
		hash := account.HashSecret(secret)
		same(t, "key "+secret, must(from.KeyByHash(ctx, hash))(t), must(to.KeyByHash(ctx, hash))(t))
	}
	for _, key := range []string{"full", "bare"} {
		const operation = "POST /api/v1/projects"
		same(t, "receipt "+key, must(from.Receipt(ctx, owner, operation, key))(t), must(to.Receipt(ctx, owner, operation, key))(t))
	}
	first := listing.Request{Page: 1, PerPage: 10, SortBy: analytics.SortByURL, SearchBy: analytics.SearchByURL}
	for _, search := range []string{"", "SITE-1", "path-2"} {
		r := first
		r.Search = search
		same(t, "websites with "+search, must(from.Websites(ctx, owner, r))(t), must(to.Websites(ctx, owner, r))(t))
	}
	r := listing.Request{Page: 2, PerPage: 10, SortBy: seo.SortByProject, SearchBy: "project", Desc: true, Search: "PROJECT"}
	same(t, "projects", must(from.Projects(ctx, owner, r))(t), must(to.Projects(ctx, owner, r))(t))
	for _, c := range []store.Installation{from, to} {
		if must(c.TakeTurn(ctx, "job", at(30).Add(time.Minute), time.Hour))(t) {
			t.Error("a job that was run is run again too early")
		}
	}
}

// wantNextIDs demands that no id is handed out again, and that the kept totals go on.
func wantNextIDs(t *testing.T, from, to store.Installation, owner int64) {
	t.Helper()
	var ids [2][]int64
	for i, c := range []store.Installation{from, to} {
		ids[i] = []int64{
			newAccount(t, c, "next").ID, newKey(t, c, owner, "next").ID,
			newWebsite(t, c, owner, "https://next.example", 1).ID, newProject(t, c, owner, "next", 1).ID,
			newReport(t, c, owner, "https://next.example", 30).ID,
		}
		ok(t, c.DeleteWebsite(t.Context(), owner, 1, trash.Deletion{}))
	}
	if !slices.Equal(ids[0], ids[1]) {
		t.Errorf("the next ids are %v, want %v", ids[1], ids[0])
	}
	wantTotalsOf(t, from, to, owner)
}

// wantTotalsOf demands the same totals where they are kept and not counted.
func wantTotalsOf(t *testing.T, from, to store.Installation, owner int64) {
	t.Helper()
	r := listing.Request{Page: 1, PerPage: 1, SortBy: analytics.SortByCreated}
	want, got := must(from.Websites(t.Context(), owner, r))(t), must(to.Websites(t.Context(), owner, r))(t)
	same(t, "the total of websites", want.Total, got.Total)
	wantProjects, gotProjects := must(from.Projects(t.Context(), owner, r))(t), must(to.Projects(t.Context(), owner, r))(t)
	same(t, "the total of projects", wantProjects.Total, gotProjects.Total)
	wantReports, gotReports := must(from.Reports(t.Context(), owner, seo.ReportFilter{}, reportRequest()))(t), must(to.Reports(t.Context(), owner, seo.ReportFilter{}, reportRequest()))(t)
	same(t, "the reports", wantReports, gotReports)
}
