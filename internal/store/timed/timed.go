// Package timed measures what a catalog does.
package timed

import (
	"context"
	"errors"
	"time"

	"sightline/internal/fault"
	"sightline/internal/receipt"
	"sightline/internal/store"
	"sightline/internal/trash"
)

// An Observer is told of every operation: its name, the kind of its failure (empty if there was none) and the time it took.
type Observer func(operation, failure string, took time.Duration)

// A Catalog passes everything on to another one and measures it.
type Catalog struct {
	store.Catalog
	observe Observer
}

// New measures a catalog.
func New(catalog store.Catalog, observe Observer) *Catalog {
	return &Catalog{catalog, observe}
}

// A span is an operation under way.
type span struct {
	*Catalog
	operation string
	began     time.Time
	refused   bool // by a function of the caller
}

func (c *Catalog) begin(operation string) *span {
	return &span{Catalog: c, operation: operation, began: time.Now()}
}

// end is deferred, for the error that the operation returns.
func (s *span) end(err *error) {
	failure := kind(*err)
	if failure != "" && s.refused {
		failure = "refused"
	}
	s.observe(s.operation, failure, time.Since(s.began))
}

// own notes the error of a function that the caller passed in: it is no failure of the store.
func (s *span) own(err error) error {
	s.refused = err != nil
	return err
}

// kind names a failure by one of few words.
func kind(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.As(err, new(*receipt.Used)):
		return "repeated"
	case errors.As(err, new(fault.Invalid)):
		return "invalid"
	case errors.Is(err, fault.NotFound):
		return "not_found"
	case errors.Is(err, fault.Full):
		return "full"
	case errors.Is(err, fault.Unavailable):
		return "unavailable"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	default:
		return "other"
	}
}

// watch notes whether the caller's check refuses a deletion.
func (s *span) watch(how trash.Deletion) trash.Deletion {
	if check := how.Check; check != nil {
		how.Check = func(version int64) error { return s.own(check(version)) }
	}
	return how
}
