package analyticsapi

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// FuzzFilter reads filters. What was understood, written anew, is understood the same.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"country:is:DE|AT", "page:contains:/a:b", `page:is:a\|b|c\\|\d|`, "prop:plan:is_not:x", "prop:a:is:is:b", "prop:", "page", "page:", "page:is:", ":::", `x:is:\`} {
		f.Add(seed)
	}
	escape := strings.NewReplacer(`\`, `\\`, `|`, `\|`)
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := parseFilter(text)
		if err != nil {
			return
		}
		values := make([]string, len(filter.Values))
		for i, value := range filter.Values {
			values[i] = escape.Replace(value)
		}
		again, err := parseFilter(string(filter.Dimension) + ":" + string(filter.Op) + ":" + strings.Join(values, "|"))
		if err != nil || !reflect.DeepEqual(again, filter) {
			t.Errorf("%q is %+v, written anew %+v, %v", text, filter, again, err)
		}
	})
}

// FuzzDays reads days. One that is understood begins on its date in every zone.
func FuzzDays(f *testing.F) {
	for _, seed := range []string{"2026-11-14", "today", "7d", "12mo", "9999mo", "0d", "1970-01-01", "2199-12-31", "2026-02-29", "2024-02-29", "2018-11-04", ""} {
		f.Add(seed)
	}
	today := time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC)
	zones := []*time.Location{time.UTC}
	for _, name := range []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe"} {
		zone, err := loadZone(name)
		if err != nil {
			f.Fatal(err)
		}
		zones = append(zones, zone)
	}
	f.Fuzz(func(t *testing.T, text string) {
		day, ok := parseRelative(text, today)
		if ok && day.After(today) {
			t.Errorf("%q begins on %s, after today", text, day)
		}
		if !ok {
			var err error
			if day, err = parseDay(text); err != nil {
				return
			}
			if day.Format(time.DateOnly) != text {
				t.Errorf("%q is %s", text, day)
			}
		}
		for _, zone := range zones {
			if first := begin(day, zone); first.Format(time.DateOnly) != day.Format(time.DateOnly) || first.Add(-1).Format(time.DateOnly) == day.Format(time.DateOnly) {
				t.Errorf("%s begins at %s in %s", day.Format(time.DateOnly), first, zone)
			}
		}
		if before := yearBefore(day); before.Month() != day.Month() || before.Year() != day.Year()-1 {
			t.Errorf("a year before %s is %s", day, before)
		}
	})
}

// FuzzLine reads lines of an import. An event that is accepted is stored as it is, and its line says the same.
func FuzzLine(f *testing.F) {
	now := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	for _, seed := range []string{
		`{"at":"2026-11-10T10:00:00Z","kind":"pageview","visitor":"00000000000000aa","visit":"00000000000000aa","page":"/"}`,
		`{"at":"2026-11-10T10:00:00.1234567+02:00","kind":"event","name":"x","visitor":"FFFFFFFFFFFFFFFF","visit":"0000000000000001","value":-0.0,"props":{"a":"b"},"engagement_ms":5,"scroll_depth":7}`,
		`{"at":null}`, `{`, `[]`, `{"props":{"a":null}}`, "{\"page\":\"\\ud83e\\udd8a\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		event, err := parseLine(text, now)
		if err != nil {
			return
		}
		if stored := event.Stored(); !reflect.DeepEqual(stored, event) {
			t.Errorf("%s is %+v, stored as %+v", text, event, stored)
		}
		var buffer bytes.Buffer
		if err := newLine(event).writeTo(&buffer); err != nil {
			t.Fatal(err)
		}
		again, err := parseLine(bytes.TrimSpace(buffer.Bytes()), now)
		if event.Value == 0 {
			event.Value = 0 // of two zeros one is written
		}
		if err != nil || !reflect.DeepEqual(again, event) {
			t.Errorf("%s is %+v, written anew %s %+v, %v", text, event, &buffer, again, err)
		}
	})
}
