package seoapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"sightline/internal/fault"
	"sightline/internal/seo"
	"sightline/internal/trash"
	"sightline/internal/web/apikit"
)

const (
	maxWait    = 30                     // seconds that a caller may wait for an audit to end
	waitTime   = 45 * time.Second       // for such a request as a whole
	waitPause  = 250 * time.Millisecond // between two looks at a report
	exportTime = 10 * time.Minute       // to write out a report of any size to a slow caller
)

// reportFields are the fields of a new report, changeFields those that can be changed.
var (
	reportFields = []string{"url", "scope", "max_pages", "max_depth", "sitemap", "ignore_robots", "privacy", "password"}
	changeFields = []string{"privacy", "password", "results"}
)

// reportRoutes lists the operations on reports.
func (a *API) reportRoutes() []apikit.Route {
	pagesQuery := append([]string{"class", "run"}, apikit.ListQuery...)
	findingsQuery := []string{"check", "severity", "url", "run", "per_page", "page"}
	return []apikit.Route{
		{Method: "GET", Path: "/api/v1/reports", Scopes: read, Query: append([]string{"project", "result"}, apikit.ListQuery...), Serve: a.listReports},
		{Method: "POST", Path: "/api/v1/reports", Scopes: write, Query: []string{"wait"}, Body: reportFields, Time: waitTime, Serve: a.createReport},
		{Method: "GET", Path: "/api/v1/reports/{id}", Scopes: read, Query: []string{"wait"}, Time: waitTime, Serve: a.readReport},
		{Method: "PUT", Path: "/api/v1/reports/{id}", Scopes: write, Body: changeFields, Serve: a.updateReport},
		{Method: "PATCH", Path: "/api/v1/reports/{id}", Scopes: write, Body: changeFields, Serve: a.updateReport},
		{Method: "DELETE", Path: "/api/v1/reports/{id}", Scopes: write, Serve: a.deleteReport},
		{Method: "POST", Path: "/api/v1/reports/{id}/stop", Scopes: write, Serve: a.stopReport},
		{Method: "GET", Path: "/api/v1/reports/{id}/pages", Scopes: read, Query: pagesQuery, Serve: a.listPages},
		{Method: "GET", Path: "/api/v1/reports/{id}/findings", Scopes: read, Query: findingsQuery, Serve: a.listFindings},
		{Method: "GET", Path: "/api/v1/reports/{id}/export", Scopes: read, Query: []string{"format", "run"}, File: true, Time: exportTime, Serve: a.export},
		{Method: "GET", Path: "/api/v1/reports/{id}/runs", Scopes: read, Query: []string{"per_page", "page"}, Serve: a.listRuns},
		{Method: "GET", Path: "/api/v1/reports/{id}/runs/{from}/compare/{to}", Scopes: read, Serve: a.compare},
		{Method: "POST", Path: "/api/v1/trash/report/{id}/restore", Scopes: write, Serve: a.restoreReport},
		{Method: "DELETE", Path: "/api/v1/trash/report/{id}", Scopes: write, Serve: a.purgeReport},
	}
}

var reportList = apikit.List{
	SearchBy:     []string{seo.SearchByURL},
	SortBy:       []string{seo.SortByID, seo.SortByGenerated, seo.SortByURL, seo.SortByScore},
	Desc:         true,
	PerPage:      []int{10, 25, 50, 100},
	PerPageWords: "must be one of 10, 25, 50, 100",
}

func (a *API) listReports(w http.ResponseWriter, r *http.Request) error {
	query := apikit.CallOf(r).Query
	var filter seo.ReportFilter
	nobodys := false
	if name := query.Text("project"); name != "" {
		var err error
		filter.Project, err = seo.ParseRef(name)
		nobodys = err != nil
	}
	if result, sent := query.Choice("result", []string{"good", "decent", "bad"}, "must be one of good, decent, bad"); sent {
		filter.Result = result
	}
	request, err := reportList.Request(r)
	if err != nil {
		return err
	}
	if nobodys {
		query.Bad.Add("project", "must be the name or id of a project")
		return query.Bad
	}
	page, err := a.Reports.Reports(r.Context(), apikit.Account(r), filter, request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toReport)
}

// createReport answers at once, or when the audit is done if the caller waits for that.
func (a *API) createReport(w http.ResponseWriter, r *http.Request) error {
	report := seo.NewReport(apikit.Account(r), a.Now())
	wait, err := waitOf(r)
	if err != nil {
		return err
	}
	edit, err := newReport(r.Context(), apikit.CallOf(r).Body)
	if err != nil {
		return err
	}
	if err := report.Apply(edit); err != nil {
		return err
	}
	if err := a.checkOwner(r.Context(), report); err != nil {
		return err
	}
	answer := func() apikit.Answer {
		return apikit.Created(a.Base+"/api/v1/reports/"+strconv.FormatInt(report.ID, 10), tag(report), toReport(report))
	}
	if err := a.Reports.CreateReport(r.Context(), &report, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	a.Wake()
	if later, err := a.await(r.Context(), report, wait); err == nil {
		report = later // else it is there, and the caller should know
	}
	return answer().Write(w, r)
}

// checkOwner refuses to go past the robots.txt of a host that is not known to be the account's own: one that it counts visits of.
func (a *API) checkOwner(ctx context.Context, report seo.Report) error {
	if !report.IgnoreRobots {
		return nil
	}
	_, err := a.Websites.OldestWebsite(ctx, report.AccountID, report.Project)
	if errors.Is(err, fault.NotFound) {
		return fault.Field("ignore_robots", "is for your own sites: it needs a website of "+report.Project+" in your account")
	}
	return err
}

// waitOf is how long the caller wants to wait for an audit.
func waitOf(r *http.Request) (time.Duration, error) {
	query := apikit.CallOf(r).Query
	seconds, _ := query.Within("wait", 0, maxWait)
	return time.Duration(seconds) * time.Second, query.Bad.OrNil()
}

// await looks at a report until its audit is over, the time is up, or the server is about to stop.
func (a *API) await(ctx context.Context, report seo.Report, wait time.Duration) (seo.Report, error) {
	for until := time.Now().Add(wait); !report.State.Ended() && time.Now().Before(until) && !a.Ending(); {
		select {
		case <-time.After(waitPause):
		case <-ctx.Done():
			return report, ctx.Err()
		}
		var err error
		if report, err = a.Reports.Report(ctx, report.AccountID, report.ID); err != nil {
			return report, err
		}
	}
	return report, nil
}

func (a *API) findReport(r *http.Request) (seo.Report, error) {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return seo.Report{}, err
	}
	return a.Reports.Report(r.Context(), apikit.Account(r), id)
}

