package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sightline/client"
	"sightline/internal/analytics"
)

// WebsitesApplyCmd is sightline websites apply.
type WebsitesApplyCmd struct {
	RemoteFlags
	File   string `arg:"" help:"File with a JSON array of websites; - for standard input."`
	DryRun bool   `help:"Show what would change, and change nothing."`
}

// maxApplyFile is the largest file that is read, in bytes.
const maxApplyFile = 256 << 20

// A batch is a part of a file that one request takes.
type batch struct {
	first   int // entry of the file that it begins with, from 0
	entries []json.RawMessage
	size    int // of its JSON array, in bytes
	secrets int // how many entries have a password
	result  client.Applied
}

// send applies a batch, or only tries it, and keeps the result.
func (b *batch) send(ctx context.Context, api *client.Client, dryRun bool) error {
	var err error
	b.result, err = api.ApplyWebsitesJSON(ctx, b.entries, dryRun)
	return b.located(err)
}

// Run creates and updates the websites in a file. It first tries everything, so that a mistake anywhere in the file is found
// before anything is written.
func (c *WebsitesApplyCmd) Run(ctx context.Context, term *terminal) error {
	entries, err := readEntries(term, c.File)
	if err != nil {
		return err
	}
	batches := split(entries)
	if len(batches) > 1 {
		if err := checkTwins(entries); err != nil {
			return err
		}
		fmt.Fprintf(term.stderr, "%d websites go in %d requests of at most %d; each is applied as a whole or not at all.\n", len(entries), len(batches), client.MaxApply)
	}
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		for _, b := range batches {
			if err := b.send(ctx, api, true); err != nil {
				return err
			}
		}
		warnIgnored(term, batches)
		before, err := readBefore(ctx, api, batches)
		if err != nil {
			return fmt.Errorf("read the websites as they are: %w", err)
		}
		return c.apply(ctx, term, api, batches, before)
	})
}

// apply sends the batches, unless it was enough to try them, and shows what each changes.
func (c *WebsitesApplyCmd) apply(ctx context.Context, term *terminal, api *client.Client, batches []*batch, before map[int64]client.Website) error {
	total := client.Applied{}
	for _, b := range batches {
		if !c.DryRun {
			err := b.send(ctx, api, false)
			if err != nil && b.first > 0 {
				return fmt.Errorf("entries 0 to %d are applied, the others are not: %w", b.first-1, err)
			} else if err != nil {
				return err
			}
		}
		total.Websites = append(total.Websites, b.result.Websites...)
		total.Created += b.result.Created
		total.Updated += b.result.Updated
		total.Unchanged += b.result.Unchanged
		if c.JSON {
			continue
		}
		if err := writeDifference(term.stdout, before, b.result.Websites); err != nil {
			return err
		}
	}
	if c.JSON {
		return writeApplied(term.stdout, total)
	}
	words := "%d created, %d changed, %d unchanged.\n"
	if c.DryRun {
		words = "Dry run, nothing is written: %d to create, %d to change, %d unchanged.\n"
	}
	_, err := fmt.Fprintf(term.stdout, words, total.Created, total.Updated, total.Unchanged)
	return err
}

// writeApplied writes the result of all batches as one answer.
func writeApplied(w io.Writer, total client.Applied) error {
	data := make([]json.RawMessage, len(total.Websites))
	for i, site := range total.Websites {
		data[i] = site.Raw
	}
	return writeJSON(w, struct {
		Data      []json.RawMessage `json:"data"`
		Created   int               `json:"created"`
		Updated   int               `json:"updated"`
		Unchanged int               `json:"unchanged"`
	}{data, total.Created, total.Updated, total.Unchanged})
}

// readEntries reads the array in a file.
func readEntries(term *terminal, name string) ([]json.RawMessage, error) {
	input := term.stdin
	if name == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		input = file
	}
	content, err := io.ReadAll(io.LimitReader(input, maxApplyFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case len(content) > maxApplyFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxApplyFile>>20)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(content, &entries); err != nil || entries == nil {
		return nil, fmt.Errorf("%s must be a JSON array of websites such as [{\"url\": \"https://example.com\"}]", name)
	}
	for i, entry := range entries {
		if entry[0] != '{' {
			return nil, fmt.Errorf("%s: entry %d must be an object such as {\"url\": \"https://example.com\"}", name, i)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, entry); err != nil {
			return nil, err
		}
		entries[i] = compact.Bytes()
	}
	return entries, nil
}

// split makes as few batches as the limits of a request allow, at least one.
func split(entries []json.RawMessage) []*batch {
	now := &batch{size: len("[]\n")}
	batches := []*batch{now}
	for i, entry := range entries {
		var secret struct{ Password any }
		secrets := 0
		if json.Unmarshal(entry, &secret) == nil && secret.Password != nil && secret.Password != "" {
			secrets = 1
		}
		size := len(entry) + len(",")
		if len(now.entries) == client.MaxApply || now.secrets+secrets > client.MaxApplyPasswords || len(now.entries) > 0 && now.size+size > client.MaxApplyBytes {
			now = &batch{first: i, size: len("[]\n")}
			batches = append(batches, now)
		}
		now.entries, now.size, now.secrets = append(now.entries, entry), now.size+size, now.secrets+secrets
	}
	return batches
}

// checkTwins refuses a domain that occurs twice. The server sees to that within one request only.
func checkTwins(entries []json.RawMessage) error {
	first := map[string]int{}
	for i := range entries {
		var site analytics.Website
		if site.SetURL(addressOf(entries[i])) != nil {
			continue // the server says what is wrong
		}
		if twin, twice := first[site.Domain]; twice {
			return fmt.Errorf("entries %d and %d have the same domain %s", twin, i, site.Domain)
		}
		first[site.Domain] = i
	}
	return nil
}

// addressOf is the address in an entry.
func addressOf(entry json.RawMessage) string {
	var fields struct{ URL, Domain *string }
	if json.Unmarshal(entry, &fields) != nil {
		return ""
	}
	switch {
	case fields.URL != nil:
		return *fields.URL
	case fields.Domain != nil:
		return *fields.Domain
	}
	return ""
}

// located says which entries of the file a refusal is about.
func (b *batch) located(err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) || len(refused.Fields) == 0 {
		return err
	}
	const mostShown = 5
	var parts []string
	names := refused.FieldNames()
	for _, name := range names[:min(len(names), mostShown)] {
		text := strings.Join(refused.Fields[name], ", ")
		entry, field := client.EntryField(name)
		if entry < 0 || entry >= len(b.entries) {
			parts = append(parts, name+" "+text)
			continue
		}
		parts = append(parts, fmt.Sprintf("entry %d (%s): %s %s", b.first+entry, clip(addressOf(b.entries[entry]), 60), field, text))
	}
	if more := len(names) - mostShown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return errors.New(printable(strings.Join(parts, "; ")))
}

// readOnly are the fields of a website that only the server sets: what list --json wrote may be applied without a warning.
var readOnly = []string{"id", "has_password", "tracking_id", "created_at", "updated_at"}

// warnIgnored names the fields of the file that the server does not know: a typing error would go unnoticed.
func warnIgnored(term *terminal, batches []*batch) {
	var names []string
	for _, b := range batches {
		names = append(names, b.result.Ignored...)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return slices.Contains(readOnly, name) })
	if len(names) > 0 {
		fmt.Fprintf(term.stderr, "Note: the server ignores the fields %s.\n", printable(strings.Join(names, ", ")))
	}
}
