package analyticsapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/web/apikit"
)

// A line is an event as files carry it.
type line struct {
	analytics.Event
	at, visitor, visit, kind string
	engagement, depth        int64 // milliseconds and percent
}

// A column is a field of a line, with where it lies.
type column struct {
	name string
	in   func(l *line) any
}

// columns are all of them in their order.
var columns = []column{
	{"at", func(l *line) any { return &l.at }},
	{"kind", func(l *line) any { return &l.kind }},
	{"name", func(l *line) any { return &l.Name }},
	{"page", func(l *line) any { return &l.Page }},
	{"hostname", func(l *line) any { return &l.Hostname }},
	{"visitor", func(l *line) any { return &l.visitor }},
	{"visit", func(l *line) any { return &l.visit }},
	{"referrer", func(l *line) any { return &l.Referrer }},
	{"source", func(l *line) any { return &l.Source }},
	{"channel", func(l *line) any { return &l.Channel }},
	{"utm_source", func(l *line) any { return &l.UTMSource }},
	{"utm_medium", func(l *line) any { return &l.UTMMedium }},
	{"utm_campaign", func(l *line) any { return &l.UTMCampaign }},
	{"utm_content", func(l *line) any { return &l.UTMContent }},
	{"utm_term", func(l *line) any { return &l.UTMTerm }},
	{"country", func(l *line) any { return &l.Country }},
	{"region", func(l *line) any { return &l.Region }},
	{"city", func(l *line) any { return &l.City }},
	{"language", func(l *line) any { return &l.Language }},
	{"browser", func(l *line) any { return &l.Browser }},
	{"browser_version", func(l *line) any { return &l.BrowserVersion }},
	{"os", func(l *line) any { return &l.OS }},
	{"os_version", func(l *line) any { return &l.OSVersion }},
	{"device", func(l *line) any { return &l.Device }},
	{"screen", func(l *line) any { return &l.Screen }},
	{"value", func(l *line) any { return &l.Value }},
	{"unit", func(l *line) any { return &l.Unit }},
	{"props", func(l *line) any { return &l.Props }},
	{"engagement_ms", func(l *line) any { return &l.engagement }},
	{"scroll_depth", func(l *line) any { return &l.depth }},
}

func lineFields() []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.name
	}
	return names
}

var kindNames = map[analytics.Kind]string{analytics.PageView: "pageview", analytics.Custom: "event", analytics.Engagement: "engagement"}

const timeForm = "2006-01-02T15:04:05.000Z07:00"

// newLine is the line of an event.
func newLine(e analytics.Event) *line {
	return &line{Event: e, at: e.At.UTC().Format(timeForm), visitor: fmt.Sprintf("%016x", e.Visitor), visit: fmt.Sprintf("%016x", e.Visit),
		kind: kindNames[e.Kind], engagement: e.Engagement.Milliseconds(), depth: int64(e.Depth)}
}

// writeTo writes a line as JSON, without what is empty.
func (l *line) writeTo(buffer *bytes.Buffer) error {
	before := byte('{')
	for _, column := range columns {
		value := column.in(l)
		if isEmpty(value) {
			continue
		}
		buffer.WriteByte(before)
		buffer.WriteString(`"` + column.name + `":`)
		if err := writeValue(buffer, value); err != nil {
			return err
		}
		before = ','
	}
	buffer.WriteString("}\n")
	return nil
}

// writeValue writes one value as JSON: plain text, which most of it is, without a detour.
func writeValue(buffer *bytes.Buffer, value any) error {
	if text, ok := value.(*string); ok && isPlain(*text) {
		buffer.WriteByte('"')
		buffer.WriteString(*text)
		buffer.WriteByte('"')
		return nil
	}
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	buffer.Truncate(buffer.Len() - 1) // the line break
	return nil
}

// isPlain says that a text is the same in JSON.
func isPlain(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case *string:
		return *v == ""
	case *float64:
		return *v == 0
	case *int64:
		return *v == 0
	case *map[string]string:
		return len(*v) == 0
	}
	return false
}

var errObject = errors.New("is not one JSON object")

// parseLine reads and checks a line. What is wrong stands in the error, field by field.
func parseLine(text []byte, now time.Time) (analytics.Event, error) {
	l, bad := &line{}, fault.Invalid{}
	if err := l.read(text, bad); err != nil {
		return analytics.Event{}, fault.Field("line", err.Error())
	}
	l.check(bad, now)
	return l.Event, bad.OrNil()
}

// read reads the fields of a line.
func (l *line) read(text []byte, bad fault.Invalid) error {
	if err := apikit.CheckJSON(text); err != nil {
		return err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' || !json.Valid(text) {
		return errObject
	}
	var seen [64]bool
	for name, value := range members(text) {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == string(name) })
		switch {
		case i < 0:
			return fmt.Errorf("has the field %q, which no event has", shortened(string(name)))
		case seen[i]:
			bad[columns[i].name] = []string{"must be there once"}
		case readValue(value, columns[i].in(l)) != nil:
			bad[columns[i].name] = []string{typeWords(columns[i].in(l))}
		}
		seen[i] = true
	}
	return nil
}

