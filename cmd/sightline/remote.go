package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"sightline/client"
	"sightline/internal/config"
)

// RemoteFlags are the flags of every command that calls a server and shows what it answers.
type RemoteFlags struct {
	config.Remote
	JSON bool `name:"json" help:"Print the data as JSON, for scripts."`
}

// withServer calls the server that the flags name.
func withServer(ctx context.Context, flags config.Remote, do func(*client.Client) error) error {
	flags, err := flags.Check()
	if err != nil {
		return usage(err)
	}
	api, err := client.New(client.Options{SEOURL: flags.SEOURL, AnalyticsURL: flags.AnalyticsURL, Key: flags.APIKey, Version: buildVersion()})
	if err == nil {
		err = do(api)
	}
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return worded(err)
}

// worded says what to do about an error of a server, and keeps what it sent from moving the cursor.
func worded(err error) error {
	var refused *client.Error
	var unreached *client.ConnectionError
	text := ""
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		text = "the server does not accept the API key: check " + config.Variable("api-key") + ", or make another with sightline key create"
	case errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError && refused.RequestID != "":
		text = err.Error() + " (request " + refused.RequestID + ")"
	case refused != nil:
		text = err.Error()
	case errors.As(err, &unreached):
		text = err.Error() + ": is the server running, and is this its address?"
	default:
		return err
	}
	return errors.New(printable(text))
}

// writeJSON writes one document in one line.
func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// writeArray writes a JSON array, one record in a line.
func writeArray[T any](w io.Writer, records iter.Seq2[T, error], raw func(T) json.RawMessage) error {
	before, after := "[\n", "[]\n"
	for record, err := range records {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", before, raw(record))
		}
		if err != nil {
			return err
		}
		before, after = ",\n", "\n]\n"
	}
	_, err := io.WriteString(w, after)
	return err
}

// ListFlags are the flags of every command that lists records of a server.
type ListFlags struct {
	RemoteFlags
	Search  string `placeholder:"TEXT" help:"Only those that contain a text, in any case."`
	SortBy  string `placeholder:"FIELD" help:"What to sort by: created_at, or url of websites and project of projects; of reports id, generated_at, url or score."`
	Sort    string `placeholder:"ORDER" help:"asc or desc."`
	PerPage *int   `placeholder:"N" help:"How many on a page: 10 to 100 websites; 10, 25, 50 or 100 projects or reports."`
	Page    *int   `placeholder:"N" xor:"pages" help:"Which page, from 1."`
	All     bool   `xor:"pages" help:"All pages."`
}

// options are the flags as the client takes them.
func (f *ListFlags) options() (client.ListOptions, error) {
	o := client.ListOptions{Search: f.Search, SortBy: f.SortBy, Sort: f.Sort}
	for _, number := range []struct {
		flag  string
		value *int
		to    *int
	}{{"--per-page", f.PerPage, &o.PerPage}, {"--page", f.Page, &o.Page}} {
		if number.value == nil {
			continue
		}
		if *number.value < 1 {
			return o, usage(fmt.Errorf("%s must be 1 or more", number.flag))
		}
		*number.to = *number.value
	}
	return o, nil
}

// A list is how a kind of records is read and shown.
type list[T any] struct {
	plural string
	page   func(*client.Client, context.Context, client.ListOptions) (client.Page[T], error)
	all    func(*client.Client, context.Context, client.ListOptions) iter.Seq2[T, error]
	raw    func(T) json.RawMessage
	heads  []string
	row    func(T) []string
}

// show reads what the flags ask for and writes it.
func (l list[T]) show(ctx context.Context, term *terminal, flags *ListFlags) error {
	o, err := flags.options()
	if err != nil {
		return err
	}
	return withServer(ctx, flags.Remote, func(api *client.Client) error {
		records, note := l.all(api, ctx, o), ""
		if !flags.All {
			page, err := l.page(api, ctx, o)
			if err != nil {
				return err
			}
			records, note = each(page.Items), l.note(page)
		}
		if flags.JSON {
			return writeArray(term.stdout, records, l.raw)
		}
		rows := [][]string{l.heads}
		for record, err := range records {
			if err != nil {
				return err
			}
			rows = append(rows, l.row(record))
		}
		if err := writeTable(term.stdout, rows); err != nil {
			return err
		}
		_, err := io.WriteString(term.stderr, note)
		return err
	})
}

// note says what a page leaves out.
func (l list[T]) note(page client.Page[T]) string {
	switch {
	case page.Total == 0:
		return "No " + l.plural + ".\n"
	case page.Last > 1:
		return fmt.Sprintf("Page %d of %d, %d %s in all: --page N shows another, --all everything.\n", page.Number, page.Last, page.Total, l.plural)
	}
	return ""
}

// dateText shows a day in a list; the zero time is never.
func dateText(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.DateOnly)
}

// each yields items that are there already.
func each[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}
