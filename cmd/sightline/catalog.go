package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"sightline/internal/config"
	"sightline/internal/store"
)

// withCatalog opens the catalog of an installation, which a server may be using, for the time of do.
func withCatalog(ctx context.Context, flags config.Storage, do func(store.Catalog) error) error {
	if err := flags.Check(); err != nil {
		return usage(err)
	}
	catalog, err := store.OpenExisting(ctx, flags.Database, flags.Data)
	if err == nil {
		err = errors.Join(do(catalog), catalog.Close())
	}
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

// writeTable writes rows in columns. The first row is the heading.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// printable replaces what would move the cursor or hide text on a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// timeText shows a moment to a person; the zero time is never.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
