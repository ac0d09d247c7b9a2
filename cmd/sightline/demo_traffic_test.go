package main

import (
	"context"
	"reflect"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/store/memory"
)

// batches keeps what it is given.
type batches []analytics.Batch

func (b *batches) Append(_ context.Context, batch analytics.Batch) error {
	*b = append(*b, batch)
	return nil
}

func TestDemoTraffic(t *testing.T) {
	var websites []analytics.Website
	for i, example := range demoWebsites[:4] {
		site := analytics.NewWebsite(1, daysAgo(now, example.age))
		if err := site.Apply(example.fill("")); err != nil {
			t.Fatal(err)
		}
		site.ID = int64(i + 1)
		websites = append(websites, site)
	}
	var first, second batches
	for _, to := range []*batches{&first, &second} {
		if err := fillTraffic(t.Context(), to, websites, now); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(first, second) {
		t.Error("the same websites get other visits the second time")
	}
	for _, batch := range first {
		for _, event := range batch.Events {
			site := websites[event.Website-1]
			if event.At.Before(site.CreatedAt.Truncate(24*time.Hour)) || event.At.After(now) {
				t.Fatalf("an event of %s at %s: it was created at %s, and now is %s", site.URL, event.At, site.CreatedAt, now)
			}
		}
	}

	events := memory.OpenEvents(time.Now)
	for _, batch := range first {
		if err := events.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	for _, site := range websites {
		table, err := events.Query(t.Context(), analytics.Query{Website: site.ID, From: now.AddDate(-1, 0, 0), To: now,
			Metrics: []analytics.Metric{analytics.Visits, analytics.Pageviews, analytics.BounceRate, analytics.CustomEvents}})
		if err != nil {
			t.Fatal(err)
		}
		visits, views, bounces, custom := table.Rows[0].Metrics[0], table.Rows[0].Metrics[1], table.Rows[0].Metrics[2], table.Rows[0].Metrics[3]
		if visits < 500 || views < visits || bounces < 20 || bounces > 70 || custom == 0 {
			t.Errorf("%s has %g visits, %g page views, %g %% bounces and %g events: nobody believes that", site.URL, visits, views, bounces, custom)
		}
	}
}
