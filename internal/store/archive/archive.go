// Package archive is the form of a whole catalog that no engine owns: rows of a few tables, in an order in which they can
// be stored again, and the file that backups keep them in.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// A Source is a catalog that can be read as a whole.
type Source interface {
	// Dump reads everything as it was at one moment, also while others write: the rows of Tables in their order, then
	// those of Counters. An error ends it.
	Dump(ctx context.Context) iter.Seq2[Row, error]
	// Counts says how many rows each of Tables has now.
	Counts(ctx context.Context) (Counts, error)
}

// A Target is a catalog that can be filled as a whole.
type Target interface {
	// Restore stores what a Dump read: all of it in one transaction or, when an error comes up on either side, nothing. A
	// target that has rows already is ErrNotEmpty.
	Restore(ctx context.Context, rows iter.Seq2[Row, error]) error
}

// ErrNotEmpty says that a target has rows of its own.
var ErrNotEmpty = errors.New("it holds data already")

// A Row is one row of a table.
type Row struct {
	Table  *Table
	Values []any // one for each column: of the type that its kind says, or nil if it is optional
}

// A Table is one kind of rows.
type Table struct {
	Name    string
	Columns []Column
	Key     string // the columns by which rows are told apart, and ordered
	Counted bool   // whether the engine hands out its ids, none of them twice
	Inner   bool   // part of another record; people count that
	Derived []Derived
}

// A Column is one value of a row.
type Column struct {
	Name     string
	Kind     Kind
	Optional bool // nil is fine
}

// A Derived column is not in the dump because it follows from the others.
type Derived struct {
	Name string
	From func(values []any) any
}

// A Kind is what a column holds.
type Kind int

// The kinds, with the Go type of their values.
const (
	Integer Kind = iota // int64
	Text                // string
	Bytes               // []byte, never nil
	Bool                // bool
	Time                // time.Time in UTC, of which an engine may keep whole seconds only
	Instant             // time.Time in UTC, at least to the microsecond
	JSON                // string, as Canonical returns it
)

// Names lists the columns, and after them the derived ones.
func (t *Table) Names() []string {
	var names []string
	for _, column := range t.Columns {
		names = append(names, column.Name)
	}
	for _, derived := range t.Derived {
		names = append(names, derived.Name)
	}
	return names
}

// All is the values of a row in the order of its table's Names.
func (r Row) All() []any {
	values := r.Values[:len(r.Values):len(r.Values)]
	for _, derived := range r.Table.Derived {
		values = append(values, derived.From(r.Values))
	}
	return values
}

// Canonical brings JSON text into the one form that a dump has it in. What says null is nil.
func Canonical(text string) (any, error) {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil || value == nil {
		return nil, err
	}
	same, err := json.Marshal(value)
	return string(same), err
}

// Rows makes an iterator of a function that hands each row to emit, and ends when emit fails.
func Rows(dump func(emit func(Row) error) error) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		stopped := false
		err := dump(func(row Row) error {
			if stopped = !yield(row, nil); stopped {
				return errors.New("nobody takes more rows")
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Row{}, err)
		}
	}
}

// Counts says how many rows there are of each table.
type Counts map[string]int

// Sum is how many rows there are in all, those of Counters aside.
func (c Counts) Sum() int {
	sum := 0
	for _, table := range Tables {
		sum += c[table.Name]
	}
	return sum
}

// Check fails unless others are as many, in each of Tables.
func (c Counts) Check(others Counts) error {
	for _, table := range Tables {
		if c[table.Name] != others[table.Name] {
			return fmt.Errorf("the counts differ: %d of %d %s arrived", others[table.Name], c[table.Name], table.Name)
		}
	}
	return nil
}

// String names what people know: 1 account, 2 keys, 30 websites, 4 projects and 5 reports.
func (c Counts) String() string {
	var parts []string
	for _, table := range Tables {
		name := table.Name
		if !table.Counted || table.Inner {
			continue
		}
		if c[name] == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		parts = append(parts, fmt.Sprintf("%d %s", c[table.Name], name))
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
