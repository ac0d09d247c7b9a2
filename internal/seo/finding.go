package seo

// A Severity says how bad a finding is.
type Severity string

// How bad a finding can be.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Notice  Severity = "notice"
)

// Points is what a check of this severity is worth.
func (s Severity) Points() int {
	switch s {
	case Error:
		return 10
	case Warning:
		return 5
	default:
		return 1
	}
}

// A Finding is one check that one page fails.
type Finding struct {
	Check    string // its id, such as title.missing
	Page     string // the address
	Severity Severity
	Value    string   // what was measured, in a few words
	Count    int      // how often the page shows the defect; Evidence has the first few
	Evidence []string // the elements, header lines or hops as written
	Points   int      // what the page gets back when this is fixed
}
