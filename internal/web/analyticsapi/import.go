package analyticsapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/web/apikit"
)

const (
	importTime  = time.Minute
	compactTime = time.Hour
	maxImports  = 4   // under way at once, for the sake of memory; others wait
	maxBadLines = 100 // that are named
)

// importEvents serves POST /api/v1/websites/{id}/import: events in the lines of an export. All are stored that are not there yet, or
// none.
func (a *API) importEvents(w http.ResponseWriter, r *http.Request) error {
	site, err := a.counted(r)
	if err != nil {
		return err
	}
	select {
	case a.importing <- struct{}{}:
		defer func() { <-a.importing }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	events, err := readEvents(w, r, site.ID, a.Now())
	if err != nil {
		return err
	}
	fresh, err := a.storeNew(r.Context(), site.ID, events)
	if err != nil {
		return err
	}
	return apikit.Write(w, http.StatusOK, struct {
		Stored int `json:"stored"`
		Known  int `json:"known"`
		Status int `json:"status"`
	}{len(fresh), len(events) - len(fresh), http.StatusOK})
}

// storeNew stores the events that are not there yet, and returns them. One import does so at a time: a request that is sent again
// while the first is still running stores nothing twice.
func (a *API) storeNew(ctx context.Context, website int64, events []analytics.Event) ([]analytics.Event, error) {
	a.storing.Lock()
	defer a.storing.Unlock()
	fresh, err := a.unknown(ctx, website, events)
	if err != nil || len(fresh) == 0 {
		return nil, err
	}
	return fresh, a.Events.Append(ctx, analytics.Batch{Events: fresh})
}

// readEvents reads the events of a body. Bad lines are named by their numbers, from 1.
func readEvents(w http.ResponseWriter, r *http.Request, website int64, now time.Time) ([]analytics.Event, error) {
	var events []analytics.Event
	bad, lines := fault.Invalid{}, 0
	err := apikit.Lines(w, r, func(number int, text []byte) error {
		event, err := parseLine(text, now)
		var invalid fault.Invalid
		if errors.As(err, &invalid) {
			for field, texts := range invalid {
				bad[fmt.Sprintf("%d.%s", number, field)] = texts
			}
			if lines++; lines == maxBadLines {
				return bad
			}
			return nil
		}
		event.Website = website
		events = append(events, event)
		return err
	})
	if err != nil {
		if wrong := bad.Merge(err); wrong != nil {
			return nil, wrong
		}
	}
	return events, bad.OrNil()
}

// fingerprint tells events apart that differ in anything.
type fingerprint [16]byte

func fingerprintOf(e analytics.Event, buffer *bytes.Buffer) (fingerprint, error) {
	buffer.Reset()
	if err := newLine(e).writeTo(buffer); err != nil {
		return fingerprint{}, err
	}
	sum := sha256.Sum256(buffer.Bytes())
	return fingerprint(sum[:16]), nil
}

// unknown leaves out the events that are stored already: as many of those that are equal in everything as there are.
func (a *API) unknown(ctx context.Context, website int64, events []analytics.Event) ([]analytics.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	var buffer bytes.Buffer
	prints, missing := make([]fingerprint, len(events)), map[fingerprint]int{}
	first, last := events[0].At, events[0].At
	for i, event := range events {
		var err error
		if prints[i], err = fingerprintOf(event, &buffer); err != nil {
			return nil, err
		}
		missing[prints[i]]++
		if event.At.Before(first) {
			first = event.At
		}
		if event.At.After(last) {
			last = event.At
		}
	}
	for stored, err := range a.Events.Events(ctx, website, first, last.Add(time.Millisecond)) {
		if err != nil {
			return nil, err
		}
		print, err := fingerprintOf(stored, &buffer)
		if err != nil {
			return nil, err
		}
		if missing[print] > 0 {
			missing[print]--
		}
	}
	var fresh []analytics.Event
	for i, event := range events {
		if missing[prints[i]] > 0 {
			missing[prints[i]]--
			fresh = append(fresh, event)
		}
	}
	return fresh, nil
}

// compact serves POST /api/v1/events/compact. It concerns everybody's events, so only the first account may ask for it.
func (a *API) compact(w http.ResponseWriter, r *http.Request) error {
	if a.Events == nil {
		return errNoEvents
	}
	accounts, err := a.Accounts.Accounts(r.Context())
	if err != nil {
		return err
	}
	if len(accounts) == 0 || accounts[0].ID != apikit.Account(r) {
		return apikit.Forbidden("Only the account that was created first may compact the events: they are those of all accounts.")
	}
	if err := a.Events.Compact(r.Context()); err != nil {
		return err
	}
	return apikit.Write(w, http.StatusOK, struct {
		Compacted bool `json:"compacted"`
		Status    int  `json:"status"`
	}{true, http.StatusOK})
}
