package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sightline/internal/config"
	"sightline/internal/store"
	"sightline/internal/store/archive"
)

// BackupCmd is sightline backup.
type BackupCmd struct {
	config.Storage
	File  string `arg:"" help:"The file to write; - for standard output."`
	Force bool   `help:"Replace the file if there is one."`
}

// Run writes the catalog as it is now into a file.
func (c *BackupCmd) Run(ctx context.Context, term *terminal) error {
	if err := c.check(term); err != nil {
		return err
	}
	return withInstallation(ctx, c.Storage, func(catalog store.Installation) error {
		head := archive.Header{Version: buildVersion(), Engine: store.Engine(c.Database), Time: term.now().UTC()}
		var counts archive.Counts
		write := func(w io.Writer) (err error) {
			counts, err = archive.Write(w, head, catalog.Dump(ctx))
			return err
		}
		if c.File == "-" {
			if err := write(term.stdout); err != nil {
				return err
			}
			fmt.Fprintf(term.stderr, "Backed up %s.\n", counts)
			return nil
		}
		size, err := writeWhole(c.File, write)
		if err != nil {
			return fmt.Errorf("no backup was made: %w", err)
		}
		fmt.Fprintf(term.stderr, "Backed up %s into %s (%s).\n", counts, c.File, sizeText(size))
		return nil
	})
}

// check refuses, before any work is done, to write where it would do harm.
func (c *BackupCmd) check(term *terminal) error {
	if c.File == "-" {
		if isTerminal(term.stdout) {
			return usage(errors.New("a backup is not for reading: name a file, or send standard output into one"))
		}
		return nil
	}
	return mayWrite(c.File, c.Force)
}

// mayWrite refuses a file that exists, unless it may be replaced.
func mayWrite(name string, replace bool) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot use %s: %w", name, pathCause(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a plain file, so it is left alone: name another", name)
	case !replace:
		return fmt.Errorf("%s exists already: name another file, or replace it with --force", name)
	}
	return nil
}

// writeWhole makes a file that only its owner can read. Until it is whole, and on the disk, it has another name.
func writeWhole(name string, write func(io.Writer) error) (size int64, err error) {
	part, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".partial-*") // with mode 0600
	if err != nil {
		return 0, fmt.Errorf("cannot write in the directory of %s: %w", name, pathCause(err))
	}
	defer os.Remove(part.Name()) // does nothing after the renaming
	if err = write(part); err == nil {
		err = part.Sync()
	}
	if err == nil {
		size, err = part.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return 0, pathCause(err)
	}
	if err := os.Rename(part.Name(), name); err != nil {
		return 0, fmt.Errorf("cannot name the file %s: %w", name, pathCause(err))
	}
	return size, syncDir(filepath.Dir(name))
}

// syncDir puts the names in a directory on the disk.
func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// pathCause is the reason of an error without the name of the file, which the sentence has already.
func pathCause(err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		return cause.Err
	}
	return err
}

// sizeText shows the size of a file to a person.
func sizeText(bytes int64) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	default:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	}
}
