package client_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sightline/client"
)

// TestReports calls every operation on reports, of a server that makes no audits.
func TestReports(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		ctx := t.Context()
		made, err := api.CreateReport(ctx, client.NewReport{URL: "https://shop.example/", Scope: "site", MaxPages: 9, MaxDepth: 2, Sitemap: "https://shop.example/s.xml"})
		if err != nil || made.ID != 1 || made.Project != "shop.example" || made.MaxPages != 9 || made.MaxDepth != 2 || made.State != "queued" || made.Ended() || made.ETag == "" {
			t.Fatalf("%+v %v", made, err)
		}
		if _, err := api.CreateReport(ctx, client.NewReport{URL: "https://other.example/"}); err != nil {
			t.Fatal(err)
		}
		list, err := api.Reports(ctx, client.ReportOptions{Project: "shop.example", ListOptions: client.ListOptions{Search: "shop", SortBy: "url"}})
		if err != nil || list.Total != 1 || list.Items[0].URL != made.URL {
			t.Errorf("%+v %v", list, err)
		}
		count := 0
		for _, err := range api.AllReports(ctx, client.ReportOptions{}) {
			if count++; err != nil {
				t.Fatal(err)
			}
		}
		if count != 2 {
			t.Errorf("%d reports", count)
		}
		if r, err := api.SetReportPrivacy(ctx, 1, client.Password, "look inside", client.IfMatch(made.ETag)); err != nil || r.Privacy != client.Password || !r.Password {
			t.Errorf("%+v %v", r, err)
		}
		if r, err := api.StopReport(ctx, 1); err != nil || r.State != "stopped" || !r.Ended() {
			t.Errorf("%+v %v", r, err)
		}
		if r, err := api.AwaitReport(ctx, 1, time.Minute); err != nil || !r.Ended() {
			t.Errorf("%+v %v", r, err)
		}
		if r, err := api.AuditAgain(ctx, 1); err != nil || r.Run != 2 {
			t.Errorf("%+v %v", r, err)
		}
		results(t, api)
		if gone, err := api.DeleteReport(ctx, 1); err != nil || gone.Object != "report" {
			t.Errorf("%+v %v", gone, err)
		}
		if r, err := api.RestoreReport(ctx, 1); err != nil || r.ID != 1 {
			t.Errorf("%+v %v", r, err)
		}
		if _, err := api.DeleteReport(ctx, 1); err != nil {
			t.Error(err)
		}
		if gone, err := api.PurgeReport(ctx, 1); err != nil || !gone.Deleted {
			t.Errorf("%+v %v", gone, err)
		}
		var refused *client.Error
		if _, err := api.Report(ctx, 1); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
			t.Errorf("an erased report: %v", err)
		}
	})
}

// results reads what two audits that never began have found.
func results(t *testing.T, api *client.Client) {
	t.Helper()
	ctx := t.Context()
	if pages, err := api.ReportPages(ctx, 1, client.PagesOptions{Class: "ok", Run: 1}); err != nil || pages.Total != 0 {
		t.Errorf("%+v %v", pages, err)
	}
	for f, err := range api.AllFindings(ctx, 1, client.FindingOptions{Severity: "error", Check: "title.missing", URL: "https://shop.example/"}) {
		t.Errorf("%+v %v", f, err)
	}
	if runs, err := api.Runs(ctx, 1, client.PageOptions{}); err != nil || runs.Total != 2 || runs.Items[1].State != "stopped" {
		t.Errorf("%+v %v", runs, err)
	}
	if changes, err := api.CompareRuns(ctx, 1, 1, 2); err != nil || len(changes) != 0 {
		t.Errorf("%+v %v", changes, err)
	}
	var file bytes.Buffer
	if err := api.ExportReport(ctx, 1, 1, "csv", &file); err != nil || !strings.HasPrefix(file.String(), "severity,check,") {
		t.Errorf("%s %v", file.String(), err)
	}
	if err := api.ExportReport(ctx, 1, 0, "pdf", &file); err == nil {
		t.Error("a format that there is not")
	}
}

// Only the owner of a website may have its robots.txt ignored.
func TestReportIgnoringRobots(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		what := client.NewReport{URL: "https://www.own.example/", IgnoreRobots: true}
		var refused *client.Error
		if _, err := api.CreateReport(t.Context(), what); !errors.As(err, &refused) || len(refused.Fields["ignore_robots"]) != 1 {
			t.Errorf("of somebody's host: %v", err)
		}
		if _, err := api.CreateWebsite(t.Context(), client.WebsiteFields{URL: new("https://own.example")}); err != nil {
			t.Fatal(err)
		}
		if made, err := api.CreateReport(t.Context(), what); err != nil || !made.IgnoreRobots {
			t.Errorf("of the own host: %+v %v", made, err)
		}
	})
}
