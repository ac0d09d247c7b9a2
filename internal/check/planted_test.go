package check_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/check"
	"sightline/internal/check/checktest"
	"sightline/internal/seo"
)

// run checks a crawl as an audit does: each page by itself, then all of them.
func run(t *testing.T, c seo.Crawl) (findings []seo.Finding, scores map[string]seo.PageScore, total seo.Score) {
	t.Helper()
	for p, err := range c.Pages(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		findings = append(findings, check.Page(p)...)
	}
	scores = map[string]seo.PageScore{}
	total, err := check.Finish(t.Context(), c, func(p *seo.Page, late []seo.Finding, score seo.PageScore) error {
		findings = append(findings, late...)
		scores[p.URL] = score
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return findings, scores, total
}

// TestPlants demands that the checks find exactly what was planted, and that every check was.
func TestPlants(t *testing.T) {
	planted := map[string]bool{}
	for _, site := range checktest.Sites() {
		findings, _, total := run(t, site.Crawl())
		got := map[string][]string{}
		for _, f := range findings {
			got[f.Check] = append(got[f.Check], f.Page)
			if f.Count < 1 || f.Value == "" || len(f.Evidence) == 0 {
				t.Errorf("%s of %s does not say what it found: %+v", f.Check, f.Page, f)
			}
		}
		for _, pages := range got {
			slices.Sort(pages)
		}
		if diff := cmp.Diff(site.Plants, got); diff != "" {
			t.Errorf("%s: planted (-), found (+):\n%s", site.Start, diff)
		}
		for _, c := range total.Checks {
			if c.Failed != len(site.Plants[c.Check]) {
				t.Errorf("%s: the score counts %d pages for %s, want %d", site.Start, c.Failed, c.Check, len(site.Plants[c.Check]))
			}
		}
		for id := range maps.Keys(site.Plants) {
			planted[id] = true
		}
	}
	for _, row := range check.Table() {
		if !planted[row.ID] {
			t.Errorf("%s was planted nowhere", row.ID)
		}
	}
}
