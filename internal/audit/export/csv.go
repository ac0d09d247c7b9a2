package export

import (
	"bufio"
	"encoding/csv"
	"encoding/xml"
	"strconv"
	"strings"
	"unicode/utf8"

	"sightline/internal/seo"
)

// writeCSV writes one line for each finding.
func writeCSV(w *bufio.Writer, a *Audit) error {
	table := rows()
	out := csv.NewWriter(w)
	if err := out.Write([]string{"severity", "check", "title", "page", "value", "count", "points", "evidence", "fix"}); err != nil {
		return err
	}
	for f, err := range a.Findings {
		if err != nil {
			return err
		}
		row := table[f.Check]
		line := []string{string(f.Severity), f.Check, row.Title, f.Page, f.Value, strconv.Itoa(f.Count), strconv.Itoa(f.Points), strings.Join(f.Evidence, "\n"), row.Fix}
		for i := range line {
			line[i] = harmless(line[i])
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// harmless keeps a spreadsheet from taking the text of a page for a formula: an apostrophe before it makes it text.
func harmless(cell string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " \u00a0\u3000"))
	if strings.ContainsRune("=+-@＝＋－＠\t\r\n|%", first) {
		return "'" + cell
	}
	return cell
}

// writeSitemap lists the pages that search engines should know: those that answer and that may be indexed.
func writeSitemap(w *bufio.Writer, a *Audit) error {
	w.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	listed := 0
	for p, err := range a.Pages {
		if err != nil {
			return err
		}
		if !p.Indexable() {
			continue
		}
		if listed++; listed > seo.MaxPages { // no search engine reads more of one sitemap
			break
		}
		w.WriteString("<url><loc>")
		if err := xml.EscapeText(w, []byte(p.URL)); err != nil {
			return err
		}
		w.WriteString("</loc></url>\n")
	}
	_, err := w.WriteString("</urlset>\n")
	return err
}
