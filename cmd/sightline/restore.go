package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"sightline/internal/config"
	"sightline/internal/store"
	"sightline/internal/store/archive"
)

// RestoreCmd is sightline restore.
type RestoreCmd struct {
	config.Storage
	File string `arg:"" help:"The file that sightline backup wrote."`
}

// Run fills an empty installation with a backup.
func (c *RestoreCmd) Run(ctx context.Context, term *terminal) error {
	if err := c.Storage.Check(); err != nil {
		return usage(err)
	}
	err := c.restore(ctx, term)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted: nothing was restored")
	}
	return err
}

func (c *RestoreCmd) restore(ctx context.Context, term *terminal) error {
	file, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", c.File, pathCause(err))
	}
	defer file.Close()
	head, counts, err := archive.Verify(ctx, file)
	if err != nil {
		return fmt.Errorf("%s cannot be restored: %w", c.File, pathCause(err))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s cannot be read twice, as a restore must: copy it into a plain file first", c.File)
	}
	reader, err := archive.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s cannot be restored: %w", c.File, err)
	}
	target, err := store.Open(ctx, c.Database, c.Data)
	if err != nil {
		return err
	}
	progress := newProgress(term, "restored", counts.Sum())
	err = target.Restore(ctx, progress.watch(reader.Rows()))
	progress.end()
	if err = errors.Join(err, target.Close()); err != nil {
		return refilled(c.Database, c.Data, err)
	}
	fmt.Fprintf(term.stderr, "Restored %s from the backup of %s.\n", counts, timeText(head.Time))
	return nil
}

// refilled words why an installation could not be filled. It never shows the address of a database, which may hold a password.
func refilled(database, dir string, err error) error {
	if !errors.Is(err, archive.ErrNotEmpty) {
		return fmt.Errorf("nothing was stored: %w", err)
	}
	place := dir
	if database != "" {
		place = "that database"
	}
	return fmt.Errorf("there is Sightline data in %s already, which is left alone: name an empty directory or database", place)
}
