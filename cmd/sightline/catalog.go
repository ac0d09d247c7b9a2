package main

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"sightline/internal/config"
	"sightline/internal/store"
)

// withCatalog opens the catalog of an installation, which a server may be using, for the time of do.
func withCatalog(ctx context.Context, flags config.Storage, do func(store.Catalog) error) error {
	return withInstallation(ctx, flags, func(catalog store.Installation) error { return do(catalog) })
}

// withInstallation is withCatalog for what concerns the whole of it.
func withInstallation(ctx context.Context, flags config.Storage, do func(store.Installation) error) error {
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
