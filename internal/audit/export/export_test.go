package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"iter"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"sightline/internal/audit/export"
	"sightline/internal/check"
	"sightline/internal/seo"
)

var update = flag.Bool("update", false, "write testdata/audit.json")

func stream[T any](items ...T) iter.Seq2[T, error] {
	return export.Each(func(each func(T) error) error {
		for _, item := range items {
			if err := each(item); err != nil {
				return err
			}
		}
		return nil
	})
}

// hostile is what a page may hold to hurt whoever opens a report.
const hostile = `=HYPERLINK("http://evil.example")</script><script>alert(1)</script>` + "\r\n\u202e"

func sample() *export.Audit {
	score := 73
	page := &seo.Page{URL: "https://one.example/a?x=1&y=2|3", Status: 200, IsHTML: true, Titles: []seo.Element{{Text: hostile}}}
	lost := &seo.Page{URL: "https://one.example/lost", Status: 404, FoundFrom: "https://one.example/", Depth: 1}
	return &export.Audit{URL: "https://one.example/", Scope: seo.ScopeSite, State: seo.Done, EndedAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		Outcome: seo.Outcome{Score: &score, Issues: seo.Issues{Errors: 1, Notices: 1}, Pages: 2, StoppedBy: "pages", Results: []seo.CheckResult{
			{Check: "http.4xx", Severity: seo.Error, Findings: 1, Points: 12.345}, {Check: "title.missing", Severity: seo.Error, Passed: true},
			{Check: "desc.length", Severity: seo.Notice, Value: hostile, Findings: 1, Points: 0.01}}},
		Findings: stream(
			seo.Finding{Check: "http.4xx", Page: lost.URL, Severity: seo.Error, Value: "404", Count: 1, Evidence: []string{"https://one.example/lost → 404"}, Points: 10},
			seo.Finding{Check: "desc.length", Page: page.URL, Severity: seo.Notice, Value: hostile, Count: 1, Evidence: []string{hostile}, Points: 1}),
		Pages: stream(seo.PageResult{Page: page, Findings: 1, Score: seo.PageScore{Counted: true, Value: 99}},
			seo.PageResult{Page: lost, Findings: 1, Score: seo.PageScore{Counted: true}}),
	}
}

func write(t *testing.T, f export.Format, a *export.Audit) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := f.Write(&out, a); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCSV(t *testing.T) {
	lines, err := csv.NewReader(bytes.NewReader(write(t, export.CSV, sample()))).ReadAll()
	if err != nil || len(lines) != 3 {
		t.Fatalf("%d lines: %v", len(lines), err)
	}
	for _, line := range lines {
		for _, cell := range line {
			if strings.ContainsRune("=+-@\t\r", rune((cell + " ")[0])) {
				t.Errorf("a spreadsheet computes %q", cell)
			}
		}
	}
	if lines[2][4] != "'"+strings.ReplaceAll(hostile, "\r\n", "\n") { // the reader joins the two
		t.Errorf("%q", lines[2][4])
	}
}

// TestJSON holds the format still: what programs read does not change by accident.
func TestJSON(t *testing.T) {
	const file = "testdata/audit.json"
	got := write(t, export.JSON, sample())
	if !json.Valid(got) {
		t.Fatalf("not JSON: %s", got)
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: got %s", err, got)
	}
}

// TestSARIF demands what the schema of SARIF 2.1.0 does of the parts that are used.
func TestSARIF(t *testing.T) {
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID                                      string
						ShortDescription, FullDescription, Help struct{ Text string }
						DefaultConfiguration                    struct{ Level string }
					}
				}
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(write(t, export.SARIF, sample()), &log); err != nil || log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 {
		t.Fatalf("%v: %+v", err, log)
	}
	run, levels := log.Runs[0], []string{"none", "note", "warning", "error"}
	rules := run.Tool.Driver.Rules
	if run.Tool.Driver.Name == "" || len(rules) != len(check.Table()) || len(run.Results) != 2 {
		t.Errorf("%+v", run)
	}
	for _, r := range rules {
		if r.ID == "" || r.ShortDescription.Text == "" || r.FullDescription.Text == "" || r.Help.Text == "" || !slices.Contains(levels, r.DefaultConfiguration.Level) {
			t.Errorf("%+v", r)
		}
	}
	for _, r := range run.Results {
		if rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" || !slices.Contains(levels, r.Level) || len(r.Locations) != 1 {
			t.Errorf("%+v", r)
		}
		uri := r.Locations[0].PhysicalLocation.ArtifactLocation.URI
		if u, err := url.Parse(uri); err != nil || !u.IsAbs() || strings.ContainsAny(uri, "|<>\\^`{} ") {
			t.Errorf("%q is no URI: %v", uri, err)
		}
	}
}

func TestSitemap(t *testing.T) {
	var set struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		Loc     []string `xml:"url>loc"`
	}
	if err := xml.Unmarshal(write(t, export.Sitemap, sample()), &set); err != nil || !slices.Equal(set.Loc, []string{"https://one.example/a?x=1&y=2|3"}) {
		t.Errorf("%v: %v", err, set.Loc)
	}
}

// TestHTML demands a page that loads nothing and in which nothing of the audited site is markup.
func TestHTML(t *testing.T) {
	text := write(t, export.HTML, sample())
	tree, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for node := range tree.Descendants() {
		if node.Type == html.ElementNode && slices.Contains([]string{"script", "link", "img", "iframe", "object", "base"}, node.Data) {
			t.Errorf("the page has <%s>", node.Data)
		}
	}
	for _, want := range []string{">73<", "Page not found", "12.3 points", "&lt;0.1", "it ended at the limit of pages", "https://one.example/lost → 404"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the page does not say %s", want)
		}
	}
}

// TestBrokenStreams demands that an audit that cannot be read to its end is not taken for a whole one.
func TestBrokenStreams(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, f := range []export.Format{export.CSV, export.JSON, export.SARIF, export.Sitemap, export.HTML} {
		a := sample()
		a.Findings = export.Each(func(func(seo.Finding) error) error { return broken })
		a.Pages = export.Each(func(func(seo.PageResult) error) error { return broken })
		if err := f.Write(&bytes.Buffer{}, a); !errors.Is(err, broken) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
