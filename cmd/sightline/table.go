package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

const (
	columnGap      = "  "
	narrowestShown = 6 // to what a column may shrink
	naming         = 1 // the column that tells a person which record it is; it shrinks less than others
)

// writeTable writes rows in columns that fit the terminal; elsewhere in full. The first row is the heading.
func writeTable(w io.Writer, rows [][]string) error {
	return writeColumns(w, rows, widthOf(w))
}

// widthOf is the width of a terminal; 0 when w is none.
func widthOf(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// writeColumns writes rows in columns. A width other than 0 is kept: the widest columns shrink first.
func writeColumns(w io.Writer, rows [][]string, width int) error {
	widths := columnWidths(rows, width)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = clip(cell, widths[i])
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-textWidth(cell)) + columnGap)
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if width > 0 {
			text = clip(text, width)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// columnWidths is how wide each column is, such that the rows fit a width if that is possible.
func columnWidths(rows [][]string, width int) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	total := -len(columnGap)
	for _, n := range widths {
		total += n + len(columnGap)
	}
	for ; width > 0 && total > width; total-- {
		widest := widestOf(widths)
		if widths[widest] <= narrowestShown {
			break
		}
		widths[widest]--
	}
	return widths
}

// widestOf is the column to shrink next.
func widestOf(widths []int) int {
	widest, most := 0, 0
	for i, n := range widths {
		if i == naming {
			n = (n + narrowestShown) / 2
		}
		if n > most {
			widest, most = i, n
		}
	}
	return widest
}

// clip shortens text to a width; an ellipsis shows where.
func clip(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	kept := 0
	for i, r := range text {
		if kept += runeWidth(r); kept > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// textWidth is how many columns of a terminal a text takes.
func textWidth(text string) int {
	width := 0
	for _, r := range text {
		width += runeWidth(r)
	}
	return width
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1f300 && r < 0x1fb00 || r >= 0xff01 && r <= 0xff60:
		return 2
	default:
		return 1
	}
}
