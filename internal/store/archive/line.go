package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// appendLine writes a row as a line of JSON: {"websites":{"id":7,…}}.
func appendLine(line []byte, row Row) ([]byte, error) {
	line = append(line, `{"`+row.Table.Name+`":{`...)
	for i, column := range row.Table.Columns {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, `"`+column.Name+`":`...)
		value := row.Values[i]
		if text, ok := value.(string); ok && column.Kind == JSON {
			value = json.RawMessage(text)
		} else if ok && !utf8.ValidString(text) {
			return nil, fmt.Errorf("a row of %s holds text in %s that is not UTF-8 and would be lost: %v", row.Table.Name, column.Name, row.Values[0])
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("a row of %s: %w", row.Table.Name, err)
		}
		line = append(line, encoded...)
	}
	return append(line, "}}\n"...), nil
}

// errRow is the answer to a row that this program would not have written.
var errRow = errors.New("it is damaged: a line in it makes no sense")

// parseRow reads what appendLine wrote: the name of a table and what its row holds.
func parseRow(name string, text json.RawMessage) (Row, error) {
	row := Row{Table: tableOf(name)}
	var fields map[string]json.RawMessage
	if row.Table == nil || json.Unmarshal(text, &fields) != nil || len(fields) != len(row.Table.Columns) {
		return row, errRow
	}
	row.Values = make([]any, len(row.Table.Columns))
	for i, column := range row.Table.Columns {
		field, present := fields[column.Name]
		if !present {
			return row, errRow
		}
		value, err := parseValue(column, field)
		if err != nil {
			return row, err
		}
		row.Values[i] = value
	}
	return row, nil
}

func parseValue(column Column, field json.RawMessage) (any, error) {
	if string(field) == "null" {
		if !column.Optional {
			return nil, errRow
		}
		return nil, nil
	}
	switch column.Kind {
	case Integer:
		return parseAs[int64](field)
	case Text:
		return parseAs[string](field)
	case Bytes:
		return parseAs[[]byte](field)
	case Bool:
		return parseAs[bool](field)
	case Time, Instant:
		return parseAs[time.Time](field)
	default: // JSON
		value, err := Canonical(string(field))
		if err != nil {
			return nil, errRow
		}
		return value, nil
	}
}

func parseAs[T any](field json.RawMessage) (any, error) {
	var value T
	if json.Unmarshal(field, &value) != nil {
		return nil, errRow
	}
	return value, nil
}
