package analyticsapi

import (
	"fmt"
	"strings"

	"sightline/internal/analytics"
)

// parseFilter reads a filter such as country:is:DE|AT. A value may hold colons; in front of a | or a \ that belongs to a value
// stands a \. The name of a property ends where an operator follows.
func parseFilter(text string) (analytics.Filter, error) {
	dimension, op, values, ok := cutFilter(text)
	if !ok {
		return analytics.Filter{}, fmt.Errorf("must be like country:is:DE|AT: a dimension, one of the operators %s, and values", opNames())
	}
	return analytics.Filter{Dimension: analytics.Dimension(dimension), Op: op, Values: splitValues(values)}, nil
}

// cutFilter finds the three parts of a filter. An operator that is none is left to the check of the query.
func cutFilter(text string) (dimension string, op analytics.Op, values string, ok bool) {
	if strings.HasPrefix(text, "prop:") {
		at := len(text)
		for _, known := range analytics.Ops {
			if i := strings.Index(text, ":"+string(known)+":"); i > len("prop") && i < at {
				at, op = i, known
			}
		}
		if op == "" {
			return "", "", "", false
		}
		return text[:at], op, text[at+len(op)+2:], true
	}
	dimension, rest, ok := strings.Cut(text, ":")
	name, values, whole := strings.Cut(rest, ":")
	return dimension, analytics.Op(name), values, ok && whole
}

// splitValues cuts values at each | that has no \ in front.
func splitValues(text string) []string {
	var values []string
	var value strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '|' || text[i+1] == '\\'):
			i++
			value.WriteByte(text[i])
		case text[i] == '|':
			values = append(values, value.String())
			value.Reset()
		default:
			value.WriteByte(text[i])
		}
	}
	return append(values, value.String())
}

func opNames() string {
	names := make([]string, len(analytics.Ops))
	for i, op := range analytics.Ops {
		names[i] = string(op)
	}
	return strings.Join(names, ", ")
}
