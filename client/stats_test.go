package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"sightline/client"
)

// visits are three events of two visitors.
func visits() []client.Event {
	at := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Minute)
	return []client.Event{
		{At: at.AddDate(0, 0, -1), Kind: "pageview", Visitor: "00000000000000aa", Visit: "00000000000000a1", Page: "/", Country: "DE", Source: "a|b", Device: "mobile"},
		{At: at.AddDate(0, 0, -1).Add(time.Second), Kind: "event", Name: "buy", Visitor: "00000000000000aa", Visit: "00000000000000a1", Page: "/", Value: 9.5, Unit: "EUR",
			Props: map[string]string{"plan": "<pro>"}, EngagementMS: 1200, ScrollDepth: 50},
		{At: at, Kind: "pageview", Visitor: "00000000000000bb", Visit: "00000000000000b1", Page: "/now", Hostname: "example.com"},
	}
}

func TestStats(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		site, err := api.CreateWebsite(t.Context(), client.WebsiteFields{URL: new("https://example.com")})
		if err != nil {
			t.Fatal(err)
		}
		events := visits()
		for _, want := range []client.Imported{{Stored: 3}, {Known: 3}} {
			if got, err := api.ImportEvents(t.Context(), site.ID, events); err != nil || got != want {
				t.Fatalf("import: %+v, %v, want %+v", got, err, want)
			}
		}
		stats, err := api.Stats(t.Context(), site.ID, client.StatsQuery{By: "page", Metrics: []string{"visitors", "pageviews"}, From: "7d", Compare: "previous_period", Limit: 1, Page: 2})
		if err != nil || len(stats.Items) != 1 || stats.Items[0].Value != "/now" || stats.Items[0].Metrics["pageviews"] != 1 || stats.Total != 2 || stats.Totals["visitors"] != 2 ||
			stats.Compared == nil || stats.Compared.Totals["visitors"] != 0 || stats.Compared.Rows[0].Metrics["pageviews"] != 0 || stats.By != "page" {
			t.Errorf("%+v, %v", stats, err)
		}
		filtered, err := api.Stats(t.Context(), site.ID, client.StatsQuery{Filters: []string{"source:is:" + client.FilterValue("a|b"), "country:is:DE"}})
		if err != nil || filtered.Totals["visitors"] != 1 {
			t.Errorf("%+v, %v", filtered, err)
		}
		counts, err := api.ListStats(t.Context(), site.ID, "country", client.CountOptions{From: "7d", ListOptions: client.ListOptions{Search: "germ"}})
		if err != nil || len(counts.Items) != 1 || counts.Items[0] != (client.Count{Value: "DE:Germany", Count: 1}) || counts.Total != 1 {
			t.Errorf("%+v, %v", counts, err)
		}
		now, err := api.Realtime(t.Context(), site.ID)
		if err != nil || now.Visitors != 1 || len(now.Minutes) != 30 || now.Pages[0].Page != "/now" {
			t.Errorf("%+v, %v", now, err)
		}
		if left, err := api.Exclusions(t.Context(), site.ID, "7d", ""); err != nil || len(left.Days) != 0 {
			t.Errorf("%+v, %v", left, err)
		}
		if err := api.CompactEvents(t.Context()); err != nil {
			t.Error(err)
		}
		_, err = api.Stats(t.Context(), site.ID, client.StatsQuery{By: "colour", Sort: "up"})
		refusal(t, err, http.StatusUnprocessableEntity, "by must be one of time,")
		_, err = api.Stats(t.Context(), 99, client.StatsQuery{})
		refusal(t, err, http.StatusNotFound, "no such record")
	})
}

func TestExport(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		site, err := api.CreateWebsite(t.Context(), client.WebsiteFields{URL: new("https://example.com")})
		if err != nil {
			t.Fatal(err)
		}
		want := visits()
		if _, err := api.ImportEvents(t.Context(), site.ID, want); err != nil {
			t.Fatal(err)
		}
		var got []client.Event
		for event, err := range api.Events(t.Context(), site.ID, client.ExportOptions{From: "7d"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, event)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		for range api.Events(t.Context(), site.ID, client.ExportOptions{}) {
			break // must not hang
		}
		file, err := api.Export(t.Context(), site.ID, client.CSV, client.ExportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		table, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil || strings.Count(string(table), "\n") != 4 || !strings.HasPrefix(string(table), "at,kind,") {
			t.Errorf("%s, %v", table, err)
		}
		_, err = api.Export(t.Context(), site.ID, "xml", client.ExportOptions{})
		refusal(t, err, http.StatusUnprocessableEntity, "format must be csv or ndjson")
		_, err = api.ImportLines(t.Context(), site.ID, []byte("{}\n\n{}"))
		refused := refusal(t, err, http.StatusUnprocessableEntity, "1.at must be a time")
		if line, field := client.EntryField(refused.FieldNames()[4]); line != 3 || field != "at" {
			t.Errorf("%v: the fifth is %s of line %d", refused.FieldNames(), field, line)
		}
	})
}

// An export that breaks off is an error, never a short file.
func TestExportBreaksOff(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, `{"kind":"pageview"}`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	var last error
	count := 0
	for _, err := range api.Events(t.Context(), 1, client.ExportOptions{}) {
		if last = err; err == nil {
			count++
		}
	}
	var broken *client.ConnectionError
	if count != 1 || !errors.As(last, &broken) {
		t.Errorf("%d events, then %v", count, last)
	}
}