// members lists the names and values of a JSON object, as they are written. The text must be valid JSON.
func members(text []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for at := 1; ; {
			at = skip(text, at)
			if text[at] == '}' {
				return
			}
			end := valueEnd(text, at)
			name := text[at+1 : end-1]
			at = skip(text, end)
			end = valueEnd(text, at)
			if !yield(name, text[at:end]) {
				return
			}
			at = end
		}
	}
}

// skip is where the next name or value begins, or the object ends.
func skip(text []byte, at int) int {
	for bytes.IndexByte([]byte(" \t\r\n,:"), text[at]) >= 0 {
		at++
	}
	return at
}

// valueEnd is where the value ends that begins at a place in valid JSON.
func valueEnd(text []byte, at int) int {
	depth := 0
	for ; ; at++ {
		switch c := text[at]; {
		case c == '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1
			}
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			if depth--; depth == 0 {
				return at + 1
			}
		case depth == 0 && bytes.IndexByte([]byte(" \t\r\n,}"), c) >= 0:
			return at
		}
	}
}

// readValue reads a value: plain text, which most of it is, without a detour.
func readValue(raw []byte, into any) error {
	if text, ok := into.(*string); ok && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		*text = string(raw[1 : len(raw)-1])
		return nil
	}
	return json.Unmarshal(raw, into)
}

func shortened(name string) string {
	if runes := []rune(name); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return name
}

func typeWords(value any) string {
	switch value.(type) {
	case *string:
		return "must be text"
	case *map[string]string:
		return "must be an object of texts"
	case *int64:
		return "must be an integer"
	}
	return "must be a number"
}

// check turns what was read into the event, and says what is wrong.
func (l *line) check(bad fault.Invalid, now time.Time) {
	at, err := time.Parse(time.RFC3339, l.at)
	if err != nil || at.Year() < 1970 || at.After(now.Add(24*time.Hour)) {
		add(bad, "at", "must be a time such as 2026-11-14T09:30:00.000Z, from 1970 on and not in the future")
	}
	l.At = at.UTC().Truncate(time.Millisecond)
	l.Visitor, l.Visit = hash(bad, "visitor", l.visitor), hash(bad, "visit", l.visit)
	for kind, name := range kindNames {
		if name == l.kind {
			l.Kind = kind
		}
	}
	if l.Kind == 0 {
		add(bad, "kind", "must be pageview, event or engagement")
	}
	if l.Kind == analytics.Custom && l.Name == "" {
		add(bad, "name", "is required of an event")
	}
	for _, column := range columns {
		if text, ok := column.in(l).(*string); ok && len(*text) > analytics.MaxText {
			add(bad, column.name, fmt.Sprintf("must be at most %d bytes", analytics.MaxText))
		}
	}
	if l.Country != "" && (len(l.Country) != 2 || strings.Trim(l.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		add(bad, "country", "must be two capital letters")
	}
	if devices := []string{"", analytics.Desktop, analytics.Mobile, analytics.Tablet, analytics.TV, analytics.Bot}; !slices.Contains(devices, l.Device) {
		add(bad, "device", "must be one of "+strings.Join(devices[1:], ", "))
	}
	if l.engagement < 0 || l.engagement > (24*time.Hour).Milliseconds() {
		add(bad, "engagement_ms", "must be 0 to 86400000")
	}
	if l.depth < 0 || l.depth > 100 {
		add(bad, "scroll_depth", "must be 0 to 100")
	}
	l.Engagement, l.Depth = time.Duration(l.engagement)*time.Millisecond, uint8(l.depth)
	l.checkProps(bad)
}

func (l *line) checkProps(bad fault.Invalid) {
	if len(l.Props) > analytics.MaxProps {
		add(bad, "props", fmt.Sprintf("must be at most %d", analytics.MaxProps))
	}
	for name, value := range l.Props {
		if name == "" || value == "" || len(name) > analytics.MaxPropName || len(value) > analytics.MaxPropValue {
			add(bad, "props", fmt.Sprintf("must have names of 1 to %d bytes and values of 1 to %d", analytics.MaxPropName, analytics.MaxPropValue))
			break
		}
	}
	if len(l.Props) == 0 {
		l.Props = nil
	}
}

// add says what is wrong with a field of which nothing is said yet.
func add(bad fault.Invalid, name, words string) {
	if len(bad[name]) == 0 {
		bad.Add(name, words)
	}
}

// hash reads the hash of a visitor or a visit.
func hash(bad fault.Invalid, name, text string) uint64 {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		add(bad, name, "must be 16 hexadecimal digits")
	}
	return n
}
