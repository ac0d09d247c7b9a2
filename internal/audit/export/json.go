package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"sightline/internal/seo"
)

// auditJSON is the head of an audit; its findings and pages follow it. docs/audit.md describes all fields.
type auditJSON struct {
	Format    int         `json:"format"`
	URL       string      `json:"url"`
	Scope     seo.Scope   `json:"scope"`
	State     seo.State   `json:"state"`
	Score     *int        `json:"score"`
	Result    *string     `json:"result"`
	Issues    issuesJSON  `json:"issues"`
	Pages     int         `json:"audited_pages"`
	Complete  bool        `json:"complete"`
	StoppedBy *string     `json:"stopped_by"`
	Failure   *string     `json:"failure"`
	EndedAt   string      `json:"generated_at"`
	Checks    []checkJSON `json:"checks"`
}

type issuesJSON struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Notice  int `json:"notice"`
}

type checkJSON struct {
	Check    string       `json:"check"`
	Title    string       `json:"title"`
	Severity seo.Severity `json:"severity"`
	Passed   bool         `json:"passed"`
	Value    *string      `json:"value"`
	Findings int          `json:"findings"`
	Points   float64      `json:"points"`
	Fix      string       `json:"fix"`
}

type findingJSON struct {
	Check    string       `json:"check"`
	Severity seo.Severity `json:"severity"`
	Page     string       `json:"page"`
	Value    string       `json:"value"`
	Count    int          `json:"count"`
	Evidence []string     `json:"evidence"`
	Points   int          `json:"points"`
}

type pageJSON struct {
	URL       string  `json:"url"`
	Class     string  `json:"class"`
	Status    *int    `json:"status"`
	Failure   *string `json:"failure"`
	End       *string `json:"redirects_to"`
	Depth     int     `json:"depth"`
	FoundFrom *string `json:"found_from"`
	Score     *int    `json:"score"`
	Findings  int     `json:"findings"`
	Title     *string `json:"title"`
	Indexable bool    `json:"indexable"`
}

// jsonFormat is the number of the JSON format. It grows when a field changes its meaning or goes; new ones may come at any time.
const jsonFormat = 1

func writeJSON(w *bufio.Writer, a *Audit) error {
	table := rows()
	head := auditJSON{Format: jsonFormat, URL: a.URL, Scope: a.Scope, State: a.State, Score: a.Score, Result: optional(seo.Result(a.Score)),
		Issues: issuesJSON{a.Issues.Errors, a.Issues.Warnings, a.Issues.Notices}, Pages: a.Outcome.Pages, Complete: a.Complete(),
		StoppedBy: optional(a.StoppedBy), Failure: optional(a.Failure), EndedAt: a.EndedAt.UTC().Format(time.RFC3339), Checks: []checkJSON{}}
	for _, r := range a.Results {
		row := table[r.Check]
		head.Checks = append(head.Checks, checkJSON{r.Check, row.Title, r.Severity, r.Passed, optional(r.Value), r.Findings, Tenths(r.Points), row.Fix})
	}
	text, err := encode(head)
	if err != nil {
		return err
	}
	w.Write(text[:len(text)-1]) // all but its closing brace
	if err := list(w, "findings", a.Findings, toFinding); err != nil {
		return err
	}
	if err := list(w, "pages", a.Pages, toPage); err != nil {
		return err
	}
	_, err = w.WriteString("}\n")
	return err
}

// list writes a stream as one more field.
func list[T, J any](w *bufio.Writer, name string, items iter.Seq2[T, error], toJSON func(T) J) error {
	fmt.Fprintf(w, ",\n%q:[", name)
	separator := "\n"
	for item, err := range items {
		if err != nil {
			return err
		}
		text, err := encode(toJSON(item))
		if err != nil {
			return err
		}
		w.WriteString(separator)
		w.Write(text)
		separator = ",\n"
	}
	_, err := w.WriteString("]")
	return err
}

// encode writes a value as JSON, with < and > as they are.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}

func toFinding(f seo.Finding) findingJSON {
	return findingJSON{f.Check, f.Severity, f.Page, f.Value, f.Count, append([]string{}, f.Evidence...), f.Points}
}

func toPage(p seo.PageResult) pageJSON {
	out := pageJSON{URL: p.URL, Class: string(p.Class()), Failure: optional(string(p.Failure)), End: optional(p.End), Depth: p.Depth,
		FoundFrom: optional(p.FoundFrom), Findings: p.Findings, Indexable: p.Indexable()}
	if p.Status != 0 {
		out.Status = &p.Status
	}
	if p.Score.Counted {
		out.Score = &p.Score.Value
	}
	if len(p.Titles) > 0 {
		out.Title = optional(p.Titles[0].Text)
	}
	return out
}

// optional is nil for empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Tenths rounds points to one decimal.
func Tenths(points float64) float64 { return float64(int(points*10+0.5)) / 10 }
