package web_test

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/trash"
	"sightline/internal/web/apidoc/doctest"
)

// createReport stores a report with two audits; the second of some goes on.
func (p *play) createReport(kind, name string) doctest.Record {
	report := p.newReport(name)
	_, err := p.catalog.UpdateReport(p.Context(), p.owner.ID, report.ID, func(r *seo.Report) error {
		return r.Edit(start, func(r *seo.Report) error { r.Again(start); return nil })
	})
	p.ok(err)
	p.audit()
	record := p.fresh("/reports/", doctest.Record{Name: fmt.Sprint(report.ID), Host: name})
	if kind == "/trash/report/" {
		p.ok(p.catalog.DeleteReport(p.Context(), p.owner.ID, report.ID, trash.Deletion{At: start}))
	}
	return record
}

// newReport stores a report whose first audit is over.
func (p *play) newReport(name string) seo.Report {
	report := seo.NewReport(p.owner.ID, start)
	p.ok(report.SetURL("https://" + name + "/"))
	report.SetScope(seo.ScopeSite)
	p.ok(p.catalog.CreateReport(p.Context(), &report, nil))
	p.audit()
	p.audit()
	return report
}

// fresh is a record as it is now: requests move websites, and audits change reports and their projects in between.
func (p *play) fresh(kind string, record doctest.Record) doctest.Record {
	id, _ := strconv.ParseInt(record.Name, 10, 64) // fails for the name of a project
	switch kind {
	case "/websites/":
		website, err := p.catalog.Website(p.Context(), p.owner.ID, id)
		p.ok(err)
		record.Host = website.Domain
	case "/projects/":
		ref, err := seo.ParseRef(record.Name)
		p.ok(err)
		project, err := p.catalog.Project(p.Context(), p.owner.ID, ref)
		p.ok(err)
		record.Tag = fmt.Sprintf(`"%d-%d"`, project.ID, project.Version)
	case "/reports/":
		report, err := p.catalog.Report(p.Context(), p.owner.ID, id)
		p.ok(err)
		runs, err := p.catalog.ReportRuns(p.Context(), p.owner.ID, id, listing.Request{Page: 1, PerPage: seo.MaxRuns})
		p.ok(err)
		record.Tag, record.Runs = fmt.Sprintf(`"%d-%d"`, id, report.Version), nil
		for _, run := range runs.Items {
			record.Runs = append(record.Runs, fmt.Sprint(run.Number))
		}
	}
	return record
}

// checkTag checks what the document says of reports in words alone: one has no tag while its audit runs.
func (p *play) checkTag(got answer) {
	p.Helper()
	if state, isReport := got.field("data.state").(string); isReport && (state == "running") != (got.header.Get("ETag") == "") {
		p.Errorf("a report that is %s has the tag %q", state, got.header.Get("ETag"))
	}
}

// audit makes the audits that wait, without going anywhere: what they find is made up. Every third only begins, and ends in the
// next round.
func (p *play) audit() {
	p.rounds++
	now := start.Add(time.Duration(p.rounds) * time.Second)
	for {
		job, err := p.catalog.ClaimAudit(p.Context(), fmt.Sprint("round ", p.rounds), now, now.Add(time.Second))
		if errors.Is(err, fault.NotFound) {
			return
		}
		p.ok(err)
		pages := madeUp("https://"+job.Report.Project, job.Report.Run)
		_, err = p.catalog.SaveAudit(p.Context(), job.Lease, stepOf(pages))
		p.ok(err)
		state, outcome := seo.Done, outcomeOf(pages, int(job.Report.ID*13%101))
		switch number, begun := int(job.Report.ID)+job.Report.Run, job.Totals.Pages > 0; {
		case job.Report.Stopping:
			state, outcome.StoppedBy = seo.Stopped, "canceled"
		case number%3 == 0 && !begun:
			continue
		case number%5 == 0:
			state, outcome = seo.Failed, seo.Outcome{Failure: "No page of the site answered."}
		}
		p.ok(p.catalog.FinishAudit(p.Context(), job.Lease, state, outcome, now))
	}
}

// madeUp are the pages of a site as one of its audits finds them.
func madeUp(base string, run int) []seo.PageFacts {
	html := func(path, title string) *seo.Page {
		return &seo.Page{URL: base + path, Status: 200, IsHTML: true, MediaType: "text/html", FetchedAt: start, FirstByte: 35 * time.Millisecond,
			Titles: []seo.Element{{Text: title, Length: len(title)}}, Words: 240, Size: 5120}
	}
	found := func(page *seo.Page, check string, severity seo.Severity) seo.PageFacts {
		return seo.PageFacts{Page: page, Findings: []seo.Finding{{Check: check, Page: page.URL, Severity: severity, Value: "=1+1", Count: 2,
			Evidence: []string{"<title>", `a "quoted", line` + "\nand another ]]> 漢\u2028"}, Points: severity.Points()}}}
	}
	pages := []seo.PageFacts{
		found(html("/", `=cmd() <b>"&amp;</b>`), "title.length", seo.Warning),
		{Page: html("/%C3%BC?a=1&b=%3C", "")},
		found(&seo.Page{URL: base + "/lost", Depth: 1, FoundFrom: base + "/", Status: 404, FetchedAt: start}, "http.4xx", seo.Error),
		{Page: &seo.Page{URL: base + "/old", Hops: []seo.Hop{{URL: base + "/old", Status: 301, Location: "/"}}, End: base + "/", Status: 200, FetchedAt: start}},
		{Page: &seo.Page{URL: base + "/private", Failure: seo.FailedRobots, Reason: "robots.txt disallows it"}},
		{Page: &seo.Page{URL: base + "/slow", Failure: seo.FailedTimeout, Reason: "no answer in time", FetchedAt: start}},
	}
	if run%2 == 1 {
		return append(pages, found(html("/about", "About"), "title.missing", seo.Error))
	}
	return append(pages, found(html("/new", "New"), "desc.length", seo.Notice))
}

// stepOf saves pages as done and rated.
func stepOf(pages []seo.PageFacts) seo.Step {
	step := seo.Step{Pages: pages, Fetched: len(pages), Current: pages[0].URL, Site: &seo.Site{Start: pages[0].URL, Complete: true}}
	for i, page := range pages {
		item := seo.Item{URL: page.URL, Kind: seo.KindPage, Depth: page.Depth}
		step.Found, step.Done = append(step.Found, item), append(step.Done, seo.ItemKey{URL: item.URL, Kind: item.Kind})
		if i > 0 {
			step.Ratings = append(step.Ratings, seo.Rating{URL: page.URL, Score: seo.ScorePage(page.Page, i, len(pages))})
		}
	}
	return step
}

// outcomeOf is what an audit of pages comes to.
func outcomeOf(pages []seo.PageFacts, score int) seo.Outcome {
	outcome := seo.Outcome{Score: &score, Pages: len(pages)}
	for _, page := range pages {
		for _, f := range page.Findings {
			outcome.Issues.Add(f.Severity, 1)
			outcome.Results = append(outcome.Results, seo.CheckResult{Check: f.Check, Severity: f.Severity, Value: f.Value, Findings: 1, Points: 1.0 / 3})
		}
	}
	return outcome
}