func (a *API) readReport(w http.ResponseWriter, r *http.Request) error {
	wait, err := waitOf(r)
	if err != nil {
		return err
	}
	report, err := a.findReport(r)
	if err != nil {
		return err
	}
	if report, err = a.await(r.Context(), report, wait); err != nil {
		return err
	}
	return foundReport(report).Write(w, r)
}

// foundReport is the answer that carries a report.
func foundReport(report seo.Report) apikit.Answer {
	return apikit.Record(http.StatusOK, tag(report), toReport(report))
}

// tag is the ETag of a report. While its audit runs it has none: its progress changes without its version.
func tag(report seo.Report) string {
	if report.State == seo.Running {
		return ""
	}
	return apikit.Tag(report.ID, report.Version)
}

// updateReport serves PUT and PATCH. Fields that are not sent keep their value.
func (a *API) updateReport(w http.ResponseWriter, r *http.Request) error {
	before, err := a.findReport(r)
	if err != nil {
		return err
	}
	if err := apikit.CheckMatch(r, apikit.Tag(before.ID, before.Version)); err != nil {
		return err
	}
	body := apikit.CallOf(r).Body
	open, err := apikit.Access(r.Context(), body, before.PasswordHash)
	if err != nil {
		return err
	}
	again, _ := body.Choice("results", []string{"0", "1"}, "must be 0 or 1")
	if again == "1" {
		if err := a.checkOwner(r.Context(), before); err != nil {
			return err
		}
	}
	change := func(report *seo.Report) error {
		if err := apikit.CheckMatch(r, apikit.Tag(report.ID, report.Version)); err != nil {
			return err
		}
		open(&report.Privacy, &report.PasswordHash)
		if again == "1" {
			report.Again(a.Now())
		}
		return body.Bad.OrNil()
	}
	report, err := a.Reports.UpdateReport(r.Context(), before.AccountID, before.ID, func(report *seo.Report) error {
		return report.Edit(a.Now(), change)
	})
	if err != nil {
		return err
	}
	a.Wake()
	return foundReport(report).Write(w, r)
}

// stopReport ends the audit of a report. One that is over stays as it is.
func (a *API) stopReport(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	var report seo.Report
	answer := func() apikit.Answer { return foundReport(report) }
	if err := a.Reports.StopReport(r.Context(), apikit.Account(r), id, a.Now(), &report, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	return answer().Write(w, r)
}

func (a *API) deleteReport(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	how := trash.Deletion{Check: func(version int64) error { return apikit.CheckMatch(r, apikit.Tag(id, version)) }}
	if a.Kept > 0 {
		how.At = a.Now().UTC().Truncate(time.Second)
	}
	if err := a.Reports.DeleteReport(r.Context(), apikit.Account(r), id, how); err != nil {
		return err
	}
	return deletedReport(w, id)
}

func deletedReport(w http.ResponseWriter, id int64) error {
	return apikit.Write(w, http.StatusOK, apikit.Deleted{ID: id, Object: string(trash.Report), Deleted: true, Status: http.StatusOK})
}

// restoreReport brings a report back from the trash.
func (a *API) restoreReport(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	var report seo.Report
	answer := func() apikit.Answer { return foundReport(report) }
	if err := a.Reports.RestoreReport(r.Context(), apikit.Account(r), id, &report, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	a.Wake()
	return answer().Write(w, r)
}

// purgeReport erases a report in the trash for good.
func (a *API) purgeReport(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	if _, err := a.Trash.Purge(r.Context(), apikit.Account(r), trash.Report, id, apikit.SameVersion(r, id)); err != nil {
		return err
	}
	return deletedReport(w, id)
}

// newReport is the report that a body asks for.
func newReport(ctx context.Context, body apikit.Fields) (func(*seo.Report) error, error) {
	open, err := apikit.Access(ctx, body, "")
	if err != nil {
		return nil, err
	}
	scope, scoped := body.Choice("scope", []string{"page", "site"}, "must be page or site")
	pages, paged := body.Within("max_pages", 1, seo.MaxPages)
	depth, _ := body.Within("max_depth", 0, seo.MaxDepth)
	robots, _ := body.Choice("ignore_robots", []string{"0", "1"}, "must be 0 or 1")
	address, sitemap := body.Text("url"), body.Text("sitemap")
	return func(report *seo.Report) error {
		if address != "" {
			body.Merge(report.SetURL(address))
		}
		if scoped {
			report.SetScope(seo.Scope(scope))
		}
		if paged && !slices.Contains(body.Bad.Fields(), "max_pages") {
			report.MaxPages = pages
		}
		if report.MaxDepth = depth; sitemap != "" {
			body.Merge(report.SetSitemap(sitemap))
		}
		report.IgnoreRobots = robots == "1"
		open(&report.Privacy, &report.PasswordHash)
		return body.Bad.OrNil()
	}, nil
}
