package check_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"sightline/internal/check"
)

var update = flag.Bool("update", false, "write the table of docs/checks.md")

// TestDocument demands that docs/checks.md has the table as it is. To write it: go test ./internal/check -run Document -update
func TestDocument(t *testing.T) {
	const (
		file  = "../../docs/checks.md"
		start = "<!-- the table is written by a test: go test ./internal/check -run Document -update -->\n"
		end   = "<!-- end of the table -->\n"
	)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), start)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the marks of the table are gone")
	}
	want := before + start + markdown() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Error("docs/checks.md is not up to date: run go test ./internal/check -run Document -update")
	}
}

func markdown() string {
	var b strings.Builder
	b.WriteString("| check | severity | scope | finds | applies to | how to fix it |\n|---|---|---|---|---|---|\n")
	for _, r := range check.Table() {
		cells := []string{"`" + r.ID + "`<br>" + r.Title, fmt.Sprintf("%s, %d", r.Severity, r.Severity.Points()), string(r.Scope), r.Finds, r.On(), code(r.Fix)}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}

// code marks the elements in a text, so that they are shown and not taken for markup.
func code(text string) string { return strings.NewReplacer("<", "`<", ">", ">`").Replace(text) }

func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range check.Table() {
		family, _, dotted := strings.Cut(r.ID, ".")
		if seen[r.ID] || !dotted || family == "" {
			t.Errorf("%s: an id is a family, a dot and a name, and is given once", r.ID)
		}
		seen[r.ID] = true
		if strings.Count(r.Fix, ". ") != 1 || !strings.HasSuffix(r.Fix, ".") {
			t.Errorf("%s: a fix is told in two sentences: %s", r.ID, r.Fix)
		}
		if r.Title == "" || !strings.HasSuffix(r.Finds, ".") || r.On() == "" || strings.ContainsAny(r.Title+r.Finds+r.Fix, "|{}\n") {
			t.Errorf("%s: %q %q %q", r.ID, r.Title, r.Finds, r.On())
		}
	}
}
