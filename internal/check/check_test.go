package check_test

import (
	"testing"

	"sightline/internal/check"
)

// TestChecks shows for each check a page that fails it, one that passes it and an edge case.
func TestChecks(t *testing.T) {
	for _, c := range cases {
		t.Run(c.check+"/"+c.kind+": "+c.about, func(t *testing.T) {
			crawl := c.scene.site.Crawl()
			c.scene.change(crawl)
			findings, scores, _ := run(t, crawl)
			if _, known := scores[c.scene.judged]; !known {
				t.Fatalf("the crawl has no page %s", c.scene.judged)
			}
			got := ""
			for _, f := range findings {
				if f.Check == c.check && f.Page == c.scene.judged {
					got = f.Value
				}
			}
			if got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryCheckIsTested(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range cases {
		if (c.kind == "fails") != (c.want != "") && c.kind != "edge" {
			t.Errorf("%s %s: a case that %s cannot report %q", c.check, c.about, c.kind, c.want)
		}
		kinds[c.check+" "+c.kind] = true
	}
	for _, row := range check.Table() {
		for _, kind := range []string{"fails", "passes", "edge"} {
			if !kinds[row.ID+" "+kind] {
				t.Errorf("%s has no case that is %s", row.ID, kind)
			}
		}
	}
}
