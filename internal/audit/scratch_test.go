package audit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/audit"
	"sightline/internal/crawl"
	"sightline/internal/seo"
)

// largePage is a page whose facts do not get much smaller when they are packed, with two findings.
func largePage(number int) (seo.PageFacts, []seo.Finding) {
	p := &seo.Page{URL: fmt.Sprintf("https://site.example/%03d", number), Status: 200, IsHTML: true}
	noise := make([]byte, 200_000)
	rand.Read(noise)
	p.Links = []seo.Link{{URL: "https://site.example/", Raw: string(noise)}}
	late := []seo.Finding{{Check: "title.duplicate", Page: p.URL, Severity: seo.Error, Count: 1, Evidence: []string{rand.Text()}}}
	return seo.PageFacts{Page: p, Findings: []seo.Finding{{Check: "title.length", Page: p.URL, Severity: seo.Warning, Value: rand.Text(), Points: 5}}}, late
}

// What is too much for memory comes back from the file as it was, and the file is gone afterwards.
func TestScratchInFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	scratch := audit.NewScratch()
	var pages []seo.PageResult
	var bad, warnings []seo.Finding
	for i := range 60 { // of 200 kB each
		facts, late := largePage(i)
		score := seo.PageScore{Passed: i, Applicable: 60, Counted: true, Value: i}
		for _, learned := range []audit.Learned{{Pages: []seo.PageFacts{facts}}, {Ratings: []seo.Rating{{URL: facts.URL, Score: score, Findings: late}}}} {
			if _, err := scratch.Save(t.Context(), crawl.Step{}, learned); err != nil {
				t.Fatal(err)
			}
		}
		pages = append(pages, seo.PageResult{Page: facts.Page, Score: score, Findings: 2})
		bad, warnings = append(bad, late...), append(warnings, facts.Findings...)
	}
	n := 0
	for p, err := range scratch.Pages(t.Context()) {
		if err != nil || n == len(pages) || p.Findings != 2 || p.Score != pages[n].Score || !cmp.Equal(p.Links, pages[n].Links) {
			t.Fatalf("page %d is not as it was: %v", n, err)
		}
		n++
	}
	var findings []seo.Finding
	for f, err := range scratch.Findings() {
		if err != nil {
			t.Fatal(err)
		}
		findings = append(findings, f)
	}
	if diff := cmp.Diff(append(bad, warnings...), findings); diff != "" || n != len(pages) {
		t.Errorf("%d pages; findings saved (-), read (+):\n%s", n, diff)
	}
	if err := scratch.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Without a place for the file, a large audit ends with an error, and a small one is made all the same.
func TestScratchWithoutPlace(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	scratch := audit.NewScratch()
	defer scratch.Close()
	save := func(i int) error {
		facts, _ := largePage(i)
		_, err := scratch.Save(context.Background(), crawl.Step{}, audit.Learned{Pages: []seo.PageFacts{facts}})
		return err
	}
	if err := save(0); err != nil {
		t.Fatalf("a small audit: %v", err)
	}
	for i := 1; i < 60; i++ {
		if err := save(i); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the error is %v", err)
			}
			return
		}
	}
	t.Error("a large audit was kept without a file")
}
