package storetest

import (
	"testing"
	"time"

	"sightline/internal/store"
)

var clockContracts = []contract{
	{"a job has one turn in a period", clockPeriods},
	{"jobs have turns of their own", clockJobs},
	{"one of many at once gets the turn", clockRace},
}

func clockPeriods(t *testing.T, c store.Catalog) {
	for _, step := range []struct {
		now  time.Time
		want bool
	}{
		{at(0), true},
		{at(0), false},
		{at(1), false},
		{at(30), false}, // asking does not put the next turn off
		{at(59), false},
		{at(60), true},
		{at(60), false},
		{at(61), false},
		{at(119), false},
		{at(30), false}, // a clock that is behind
		{at(-3600), false},
		{at(150), true},
		{at(209), false},
		{at(210).In(time.FixedZone("east", 5*3600)), true},
		{at(211), false},
		{at(100_000), true},
		{at(100_059), false},
		{at(100_060), true},
	} {
		if got := must(c.TakeTurn(t.Context(), "purge", step.now, time.Minute))(t); got != step.want {
			t.Errorf("at %s the answer is %v, want %v", step.now.Format(time.TimeOnly), got, step.want)
		}
	}
	if !must(c.TakeTurn(t.Context(), "purge", at(100_070), 10*time.Second))(t) {
		t.Error("a shorter period does not count from the last turn")
	}
	if must(c.TakeTurn(t.Context(), "purge", at(100_070+86_399), 24*time.Hour))(t) {
		t.Error("a longer period does not count from the last turn")
	}
}

func clockJobs(t *testing.T, c store.Catalog) {
	jobs := []string{"a", "A", "b", "", awkward, noise(200)}
	for second, want := range []bool{true, false} {
		for _, job := range jobs {
			same(t, "the turn of "+job, want, must(c.TakeTurn(t.Context(), job, at(second), time.Minute))(t))
		}
	}
}

func clockRace(t *testing.T, c store.Catalog) {
	const n = 20
	for round := range 4 {
		turns := make([]bool, n)
		allSucceed(t, n, func(i int) (err error) {
			turns[i], err = c.TakeTurn(t.Context(), "purge", at(round*60+i%3), time.Minute-2*time.Second)
			return err
		})
		taken := 0
		for _, mine := range turns {
			if mine {
				taken++
			}
		}
		if taken != 1 {
			t.Errorf("%d of %d got the turn of round %d, want 1", taken, n, round)
		}
	}
}
