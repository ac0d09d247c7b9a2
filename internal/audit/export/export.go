// Package export writes audits for other programs and for people: CSV, JSON, SARIF, a sitemap, and a page of HTML.
package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"sightline/internal/check"
	"sightline/internal/seo"
)

// An Audit is an audit to write out. What there can be much of is streamed.
type Audit struct {
	URL     string // as it was asked for
	Scope   seo.Scope
	State   seo.State
	EndedAt time.Time
	seo.Outcome
	Findings iter.Seq2[seo.Finding, error]    // errors, then warnings, then notices, by check and by address
	Pages    iter.Seq2[seo.PageResult, error] // by address
}

// Complete says that every page of the site was audited.
func (a *Audit) Complete() bool { return a.StoppedBy == "" && a.Scope == seo.ScopeSite }

// A Format is a way to write an audit.
type Format struct {
	Name  string // as callers ask for it
	Type  string // its media type
	write func(*bufio.Writer, *Audit) error
}

// The formats.
var (
	CSV     = Format{"csv", "text/csv; charset=utf-8", writeCSV}
	JSON    = Format{"json", "application/json; charset=utf-8", writeJSON}
	SARIF   = Format{"sarif", "application/sarif+json; charset=utf-8", writeSARIF}
	Sitemap = Format{"sitemap", "application/xml; charset=utf-8", writeSitemap}
	HTML    = Format{"html", "text/html; charset=utf-8", writeHTML}
)

// Write writes an audit. It holds little of it at a time.
func (f Format) Write(w io.Writer, a *Audit) error {
	out := bufio.NewWriter(w)
	if err := f.write(out, a); err != nil {
		return fmt.Errorf("write the audit as %s: %w", f.Name, err)
	}
	return out.Flush()
}

// rows are the checks by id.
func rows() map[string]check.Row {
	byID := map[string]check.Row{}
	for _, row := range check.Table() {
		byID[row.ID] = row
	}
	return byID
}

// Each makes a stream of what calls a function for every item and ends with its error.
func Each[T any](walk func(each func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		enough := false
		err := walk(func(item T) error {
			if enough = !yield(item, nil); enough {
				return errEnough
			}
			return nil
		})
		if err != nil && !enough {
			var none T
			yield(none, err)
		}
	}
}

// errEnough ends a walk whose reader has seen enough.
var errEnough = errors.New("enough was read")
