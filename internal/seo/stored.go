package seo

import (
	"encoding/json"
	"fmt"
)

// details is what is kept of a finding as one text, since nobody searches in it.
type details struct {
	Value    string   `json:",omitempty"`
	Count    int      `json:",omitempty"`
	Evidence []string `json:",omitempty"`
	Points   int      `json:",omitempty"`
}

// Details are a finding as a store keeps it, beside check, page and severity. Bytes that are no text become U+FFFD.
func (f *Finding) Details() (string, error) {
	return ToText(details{f.Value, f.Count, f.Evidence, f.Points})
}

// SetDetails reads what Details made.
func (f *Finding) SetDetails(text string) error {
	d, err := FromText[details](text)
	f.Value, f.Count, f.Evidence, f.Points = d.Value, d.Count, d.Evidence, d.Points
	return err
}

// ToText is a value as a store keeps it that cannot look into it. It holds no byte that any engine refuses.
func ToText[T any](value T) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("store a %T: %w", value, err)
	}
	return string(text), nil
}

// FromText reads what ToText made. Empty text is the zero value.
func FromText[T any](text string) (value T, err error) {
	if text == "" {
		return value, nil
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value, fmt.Errorf("read a stored %T: %w", value, err)
	}
	return value, nil
}

// Rank orders severities, the worst first, from 1.
func (s Severity) Rank() int {
	switch s {
	case Error:
		return 1
	case Warning:
		return 2
	default:
		return 3
	}
}

// RankedSeverity is the severity of a rank.
func RankedSeverity(rank int) Severity {
	return []Severity{Error, Warning, Notice}[min(max(rank, 1), 3)-1]
}

// Ranked is the score by which lists order a page: -1 where it does not count.
func (s PageScore) Ranked() int {
	if !s.Counted {
		return -1
	}
	return s.Value
}

// A Change is one page of a comparison as stores find it: all changes of a check lie together, each with how many pages have it.
type Change struct {
	Check string
	Rank  int    // of its severity
	Kind  string // new, fixed or open
	Pages int
	Page  string
}

// Comparisons puts changes together, in their order.
func Comparisons(changes []Change) []Comparison {
	var all []Comparison
	for _, change := range changes {
		if n := len(all); n == 0 || all[n-1].Check != change.Check {
			all = append(all, Comparison{Check: change.Check, Severity: RankedSeverity(change.Rank)})
		}
		c := &all[len(all)-1]
		switch change.Kind {
		case "new":
			c.New = change.Pages
			c.NewPages = append(c.NewPages, change.Page)
		case "fixed":
			c.Fixed = change.Pages
			c.FixedPages = append(c.FixedPages, change.Page)
		default:
			c.Open = change.Pages
		}
	}
	return all
}
