package audit_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/account"
	"sightline/internal/audit"
	"sightline/internal/check/checktest"
	"sightline/internal/crawl"
	"sightline/internal/crawl/frontiertest"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/trash"
)

// each runs a test on every engine that users can choose, with an account.
func each(t *testing.T, test func(t *testing.T, catalog store.Catalog, account int64)) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" }, "postgres": pgtest.URL} {
		t.Run(name, func(t *testing.T) {
			catalog, err := store.Open(t.Context(), database(t), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { catalog.Close() })
			owner := account.New("owner@example.com", time.Now())
			if err := catalog.CreateAccount(t.Context(), &owner); err != nil {
				t.Fatal(err)
			}
			test(t, catalog, owner.ID)
		})
	}
}

// create stores a report of a whole site.
func create(t *testing.T, catalog store.Catalog, account int64, url string) seo.Report {
	t.Helper()
	r := report(t, url, seo.ScopeSite)
	r.AccountID = account
	if err := catalog.CreateReport(t.Context(), &r, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// start runs a queue until the function that it returns is called.
func start(t *testing.T, catalog store.Catalog, s *stage) (end func()) {
	auditor := audit.New(crawl.New(s, fast), time.Now)
	queue := audit.NewQueue(auditor, catalog, 2, time.Now, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		queue.Run(ctx)
	}()
	end = func() {
		cancel()
		<-ended
	}
	t.Cleanup(end)
	return end
}

// await waits until a report is as it should be.
func await(t *testing.T, catalog store.Catalog, r seo.Report, right func(seo.Report) bool) seo.Report {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		now, err := catalog.Report(t.Context(), r.AccountID, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if right(now) {
			return now
		}
	}
	t.Fatal("the report does not come to be as it should")
	return r
}

func ended(r seo.Report) bool { return r.State.Ended() }

// stored lists the pages of each check in the newest run of a report.
func stored(t *testing.T, catalog store.Catalog, r seo.Report) map[string][]string {
	t.Helper()
	pages := map[string][]string{}
	err := catalog.EachFinding(t.Context(), r.AccountID, seo.RunRef{Report: r.ID}, seo.FindingFilter{}, func(f seo.Finding) error {
		pages[f.Check] = append(pages[f.Check], f.Page)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestQueue demands that the planted sites come out of the stores exactly as they were planted, twice.
func TestQueue(t *testing.T) {
	each(t, func(t *testing.T, catalog store.Catalog, account int64) {
		site := checktest.Sites()[0]
		s := newStage(t, site, site.Hosts()...)
		start(t, catalog, s)
		r := await(t, catalog, create(t, catalog, account, site.Start), ended)
		if diff := cmp.Diff(site.Plants, stored(t, catalog, r)); diff != "" || r.State != seo.Done || r.Score == nil || r.Failure != "" {
			t.Errorf("%+v\n%s", r, diff)
		}
		if _, err := catalog.UpdateReport(t.Context(), account, r.ID, func(r *seo.Report) error { r.Again(time.Now()); return nil }); err != nil {
			t.Fatal(err)
		}
		again := await(t, catalog, r, func(r seo.Report) bool { return r.Run == 2 && ended(r) })
		if diff := cmp.Diff(site.Plants, stored(t, catalog, again)); diff != "" || *again.Score != *r.Score {
			t.Errorf("the second run: %+v\n%s", again, diff)
		}
		project, err := catalog.Project(t.Context(), account, seo.Ref{Name: "shop.example"})
		if err != nil || project.Score == nil || *project.Score != *r.Score || project.Reports != 1 {
			t.Errorf("%+v %v", project, err)
		}
	})
}

// TestResume ends servers again and again, and demands that their audit goes on and comes to the same.
func TestResume(t *testing.T) {
	each(t, func(t *testing.T, catalog store.Catalog, account int64) {
		site := checktest.Sites()[0]
		var asked atomic.Int32
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1); r.Method == http.MethodGet {
				time.Sleep(2 * time.Millisecond)
			}
			site.ServeHTTP(w, r)
		})
		s := newStage(t, slow, site.Hosts()...)
		r := create(t, catalog, account, site.Start)
		known := map[string]bool{} // pages that need not be asked for again
		for i := range 4 {
			before := asked.Load()
			end := start(t, catalog, s)
			await(t, catalog, r, func(r seo.Report) bool { return asked.Load() > before+20 || ended(r) })
			end()
			now, err := catalog.Report(t.Context(), account, r.ID)
			if err != nil || now.State != seo.Running && i == 0 {
				t.Fatalf("%+v %v", now, err)
			}
			for _, v := range s.visits()[before:] {
				if known[v.url] {
					t.Errorf("%s was asked for again", v.url)
				}
			}
			note(t, catalog, r, known)
		}
		if len(known) < 10 {
			t.Errorf("only %d pages were kept", len(known))
		}
		start(t, catalog, s)
		r = await(t, catalog, r, ended)
		if diff := cmp.Diff(site.Plants, stored(t, catalog, r)); diff != "" || r.State != seo.Done {
			t.Errorf("%s\n%s", r.State, diff)
		}
	})
}

// note takes down the pages that are stored, but for the start, to which redirects lead.
func note(t *testing.T, catalog store.Catalog, r seo.Report, known map[string]bool) {
	t.Helper()
	err := catalog.EachPage(t.Context(), r.AccountID, seo.RunRef{Report: r.ID}, func(p seo.PageResult) error {
		known[p.URL] = p.FoundFrom != "" && p.OK()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecrawl demands that a second audit asks only for what has changed, and comes to the same.
func TestRecrawl(t *testing.T) {
	each(t, func(t *testing.T, catalog store.Catalog, account int64) {
		var whole, unchanged atomic.Int32
		site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" && r.URL.Path != "/a" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("ETag", `"v1"`)
			if r.Header.Get("If-None-Match") == `"v1"` {
				unchanged.Add(1)
				w.WriteHeader(http.StatusNotModified)
				return
			}
			whole.Add(1)
			fmt.Fprint(w, good("https://one.example"+r.URL.Path, "/a", "/lost"))
		})
		start(t, catalog, newStage(t, site, "one.example"))
		first := await(t, catalog, create(t, catalog, account, "https://one.example/"), ended)
		found, asked := stored(t, catalog, first), whole.Load()
		if _, err := catalog.UpdateReport(t.Context(), account, first.ID, func(r *seo.Report) error { r.Again(time.Now()); return nil }); err != nil {
			t.Fatal(err)
		}
		second := await(t, catalog, first, func(r seo.Report) bool { return r.Run == 2 && ended(r) })
		if diff := cmp.Diff(found, stored(t, catalog, second)); diff != "" || *second.Score != *first.Score || second.Pages != first.Pages {
			t.Errorf("%+v\n%s", second, diff)
		}
		if unchanged.Load() != 2 || whole.Load()-asked > 1 { // the site over http is looked at as a whole
			t.Errorf("%d pages came again, %d did not", whole.Load()-asked, unchanged.Load())
		}
	})
}

// TestStopAsked demands that an owner can stop an audit, and sees what it has found so far.
func TestStopAsked(t *testing.T) {
	each(t, func(t *testing.T, catalog store.Catalog, account int64) {
		endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Millisecond)
			fmt.Fprint(w, good("https://one.example"+r.URL.Path, r.URL.Path+"x"))
		})
		s := newStage(t, endless, "one.example")
		start(t, catalog, s)
		r := create(t, catalog, account, "https://one.example/")
		await(t, catalog, r, func(r seo.Report) bool { return r.Progress.Done > 2 })
		if _, err := catalog.UpdateReport(t.Context(), account, r.ID, func(r *seo.Report) error { r.Stop(); return nil }); err != nil {
			t.Fatal(err)
		}
		r = await(t, catalog, r, ended)
		if r.State != seo.Stopped || r.Score == nil || r.Pages < 2 || r.StoppedBy != "canceled" {
			t.Errorf("%+v", r)
		}
	})
}

