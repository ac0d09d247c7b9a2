package doctest_test

import (
	"fmt"
	"slices"
	"testing"

	"sightline/internal/web/apidoc"
	"sightline/internal/web/apidoc/doctest"
)

// A prop is a stage on which nothing happens.
type prop struct{}

func (prop) Key(lacking []string) string { return fmt.Sprintf("a-key-that-lacks-%v", lacking) }

func (prop) Record(string) doctest.Record {
	return doctest.Record{Name: "7", Tag: `"7-1"`, TrackingID: "x", Host: "x.example", Runs: []string{"1", "2"}}
}

// A generator reaches every operation, in right and in wrong ways that have the answers which the document knows, and makes
// the same requests from the same seed.
func TestGenerator(t *testing.T) {
	document, err := apidoc.Document("test", "https://example.com", apidoc.SEO, apidoc.Analytics)
	if err != nil {
		t.Fatal(err)
	}
	var generators [2]*doctest.Generator
	for i := range generators {
		if generators[i], err = doctest.NewGenerator(document, prop{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	const requests = 10_000
	valid, operations, flaws, statuses := 0, map[string][2]int{}, map[string]int{}, map[int]int{}
	for range requests {
		r := generators[0].Next()
		if again := generators[1].Next(); again.String() != r.String() {
			t.Fatalf("the same seed makes %s and %s", r, again)
		}
		count := operations[r.Operation]
		count[min(len(r.Wrong), 1)]++
		operations[r.Operation] = count
		for _, flaw := range r.Wrong {
			flaws[flaw]++
		}
		for _, status := range r.Want {
			statuses[status]++
		}
		if len(r.Wrong) == 0 {
			valid++
		}
		refused := slices.ContainsFunc(r.Want, func(status int) bool { return status >= 400 })
		if odd := r.Want == nil; odd != slices.Equal(r.Wrong, []string{"odd"}) || !odd && refused != (len(r.Wrong) > 0) {
			t.Errorf("%s", r)
		}
	}
	if valid < requests*28/100 || valid > requests*32/100 {
		t.Errorf("%d of %d are valid", valid, requests)
	}
	if len(operations) != 49 || len(flaws) != 24 {
		t.Errorf("%d operations: %v\n%d flaws: %v", len(operations), operations, len(flaws), flaws)
	}
	for operation, count := range operations {
		if count[0] == 0 || count[1] == 0 {
			t.Errorf("%s: %d valid, %d wrong", operation, count[0], count[1])
		}
	}
	for _, status := range []int{200, 201, 202, 304, 400, 401, 403, 404, 405, 406, 412, 413, 415, 422} {
		if statuses[status] == 0 {
			t.Errorf("no request is to be answered with %d", status)
		}
	}
}
