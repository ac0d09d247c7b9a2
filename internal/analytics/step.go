package analytics

import "time"

// Interval is how long the steps of a series are, on the clock of its zone.
type Interval string

// The intervals. A week begins on Monday.
const (
	Minute Interval = "minute"
	Hour   Interval = "hour"
	Day    Interval = "day"
	Week   Interval = "week"
	Month  Interval = "month"
)

// Intervals lists all of them.
var Intervals = []Interval{Minute, Hour, Day, Week, Month}

// Steps are the moments at which the steps of a series begin. The first may begin before the range, and the last end after
// it. There is one more than MaxSteps at most.
//
// Where clocks are changed, days have 23 or 25 hours and each hour that takes place has a step. Where they are changed by half
// an hour, the hour before the change ends at the next full hour.
func (q Query) Steps() []time.Time {
	var steps []time.Time
	for step := q.Interval.begin(q.From.In(q.Zone)); step.Before(q.To) && len(steps) <= MaxSteps; step = q.Interval.next(step) {
		steps = append(steps, step)
	}
	return steps
}

// begin is the beginning of the step in which t lies.
func (i Interval) begin(t time.Time) time.Time {
	year, month, day := t.Date()
	switch i {
	case Minute:
		return t.Truncate(time.Minute)
	case Hour:
		step := midnight(year, month, day, t.Location())
		for next := i.next(step); !next.After(t); next = i.next(step) {
			step = next
		}
		return step
	case Week:
		return midnight(year, month, day-(int(t.Weekday())+6)%7, t.Location())
	case Month:
		return midnight(year, month, 1, t.Location())
	}
	return midnight(year, month, day, t.Location())
}

// next is the beginning of the step after the one that begins at t.
func (i Interval) next(t time.Time) time.Time {
	year, month, day := t.Date()
	switch i {
	case Minute:
		return t.Add(time.Minute)
	case Hour:
		next := t.Add(time.Hour - sinceHour(t))
		for left := sinceHour(next); left != 0; left = sinceHour(next) { // the clock was changed by less than an hour
			next = next.Add(time.Hour - left)
		}
		return next
	case Week:
		return midnight(year, month, day+7, t.Location())
	case Month:
		return midnight(year, month+1, 1, t.Location())
	}
	return midnight(year, month, day+1, t.Location())
}

// sinceHour is how far the clock is past the full hour.
func sinceHour(t time.Time) time.Duration {
	return time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// midnight is the first moment of a day, also where clocks are changed at midnight.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	noon := time.Date(year, month, day, 12, 0, 0, 0, zone)
	first := time.Date(year, month, day, 0, 0, 0, 0, zone)
	start, end := first.ZoneBounds()
	if !sameDay(first, noon) { // there is no midnight: the day begins when the clock is put forward
		return end
	}
	before := start.Add(-1).In(zone)
	if start.IsZero() || !sameDay(before, noon) {
		return first
	}
	_, now := first.Zone() // the clock is changed between two midnights of this day, or there is only one
	_, then := before.Zone()
	if earlier := first.Add(time.Duration(now-then) * time.Second); earlier.Before(start) {
		return earlier
	}
	return first
}

func sameDay(a, b time.Time) bool {
	return a.YearDay() == b.YearDay() && a.Year() == b.Year()
}

// A Stretch is a run of steps that are equally long.
type Stretch struct {
	First int       // index of its first step
	From  time.Time // where that begins
	To    time.Time // where its last step ends
	Step  time.Duration
}

// Stretches is Steps as runs of equal length, from which an engine can tell the step of an event by arithmetic.
func (q Query) Stretches() []Stretch {
	steps := q.Steps()
	if len(steps) == 0 {
		return nil
	}
	steps = append(steps, q.Interval.next(steps[len(steps)-1]))
	var list []Stretch
	for i, step := range steps[:len(steps)-1] {
		length := steps[i+1].Sub(step)
		if n := len(list); n > 0 && list[n-1].Step == length {
			list[n-1].To = steps[i+1]
			continue
		}
		list = append(list, Stretch{First: i, From: step, To: steps[i+1], Step: length})
	}
	return list
}