// TestDeleted demands that an audit whose report is deleted ends.
func TestDeleted(t *testing.T) {
	each(t, func(t *testing.T, catalog store.Catalog, account int64) {
		gone := make(chan struct{})
		holding := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				select {
				case <-gone:
				case <-r.Context().Done():
				}
			}
		})
		s := newStage(t, holding, "one.example")
		end := start(t, catalog, s)
		r := create(t, catalog, account, "https://one.example/")
		await(t, catalog, r, func(r seo.Report) bool { return r.State == seo.Running && len(s.visits()) > 1 })
		if err := catalog.DeleteReport(t.Context(), account, r.ID, trash.Deletion{At: time.Now().UTC().Truncate(time.Second)}); err != nil {
			t.Fatal(err)
		}
		close(gone)
		end()
	})
}

// frontier is a store as a crawl sees it.
type frontier struct{ audit.Store }

func (f frontier) Save(ctx context.Context, s crawl.Step) (crawl.Totals, error) {
	return f.Store.Save(ctx, s, audit.Learned{})
}

func TestFrontier(t *testing.T) {
	t.Run("scratch", func(t *testing.T) {
		frontiertest.Run(t, func(*testing.T) crawl.Frontier { return frontier{audit.NewScratch()} })
	})
	each(t, func(t *testing.T, catalog store.Catalog, account int64) {
		frontiertest.Run(t, func(t *testing.T) crawl.Frontier {
			create(t, catalog, account, "https://site.example/")
			job, err := catalog.ClaimAudit(t.Context(), "somebody", time.Now(), time.Now().Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return frontier{audit.Leased(catalog, job.Lease)}
		})
	})
}
