// Package fault names the kinds of failure that a caller can do something about.
// Every layer wraps them with context; the web turns each into its status.
package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The kinds of failure besides Invalid. Test for them with errors.Is.
var (
	// NotFound says that the caller owns no such record.
	NotFound = errors.New("not found")
	// Unavailable says that the store cannot answer now but may soon.
	Unavailable = errors.New("temporarily unavailable")
	// Busy says that there is too much to do right now. It is a kind of Unavailable.
	Busy = fmt.Errorf("too much at once: %w", Unavailable)
	// Unsynced says that the disk failed to keep a write, so that nothing is written any more until the program is started
	// again. It is a kind of Unavailable.
	Unsynced = fmt.Errorf("the disk failed to keep a write: %w", Unavailable)
	// Full says that the disk has no room for the write.
	Full = errors.New("disk full")
)

// Invalid collects what is wrong with a request, field by field.
type Invalid map[string][]string

// Add records one more sentence about a field.
func (e Invalid) Add(field, text string) {
	e[field] = append(e[field], text)
}

// Merge takes over what another error says of fields that are not known to be bad yet. It returns err when err
// is of another kind.
func (e Invalid) Merge(err error) error {
	var other Invalid
	if !errors.As(err, &other) {
		return err
	}
	for field, texts := range other {
		if _, said := e[field]; !said {
			e[field] = slices.Clone(texts)
		}
	}
	return nil
}

// OrNil returns nil when no field is bad, so that a check can end with it.
func (e Invalid) OrNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Fields lists the bad fields in alphabetical order.
func (e Invalid) Fields() []string {
	return slices.Sorted(maps.Keys(e))
}

// Error says all of it in one sentence.
func (e Invalid) Error() string {
	var parts []string
	for _, field := range e.Fields() {
		parts = append(parts, field+" "+strings.Join(e[field], ", "))
	}
	return strings.Join(parts, "; ")
}

// Field is an Invalid about one field.
func Field(name, text string) error {
	return Invalid{name: {text}}
}
