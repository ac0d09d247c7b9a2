package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"sightline/internal/audit/export"
	"sightline/internal/seo"
)

const (
	plainWidth    = 100 // where there is no terminal
	widestReport  = 120 // lines longer than that are hard to read
	shownFindings = 5   // of one check
	shownFixes    = 5   // named at the end
)

// An auditTable writes an audit for a person.
type auditTable struct {
	*bufio.Writer
	width  int
	colour bool
	origin string // of the site, which need not be repeated for each page
}

// writeAudit writes an audit for a person: what is wrong, where, how to fix it, and what that returns.
func writeAudit(w io.Writer, a *export.Audit, took time.Duration) error {
	groups, err := a.Groups(shownFindings)
	if err != nil {
		return err
	}
	t := &auditTable{Writer: bufio.NewWriter(w), width: plainWidth, colour: isTerminal(w) && os.Getenv("NO_COLOR") == ""}
	if width := widthOf(w); width > 0 {
		t.width = min(max(width, 40), widestReport)
	}
	if start, err := url.Parse(a.URL); err == nil {
		t.origin = start.Scheme + "://" + start.Host
	}
	t.head(a, took)
	for _, severity := range []seo.Severity{seo.Error, seo.Warning, seo.Notice} {
		t.severity(severity, groups)
	}
	t.fixFirst(groups)
	return t.Flush()
}

// The colours of a terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
)

func (t *auditTable) paint(colour, text string) string {
	if !t.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func severityColour(s seo.Severity) string {
	return map[seo.Severity]string{seo.Error: red, seo.Warning: yellow, seo.Notice: blue}[s]
}

// head says how the site does as a whole.
func (t *auditTable) head(a *export.Audit, took time.Duration) {
	fmt.Fprintf(t, "\n%s\n", t.paint(bold, clip(printable(a.URL), t.width)))
	fmt.Fprintf(t, "%s\n\n", t.paint(dim, fmt.Sprintf("%s audited in %s", export.Number(a.Outcome.Pages, "page"), took.Round(100*time.Millisecond))))
	score := t.paint(bold, "No score")
	if a.Score != nil {
		colour := map[string]string{"good": green, "decent": yellow, "bad": red}[seo.Result(a.Score)]
		score = t.paint(bold, fmt.Sprintf("Score %d", *a.Score)) + " of 100, " + t.paint(colour, seo.Result(a.Score))
	}
	i := a.Issues
	fmt.Fprintf(t, "%s   %s   %s   %s\n", score, t.paint(red, export.Number(i.Errors, "error")), t.paint(yellow, export.Number(i.Warnings, "warning")),
		t.paint(blue, export.Number(i.Notices, "notice")))
	if why := a.Incomplete(); why != "" {
		t.wrap("", "Not all of the site was audited: "+why+".", yellow)
	}
}

// severity writes the groups of one severity.
func (t *auditTable) severity(severity seo.Severity, groups []export.Group) {
	first := true
	for i := range groups {
		if groups[i].Severity != severity {
			continue
		}
		if first {
			fmt.Fprintf(t, "\n%s\n", t.paint(bold+";"+severityColour(severity), strings.ToUpper(string(severity))+"S"))
			first = false
		}
		t.group(&groups[i])
	}
}

// group writes what one check found: its name with what fixing it returns, how to, and where.
func (t *auditTable) group(g *export.Group) {
	gain := ""
	if points := export.Points(g.Points); points != "" {
		gain = points + " points"
	}
	right := export.Number(g.Count, "page") + fmt.Sprintf("%15s", gain)
	name := clip(g.Title+"  "+g.ID, t.width-2-textWidth(right)-2)
	gap := strings.Repeat(" ", max(1, t.width-2-textWidth(name)-textWidth(right)))
	title, id, _ := strings.Cut(name, "  ")
	shown := t.paint(bold, title)
	if id != "" {
		shown += "  " + t.paint(dim, id)
	}
	if gain != "" {
		right = strings.Replace(right, gain, t.paint(green, gain), 1)
	}
	fmt.Fprintln(t, strings.TrimRight("\n  "+shown+gap+right, " "))
	t.wrap("    ", g.Fix, dim)
	widest := 0
	for _, f := range g.First {
		widest = max(widest, textWidth(t.place(f)))
	}
	for _, f := range g.First {
		t.finding(f, widest)
	}
	if more := g.More(); more > 0 {
		fmt.Fprintf(t, "    %s\n", t.paint(dim, fmt.Sprintf("… and %s more", export.Number(more, "page"))))
	}
}

// place is the page of a finding, without the origin that all pages share, and no longer than two thirds of a line.
func (t *auditTable) place(f seo.Finding) string {
	page := f.Page
	if path, own := strings.CutPrefix(page, t.origin); own && strings.HasPrefix(path, "/") {
		page = path
	}
	return clip(printable(page), max(t.width*2/3, 20))
}

// finding writes one line: where, what was measured, and as much of the first piece of evidence as fits.
func (t *auditTable) finding(f seo.Finding, width int) {
	place := t.place(f)
	line := "    " + place + strings.Repeat(" ", width-textWidth(place))
	what := printable(f.Value)
	if len(f.Evidence) > 0 {
		what += "  " + strings.Join(strings.Fields(printable(f.Evidence[0])), " ")
	}
	if room := t.width - textWidth(line) - 2; room >= 8 {
		line += "  " + t.paint(dim, clip(what, room))
	}
	fmt.Fprintln(t, strings.TrimRight(line, " "))
}

// fixFirst says how the score would rise most.
func (t *auditTable) fixFirst(groups []export.Group) {
	first := export.FixFirst(groups, shownFixes)
	if len(first) == 0 {
		fmt.Fprintln(t)
		return
	}
	fmt.Fprintf(t, "\n%s\n", t.paint(bold, "FIX FIRST"))
	for _, g := range first {
		fmt.Fprintf(t, "  %s  %s\n", t.paint(green, fmt.Sprintf("%6s", export.Points(g.Points))), clip(g.Title+" on "+export.Number(g.Count, "page"), t.width-10))
	}
	t.wrap("  ", "Points are by how much the score rises when a check is fixed everywhere. A page's score is the share of points that it passes: "+
		"an error 10, a warning 5, a notice 1.", dim)
	fmt.Fprintln(t)
}

// wrap writes text in lines that fit, each after an indent.
func (t *auditTable) wrap(indent, text, colour string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && textWidth(indent+line+" "+word) > t.width {
			fmt.Fprintln(t, indent+t.paint(colour, line))
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(t, indent+t.paint(colour, line))
}
