package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sightline/client"
	"sightline/internal/config"
)

// ExportCmd is sightline export.
type ExportCmd struct {
	config.Remote
	ID       int64  `arg:"" help:"The website's number in sightline websites list."`
	Format   string `default:"csv" enum:"csv,ndjson" placeholder:"FORMAT" help:"csv for spreadsheets, or ndjson: everything as it is, for sightline import."`
	Output   string `default:"-" placeholder:"FILE" help:"The file to write; - for standard output."`
	Force    bool   `help:"Replace the file if there is one."`
	From     string `placeholder:"DAY" help:"The first day such as 2026-11-01, or today, 7d, 30d, 12mo."`
	To       string `placeholder:"DAY" help:"The last day."`
	Timezone string `placeholder:"ZONE" help:"Where days begin, such as Europe/Berlin."`
}

// Run writes the events of a website.
func (c *ExportCmd) Run(ctx context.Context, term *terminal) error {
	if c.Output != "-" {
		if err := mayWrite(c.Output, c.Force); err != nil {
			return err
		}
	}
	return withServer(ctx, c.Remote, func(api *client.Client) (err error) {
		file, err := api.Export(ctx, c.ID, c.Format, client.ExportOptions{From: c.From, To: c.To, Timezone: c.Timezone})
		if err != nil {
			return fmt.Errorf("website %d: %w", c.ID, err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if c.Output == "-" {
			_, err = io.Copy(term.stdout, file)
			return err
		}
		size, err := writeWhole(c.Output, func(w io.Writer) error {
			_, err := io.Copy(w, file)
			return err
		})
		if err == nil {
			fmt.Fprintf(term.stderr, "Exported the events of website %d into %s (%s).\n", c.ID, c.Output, sizeText(size))
		}
		return err
	})
}
