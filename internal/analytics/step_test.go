package analytics

import (
	"testing"
	"time"
	_ "time/tzdata" // the tests know the zones wherever they run
)

// every is a query by time from midnight to midnight in a zone.
func every(t *testing.T, interval Interval, zone, from, to string) Query {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) time.Time {
		at, err := time.ParseInLocation("2006-01-02 15:04", text, location)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	return Query{Website: 1, From: parse(from), To: parse(to), Zone: location, Interval: interval, By: ByTime, Metrics: []Metric{Visitors}}
}

func TestSteps(t *testing.T) {
	tests := []struct {
		name     string
		query    Query
		count    int
		first    string
		last     string
		longest  time.Duration
		shortest time.Duration
	}{
		{"days over a change to summer", every(t, Day, "Europe/Berlin", "2026-03-28 00:00", "2026-03-31 00:00"), 3,
			"2026-03-28T00:00:00+01:00", "2026-03-30T00:00:00+02:00", 24 * time.Hour, 23 * time.Hour},
		{"days over a change to winter", every(t, Day, "America/New_York", "2026-10-31 12:00", "2026-11-03 00:00"), 3,
			"2026-10-31T00:00:00-04:00", "2026-11-02T00:00:00-05:00", 25 * time.Hour, 24 * time.Hour},
		{"hours of a short day", every(t, Hour, "Europe/Berlin", "2026-03-29 00:00", "2026-03-30 00:00"), 23,
			"2026-03-29T00:00:00+01:00", "2026-03-29T23:00:00+02:00", time.Hour, time.Hour},
		{"hours of a long day", every(t, Hour, "Europe/Berlin", "2026-10-25 00:00", "2026-10-26 00:00"), 25,
			"2026-10-25T00:00:00+02:00", "2026-10-25T23:00:00+01:00", time.Hour, time.Hour},
		{"hours where half an hour is put back", every(t, Hour, "Australia/Lord_Howe", "2026-04-05 00:00", "2026-04-06 00:00"), 24,
			"2026-04-05T00:00:00+11:00", "2026-04-05T23:00:00+10:30", 90 * time.Minute, time.Hour},
		{"hours where half an hour is skipped", every(t, Hour, "Australia/Lord_Howe", "2026-10-04 00:30", "2026-10-05 00:00"), 23,
			"2026-10-04T00:00:00+10:30", "2026-10-04T23:00:00+11:00", 90 * time.Minute, time.Hour},
		{"hours of a zone between hours", every(t, Hour, "Asia/Kolkata", "2026-10-04 00:30", "2026-10-05 00:00"), 24,
			"2026-10-04T00:00:00+05:30", "2026-10-04T23:00:00+05:30", time.Hour, time.Hour},
		{"a day without a midnight", every(t, Day, "America/Sao_Paulo", "2018-11-03 00:00", "2018-11-06 00:00"), 3,
			"2018-11-03T00:00:00-03:00", "2018-11-05T00:00:00-02:00", 24 * time.Hour, 23 * time.Hour},
		{"a day with two midnights", every(t, Day, "America/Havana", "2026-10-31 00:00", "2026-11-03 00:00"), 3,
			"2026-10-31T00:00:00-04:00", "2026-11-02T00:00:00-05:00", 25 * time.Hour, 24 * time.Hour},
		{"a day whose last hour comes twice", every(t, Day, "America/Sao_Paulo", "2018-02-16 00:00", "2018-02-19 00:00"), 3,
			"2018-02-16T00:00:00-02:00", "2018-02-18T00:00:00-03:00", 25 * time.Hour, 24 * time.Hour},
		{"weeks begin on Monday", every(t, Week, "UTC", "2026-11-15 00:00", "2026-11-24 00:00"), 3,
			"2026-11-09T00:00:00Z", "2026-11-23T00:00:00Z", 168 * time.Hour, 168 * time.Hour},
		{"months", every(t, Month, "UTC", "2026-01-31 00:00", "2026-04-01 00:00"), 3,
			"2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", 744 * time.Hour, 672 * time.Hour},
		{"minutes", every(t, Minute, "Asia/Kolkata", "2026-01-31 00:00", "2026-01-31 00:30"), 30,
			"2026-01-31T00:00:00+05:30", "2026-01-31T00:29:00+05:30", time.Minute, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			steps := test.query.Steps()
			if len(steps) != test.count {
				t.Fatalf("%d steps, want %d: %v", len(steps), test.count, steps)
			}
			if first, last := steps[0].Format(time.RFC3339), steps[len(steps)-1].Format(time.RFC3339); first != test.first || last != test.last {
				t.Errorf("from %s to %s, want from %s to %s", first, last, test.first, test.last)
			}
			longest, shortest := time.Duration(0), time.Duration(1<<62)
			for _, stretch := range test.query.Stretches() {
				longest, shortest = max(longest, stretch.Step), min(shortest, stretch.Step)
				if steps[stretch.First] != stretch.From || stretch.To.Sub(stretch.From)%stretch.Step != 0 {
					t.Errorf("the stretch %+v does not fit its steps", stretch)
				}
			}
			if longest != test.longest || shortest != test.shortest {
				t.Errorf("steps of %s to %s, want %s to %s", shortest, longest, test.shortest, test.longest)
			}
		})
	}
}

// TestMidnight looks at every day of eighty years in zones with all sorts of changes: days follow each other without gaps, each
// begins on its date, and the moment before does not.
func TestMidnight(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Africa/Cairo", "America/Asuncion", "Asia/Gaza"} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for day := range 80 * 365 {
			noon := time.Date(1971, 1, 1+day, 12, 0, 0, 0, location)
			first := midnight(1971, 1, 1+day, location)
			if before := first.Add(-1); !sameDay(first, noon) || sameDay(before, noon) && before.Before(first) {
				t.Fatalf("%s: %s begins at %s", zone, noon.Format(time.DateOnly), first)
			}
		}
	}
}
