package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sightline/internal/store"
)

// CatalogCmd is sightline catalog.
type CatalogCmd struct {
	Copy CatalogCopyCmd `cmd:"" help:"Copy everything into an empty database, such as from SQLite to PostgreSQL."`
}

// CatalogCopyCmd is sightline catalog copy.
type CatalogCopyCmd struct {
	From string `required:"" placeholder:"PLACE" help:"The data directory, or postgres:// address, to copy from."`
	To   string `required:"" placeholder:"PLACE" help:"The postgres:// address, or data directory, to copy to; it must be empty."`
}

// Run copies a whole installation.
func (c *CatalogCopyCmd) Run(ctx context.Context, term *terminal) error {
	if c.From == "" || c.To == "" {
		return usage(errors.New("--from and --to must each name a data directory or a postgres:// address"))
	}
	err := c.copy(ctx, term)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted: nothing was copied")
	}
	return err
}

func (c *CatalogCopyCmd) copy(ctx context.Context, term *terminal) (err error) {
	database, dir := placeOf(c.From)
	source, err := store.OpenExisting(ctx, database, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	size, err := source.Counts(ctx)
	if err != nil {
		return err
	}
	database, dir = placeOf(c.To)
	target, err := store.Open(ctx, database, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()

	began := term.now()
	progress := newProgress(term, "copied", size.Sum())
	err = target.Restore(ctx, progress.watch(source.Dump(ctx)))
	progress.end()
	if err != nil {
		return refilled(database, dir, err)
	}
	stored, err := target.Counts(ctx)
	if err == nil {
		err = progress.counts.Check(stored)
	}
	if err != nil {
		return fmt.Errorf("the copy could not be confirmed: %w", err)
	}
	fmt.Fprintf(term.stderr, "Copied and counted: %s.\nWhat was changed after %s is not in the copy: stop the old server before you copy, then start the new one on the copy.\n",
		stored, began.UTC().Format("15:04:05 UTC"))
	return nil
}

// placeOf tells the address of a database from a data directory.
func placeOf(text string) (database, dir string) {
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		return text, ""
	}
	return "", text
}
