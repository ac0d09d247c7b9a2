package seoapi

import (
	"fmt"
	"math"
	"net/http"

	"sightline/internal/audit/export"
	"sightline/internal/fault"
	"sightline/internal/seo"
	"sightline/internal/web/apikit"
)

// maxRun is the highest number of a run that is looked for; stores keep it in 32 bits.
const maxRun = math.MaxInt32

// runOf is the run that a caller asks for: of the report in the path, and the newest unless it says otherwise.
func runOf(r *http.Request) (seo.RunRef, error) {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return seo.RunRef{}, err
	}
	number, _ := apikit.CallOf(r).Query.Within("run", 1, maxRun)
	return seo.RunRef{Report: id, Number: number}, nil
}

var pageList = apikit.List{
	SearchBy:     []string{"url"},
	SortBy:       []string{seo.SortPagesByURL, seo.SortPagesByScore},
	PerPage:      []int{10, 25, 50, 100},
	PerPageWords: "must be one of 10, 25, 50, 100",
}

func (a *API) listPages(w http.ResponseWriter, r *http.Request) error {
	run, err := runOf(r)
	if err != nil {
		return err
	}
	query := apikit.CallOf(r).Query
	class, _ := query.Choice("class", []string{"ok", "redirect", "broken", "disallowed"}, "must be one of ok, redirect, broken, disallowed")
	request, err := pageList.Request(r)
	if err != nil {
		return err
	}
	page, err := a.Results.ReportPages(r.Context(), apikit.Account(r), run, seo.PageFilter{Class: seo.PageClass(class)}, request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toPage)
}

// plainList is a list that cannot be searched or sorted.
var plainList = apikit.List{SearchBy: []string{""}, SortBy: []string{""}, PerPage: []int{10, 25, 50, 100}, PerPageWords: "must be one of 10, 25, 50, 100"}

func (a *API) listFindings(w http.ResponseWriter, r *http.Request) error {
	run, err := runOf(r)
	if err != nil {
		return err
	}
	query := apikit.CallOf(r).Query
	severity, _ := query.Choice("severity", []string{"error", "warning", "notice"}, "must be one of error, warning, notice")
	filter := seo.FindingFilter{Check: query.Text("check"), Severity: seo.Severity(severity), Page: query.Text("url")}
	request, err := plainList.Request(r)
	if err != nil {
		return err
	}
	page, err := a.Results.ReportFindings(r.Context(), apikit.Account(r), run, filter, request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toFinding)
}

func (a *API) listRuns(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	request, err := plainList.Request(r)
	if err != nil {
		return err
	}
	page, err := a.Results.ReportRuns(r.Context(), apikit.Account(r), id, request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toRun)
}

// compare says what changed from one run to another.
func (a *API) compare(w http.ResponseWriter, r *http.Request) error {
	var numbers [3]int64
	for i, name := range []string{"id", "from", "to"} {
		number, err := apikit.ID(r, name)
		if err != nil || i > 0 && number > maxRun {
			return fault.NotFound
		}
		numbers[i] = number
	}
	changes, err := a.Results.CompareRuns(r.Context(), apikit.Account(r), numbers[0], int(numbers[1]), int(numbers[2]))
	if err != nil {
		return err
	}
	list := make([]comparisonJSON, 0, len(changes))
	for _, c := range changes {
		list = append(list, toComparison(c))
	}
	return apikit.Record(http.StatusOK, "", list).Write(w, r)
}

// formats are those in which a report can be had.
var formats = map[string]struct {
	export.Format
	suffix string
}{"csv": {export.CSV, ".csv"}, "json": {export.JSON, ".json"}, "sarif": {export.SARIF, ".sarif"}, "sitemap": {export.Sitemap, ".xml"}}

// export streams a run. What fails amid it breaks the answer off, so that nobody takes it for a whole one.
func (a *API) export(w http.ResponseWriter, r *http.Request) error {
	run, err := runOf(r)
	if err != nil {
		return err
	}
	query := apikit.CallOf(r).Query
	name, sent := query.Choice("format", []string{"csv", "json", "sarif", "sitemap"}, "must be one of csv, json, sarif, sitemap")
	if !sent && len(query.Bad["format"]) == 0 {
		query.Bad.Add("format", "is required: csv, json, sarif or sitemap")
	}
	if err := query.Bad.OrNil(); err != nil {
		return err
	}
	report, err := a.findReport(r)
	if err != nil {
		return err
	}
	ctx, account := r.Context(), apikit.Account(r)
	stored, err := a.Results.ReportRun(ctx, account, run)
	if err != nil {
		return err
	}
	run.Number = stored.Number
	out := &export.Audit{URL: report.URL, Scope: report.Scope, State: stored.State, EndedAt: stored.EndedAt, Outcome: stored.Outcome,
		Findings: export.Each(func(each func(seo.Finding) error) error {
			return a.Results.EachFinding(ctx, account, run, seo.FindingFilter{}, each)
		}),
		Pages: export.Each(func(each func(seo.PageResult) error) error { return a.Results.EachPage(ctx, account, run, each) })}
	if out.EndedAt.IsZero() {
		out.EndedAt = a.Now()
	}
	format := formats[name]
	header := w.Header()
	header.Set("Content-Type", format.Type)
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="report-%d-run-%d%s"`, report.ID, run.Number, format.suffix))
	header.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	stream := apikit.NewStream(w)
	if err = stream.End(format.Write(stream, out)); err != nil {
		header.Del("Content-Disposition")
	}
	return err
}
