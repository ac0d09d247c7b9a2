package doctest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

var (
	oddTexts = []string{"nonsense", "", "-1", "1e1", "10.0", " 10", "+10", "010", "01", "0x10", "99999999999999999999", "9223372036854775808", "１０", "10\x00", "true", "NaN", "10,25",
		"desc,asc", "   ", "x\x00y", "x\x01y", "x\ty", "x\x1b[2Jy", "x\x7fy", "x\u0085y", "x\u009fy", "null", "[]"}
	oddValues = []any{true, false, map[string]any{}, map[string]any{"a": 1}, map[string]any{"": "x"}, map[string]any{"a": ""}, manyProperties(), []any{}, []any{1, 2}, []any{nil},
		[][]string{{"seo:read"}}, -1, 3, 1.5, 1e300}
)

func manyProperties() map[string]string {
	props := map[string]string{}
	for i := range 31 {
		props[fmt.Sprint("p", i)] = "x"
	}
	return props
}

// forbidden is a value that a schema does not allow; texts only, if the request carries nothing else. There may be none.
func (g *Generator) forbidden(schema *openapi3.Schema, textsOnly bool) (any, bool) {
	for range 20 {
		var value any
		switch n := g.random.IntN(10); {
		case n < 2 && schema.MaxLength != nil:
			value = strings.Repeat(pick(g, []string{"x", "ü", "🙂"}), int(*schema.MaxLength)+1+g.random.IntN(50))
		case n < 3 && schema.Pattern != "":
			value = pick(g, []string{"x", " ", "9", "~"}) + g.textFor(schema) + pick(g, []string{"", "x", ":", "\x00"})
		case n < 6 && !textsOnly:
			value = pick(g, oddValues)
		default:
			value = pick(g, oddTexts)
		}
		if !g.allows(schema, value, textsOnly) {
			return value, true
		}
	}
	return nil, false
}

// allows says whether a schema allows a value: as it is, without the spaces around it, or where only texts are sent as the number
// that it is then.
func (g *Generator) allows(schema *openapi3.Schema, value any, textsOnly bool) bool {
	readings := []string{quote(value)}
	written, isText := value.(string)
	if isText && schema.MaxLength != nil { // spaces around a name do not count
		readings = append(readings, quote(strings.TrimSpace(written)))
	}
	if isText && textsOnly {
		if n, err := strconv.ParseInt(written, 10, 64); err == nil && strconv.FormatInt(n, 10) == written {
			readings = append(readings, written)
		}
	}
	for _, reading := range readings {
		decoded, err := decode([]byte(reading))
		if err == nil && g.schemas.check(schema, decoded) == nil {
			return true
		}
	}
	return false
}
