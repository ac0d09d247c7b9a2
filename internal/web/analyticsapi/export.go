package analyticsapi

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sightline/internal/web/apikit"
)

var exportQuery = []string{"format", "from", "to", "timezone"}

// exportTime is the longest that an export may take.
const exportTime = 6 * time.Hour

// A format is how events are written into a file.
type format struct {
	kind  string
	write func(io.Writer) (each func(*line) error, end func() error)
}

var formats = map[string]format{
	"csv":    {"text/csv; charset=utf-8", writeCSV},
	"ndjson": {"application/x-ndjson; charset=utf-8", writeLines},
}

// export serves GET /api/v1/websites/{id}/export: the events of a website, written as they are read.
func (a *API) export(w http.ResponseWriter, r *http.Request) error {
	site, err := a.counted(r)
	if err != nil {
		return err
	}
	query := apikit.CallOf(r).Query
	name, sent := query.Choice("format", []string{"csv", "ndjson"}, "must be csv or ndjson")
	if !sent {
		name = "csv"
	}
	from, to, err := a.exported(r, query)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", formats[name].kind)
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="website-%d.%s"`, site.ID, name))
	header.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	stream := apikit.NewStream(w)
	each, end := formats[name].write(stream)
	for event, wrong := range a.Events.Events(r.Context(), site.ID, from, to) {
		if err = wrong; err == nil {
			err = each(newLine(event))
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = end()
	}
	if err = stream.End(err); err != nil {
		header.Del("Content-Disposition")
	}
	return err
}

// exported is the range of an export: everything, unless from or to is sent.
func (a *API) exported(r *http.Request, query apikit.Fields) (from, to time.Time, err error) {
	zone, err := a.zone(r, query)
	if err != nil {
		return from, to, err
	}
	days := readPeriod(query, zone, a.Now())
	from, to = days.start(), days.end()
	if query.Text("from") == "" {
		from = time.Unix(0, 0)
		if query.Text("to") == "" {
			to = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
		}
	}
	return from, to, query.Bad.OrNil()
}

// writeLines writes one JSON object in each line.
func writeLines(w io.Writer) (each func(*line) error, end func() error) {
	var buffer bytes.Buffer
	each = func(l *line) error {
		buffer.Reset()
		if err := l.writeTo(&buffer); err != nil {
			return err
		}
		_, err := w.Write(buffer.Bytes())
		return err
	}
	return each, func() error { return nil }
}

// writeCSV writes a heading and a row for each event.
func writeCSV(w io.Writer) (each func(*line) error, end func() error) {
	table := csv.NewWriter(w)
	cells := lineFields()
	headed := table.Write(cells)
	each = func(l *line) error {
		for i, column := range columns {
			var err error
			if cells[i], err = cell(column.in(l)); err != nil {
				return err
			}
		}
		return table.Write(cells)
	}
	return each, func() error {
		table.Flush()
		if headed != nil {
			return headed
		}
		return table.Error()
	}
}

// cell is a value in a table. Properties are one cell of JSON.
func cell(value any) (string, error) {
	if isEmpty(value) {
		return "", nil
	}
	switch v := value.(type) {
	case *string:
		return safe(*v), nil
	case *float64:
		return strconv.FormatFloat(*v, 'f', -1, 64), nil
	case *int64:
		return strconv.FormatInt(*v, 10), nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// formulaStarts begin what spreadsheets take for a formula, in some language at least.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// safe puts a ' before text that a spreadsheet would run as a formula.
func safe(text string) string {
	if strings.IndexAny(text, formulaStarts) == 0 {
		return "'" + text
	}
	return text
}
