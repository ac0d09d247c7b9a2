package analyticsapi

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
	_ "time/tzdata" // the zones are known on machines without a database of them

	"sightline/internal/analytics"
	"sightline/internal/web/apikit"
)

// A period is a run of days on the calendar of a time zone. Its days are kept as midnights in UTC.
type period struct {
	first, last time.Time
	zone        *time.Location
}

// start is the moment at which the period begins.
func (p period) start() time.Time { return begin(p.first, p.zone) }

// end is the moment at which the day after the period begins.
func (p period) end() time.Time { return begin(p.last.AddDate(0, 0, 1), p.zone) }

// days is how many days it has.
func (p period) days() int { return int(p.last.Sub(p.first)/(24*time.Hour)) + 1 }

// begin is the first moment of a day in a zone, also where clocks are changed at midnight.
func begin(day time.Time, zone *time.Location) time.Time {
	noon := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, zone)
	return analytics.Query{From: noon, To: noon.Add(1), Zone: zone, Interval: analytics.Day}.Steps()[0]
}

// shift moves both ends by a function on days.
func (p period) shift(move func(time.Time) time.Time) period {
	return period{move(p.first), move(p.last), p.zone}
}

// yearBefore is the same date a year before; 28 February for the 29th.
func yearBefore(day time.Time) time.Time {
	before := day.AddDate(-1, 0, 0)
	if before.Month() != day.Month() {
		return before.AddDate(0, 0, -1)
	}
	return before
}

const (
	defaultDays = 30
	dayWords    = "must be a day such as 2026-11-30"
	fromWords   = "must be a day such as 2026-11-01, or today, or a number of days or months such as 7d, 30d, 12mo"
)

var errDay = errors.New(dayWords)

// parseDay reads a day.
func parseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1970 || day.Year() > 2199 {
		return time.Time{}, errDay
	}
	return day, nil
}

var relative = regexp.MustCompile(`^([1-9][0-9]{0,3})(d|mo)$`)

// parseRelative reads a beginning that depends on what day it is: today, so many days with today, or so many calendar months
// with the one that today is in.
func parseRelative(text string, today time.Time) (time.Time, bool) {
	if text == "today" {
		return today, true
	}
	match := relative.FindStringSubmatch(text)
	if match == nil {
		return time.Time{}, false
	}
	n, _ := strconv.Atoi(match[1]) // it is four digits at most
	first := today.AddDate(0, 0, 1-n)
	if match[2] == "mo" {
		first = time.Date(today.Year(), today.Month()+1-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	}
	return first, first.Year() >= 1970
}

// readPeriod reads from and to; the last days when neither is sent. What is bad stands in query.Bad, and the period is then some
// period.
func readPeriod(query apikit.Fields, zone *time.Location, now time.Time) period {
	local := now.In(zone)
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	from, to := query.Text("from"), query.Text("to")
	p := period{today.AddDate(0, 0, 1-defaultDays), today, zone}
	if to != "" {
		day, err := parseDay(to)
		if err != nil {
			query.Bad["to"] = []string{dayWords}
			day = today
		}
		p = period{day.AddDate(0, 0, 1-defaultDays), day, zone}
	}
	if from == "" {
		return p
	}
	if first, ok := parseRelative(from, today); ok {
		if to != "" {
			query.Bad["to"] = []string{"goes with a day in from: " + from + " ends today"}
		}
		return period{first, today, zone}
	}
	first, err := parseDay(from)
	switch {
	case err != nil:
		query.Bad["from"] = []string{fromWords}
	case first.After(p.last):
		query.Bad["to"] = []string{"must not be before from"}
	default:
		p.first = first
	}
	return p
}

// zone is the time zone that a request names, else that of the account that calls. A bad one stands in query.Bad.
func (a *API) zone(r *http.Request, query apikit.Fields) (*time.Location, error) {
	if name := query.Text("timezone"); name != "" {
		zone, err := loadZone(name)
		if err != nil {
			query.Bad["timezone"] = []string{err.Error()}
		}
		return zone, nil
	}
	caller, err := a.Accounts.Account(r.Context(), apikit.Account(r))
	if err != nil {
		return nil, err
	}
	zone, err := loadZone(caller.Timezone)
	if err != nil {
		return time.UTC, nil // the account's zone was never checked
	}
	return zone, nil
}

// loadZone finds a zone by its name; UTC and an error when there is none.
func loadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || name == "" {
		return time.UTC, fmt.Errorf("must be the name of a time zone such as Europe/Berlin, America/New_York or UTC")
	}
	return zone, nil
}
