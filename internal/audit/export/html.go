package export

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"sightline/internal/seo"
)

const (
	pageFindings = 50  // findings of one check that the page shows
	worstPages   = 200 // pages that it lists
	fixFirst     = 5   // fixes that it names at the top
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"points": Points, "number": Number}).Parse(pageText))

// writeHTML writes a page that needs nothing else: to open, to send, to print.
func writeHTML(w *bufio.Writer, a *Audit) error {
	groups, err := a.Groups(pageFindings)
	if err != nil {
		return err
	}
	worst, err := a.worst()
	if err != nil {
		return err
	}
	passed := 0
	for _, r := range a.Results {
		if r.Passed {
			passed++
		}
	}
	return page.Execute(w, map[string]any{
		"Audit": a, "Result": seo.Result(a.Score), "Groups": groups, "First": FixFirst(groups, fixFirst), "Worst": worst, "Passed": passed,
		"Ended": a.EndedAt.UTC().Format("2 January 2006, 15:04 UTC"), "Severities": []seo.Severity{seo.Error, seo.Warning, seo.Notice},
	})
}

// FixFirst are the groups that return most, the best first.
func FixFirst(groups []Group, most int) []Group {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g Group) bool { return Tenths(g.Points) == 0 })
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Points, a.Points) })
	return groups[:min(len(groups), most)]
}

// A worstPage is a line of the list of pages.
type worstPage struct {
	URL, Note string
	Findings  int
	Score     seo.PageScore
}

// worst are the pages with the lowest scores, of all that count.
func (a *Audit) worst() ([]worstPage, error) {
	var worst []worstPage
	cut := func() {
		slices.SortStableFunc(worst, func(a, b worstPage) int { return cmp.Compare(a.Score.Value, b.Score.Value) })
		worst = worst[:min(len(worst), worstPages)]
	}
	for p, err := range a.Pages {
		if err != nil {
			return nil, err
		}
		if !p.Score.Counted {
			continue
		}
		line := worstPage{URL: strings.Clone(p.URL), Findings: p.Findings, Score: p.Score}
		if p.Class() == seo.PageBroken {
			line.Note = cmp.Or(strings.Clone(p.Reason), strconv.Itoa(p.Status))
		}
		if worst = append(worst, line); len(worst) == 2*worstPages {
			cut()
		}
	}
	cut()
	return worst, nil
}

// Points writes what the score gains.
func Points(points float64) string {
	switch tenths := Tenths(points); {
	case tenths == 0 && points > 0:
		return "+<0.1"
	case tenths == 0:
		return ""
	default:
		return fmt.Sprintf("+%.1f", tenths)
	}
}

// Number writes a count with its noun.
func Number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
