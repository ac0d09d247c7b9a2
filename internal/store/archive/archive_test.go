package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sightline/internal/store/archive"
)

var moment = time.Date(2026, 11, 14, 9, 30, 0, 123456000, time.UTC)

// sample is a row of each table, with text that JSON may stumble over.
func sample() []archive.Row {
	values := map[archive.Kind]any{
		archive.Integer: int64(1) << 60, archive.Text: "a\"b\\c\n<é>\u2028 日本", archive.Bytes: []byte{0, 1, 255}, archive.Bool: true,
		archive.Time: moment, archive.Instant: moment, archive.JSON: `{"A":"b"}`,
	}
	var rows []archive.Row
	for _, table := range append(archive.Tables[:len(archive.Tables):len(archive.Tables)], archive.Counters) {
		full, bare := archive.Row{Table: table}, archive.Row{Table: table}
		for _, column := range table.Columns {
			full.Values = append(full.Values, values[column.Kind])
			if column.Optional {
				bare.Values = append(bare.Values, nil)
			} else {
				bare.Values = append(bare.Values, values[column.Kind])
			}
		}
		rows = append(rows, full, bare)
	}
	return rows
}

func each(rows []archive.Row) iter.Seq2[archive.Row, error] {
	return func(yield func(archive.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// write makes a file of rows.
func write(t testing.TB, rows []archive.Row) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := archive.Write(&file, archive.Header{Version: "v1", Engine: "sqlite", Time: moment}, each(rows)); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// read takes a file apart.
func read(file []byte) ([]archive.Row, error) {
	reader, err := archive.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var rows []archive.Row
	for row, err := range reader.Rows() {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func zip(text string) []byte {
	var file bytes.Buffer
	zipped := gzip.NewWriter(&file)
	io.WriteString(zipped, text)
	zipped.Close()
	return file.Bytes()
}

func unzip(t testing.TB, file []byte) string {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	got, err := read(write(t, want))
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *archive.Table) bool { return a == b })); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	head, counts, err := archive.Verify(t.Context(), bytes.NewReader(write(t, want)))
	if err != nil || head != (archive.Header{Format: 2, Version: "v1", Engine: "sqlite", Time: moment}) || counts["websites"] != 2 || counts.Sum() != len(want)-2 {
		t.Errorf("%+v %v %v", head, counts, err)
	}
}

// Each wrong file is named in one clear sentence.
func TestBadFiles(t *testing.T) {
	file := write(t, sample())
	text := unzip(t, file)
	lines := strings.SplitAfter(text, "\n")
	head, end := lines[0], lines[len(lines)-2]
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                        {nil, "it is empty"},
		"not gzip":                     {[]byte("SQLite format 3\x00 and so on"), "it is not a Sightline backup"},
		"a few bytes":                  {file[:5], "it is not a Sightline backup"},
		"gzip of nothing":              {zip(""), "it is not a Sightline backup"},
		"gzip of text":                 {zip("Dear diary,\n"), "it is not a Sightline backup"},
		"gzip of one endless line":     {zip(strings.Repeat(" ", 17<<20)), "it is not a Sightline backup"},
		"other JSON":                   {zip(`{"sightline":1}` + "\n" + `{"end":{}}` + "\n"), "it is not a Sightline backup"},
		"JSON without a format":        {zip(`{"sightline_backup":{"version":"v1"}}` + "\n"), "it is not a Sightline backup"},
		"newer":                        {zip(strings.Replace(text, `"format":2`, `"format":3`, 1)), "it was written by a newer Sightline (v1, backup format 3, this one knows 2): use that version or a newer one"},
		"half":                         {file[:len(file)/2], "it is incomplete: its end is missing"},
		"without its last byte":        {file[:len(file)-1], "it does not end as a backup ends: its last bytes are wrong, or others follow"},
		"without its trailer":          {zip(strings.TrimSuffix(text, end)), "it is incomplete: its end is missing"},
		"the header alone":             {zip(head), "it is incomplete: its end is missing"},
		"a row changed":                {zip(strings.Replace(text, `"privacy":1152921504606846976`, `"privacy":2`, 1)), "it is damaged: its checksum is wrong"},
		"a row missing":                {zip(strings.Replace(text, lines[3], "", 1)), "it is damaged: its checksum is wrong"},
		"a row twice":                  {zip(strings.Replace(text, lines[3], lines[3]+lines[3], 1)), "it is damaged: its checksum is wrong"},
		"the header changed":           {zip(strings.Replace(text, `"version":"v1"`, `"version":"v2"`, 1)), "it is damaged: its checksum is wrong"},
		"other counts":                 {zip(strings.Replace(text, `"keys":2`, `"keys":3`, 1)), "it is damaged: it does not hold as many rows as it says"},
		"an unknown table":             {zip(head + `{"cats":{"id":1}}` + "\n" + end), "it is damaged: a line in it makes no sense"},
		"a column missing":             {zip(head + `{"clock":{"job":"x"}}` + "\n" + end), "it is damaged: a line in it makes no sense"},
		"a column of another name":     {zip(head + `{"clock":{"job":"x","ran":"2026-11-14T09:30:00Z"}}` + "\n" + end), "it is damaged: a line in it makes no sense"},
		"null where a value must be":   {zip(head + `{"clock":{"job":null,"ran_at":"2026-11-14T09:30:00Z"}}` + "\n" + end), "it is damaged: a line in it makes no sense"},
		"a value of another type":      {zip(head + `{"clock":{"job":7,"ran_at":"2026-11-14T09:30:00Z"}}` + "\n" + end), "it is damaged: a line in it makes no sense"},
		"an endless row":               {zip(head + strings.Repeat(" ", 17<<20)), "it is damaged: a line in it makes no sense"},
		"text after the end":           {zip(text + "more\n"), "it does not end as a backup ends: its last bytes are wrong, or others follow"},
		"another backup after the end": {append(bytes.Clone(file), file...), "it does not end as a backup ends: its last bytes are wrong, or others follow"},
		"bytes after the end":          {append(bytes.Clone(file), "more bytes than a header has"...), "it does not end as a backup ends: its last bytes are wrong, or others follow"},
		"zeros after the end":          {append(bytes.Clone(file), make([]byte, 512)...), "it does not end as a backup ends: its last bytes are wrong, or others follow"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(test.file); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// A file cut off anywhere is refused, and one with any byte flipped is refused or holds the same.
func TestEveryByteCounts(t *testing.T) {
	rows := sample()
	file := write(t, rows)
	for i := range file {
		if _, err := read(file[:i]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for the whole", i, len(file))
		}
		flipped := bytes.Clone(file)
		flipped[i] ^= 0x10
		if got, err := read(flipped); err == nil && !cmp.Equal(rows, got, cmp.Comparer(func(a, b *archive.Table) bool { return a == b })) {
			t.Fatalf("byte %d of %d can be flipped without notice", i, len(file))
		}
	}
}

func TestWriteFails(t *testing.T) {
	broken := errors.New("broken")
	rows := func(yield func(archive.Row, error) bool) {
		if yield(sample()[0], nil) {
			yield(archive.Row{}, broken)
		}
	}
	if _, err := archive.Write(io.Discard, archive.Header{}, rows); !errors.Is(err, broken) {
		t.Errorf("rows that end in an error: %v", err)
	}
	bad := sample()[:1]
	bad[0].Values[1] = "\xff"
	if _, err := archive.Write(io.Discard, archive.Header{}, each(bad)); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("text that is not UTF-8: %v", err)
	}
}

func TestVerifyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := archive.Verify(ctx, bytes.NewReader(write(t, sample()))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCounts(t *testing.T) {
	counts := archive.Counts{"accounts": 1, "keys": 2, "websites": 30, "receipts": 5, "counters": 4}
	if text := counts.String(); text != "1 account, 2 keys, 30 websites, 0 projects and 0 reports" {
		t.Error(text)
	}
	if counts.Sum() != 38 {
		t.Errorf("sum %d", counts.Sum())
	}
	err := counts.Check(archive.Counts{"accounts": 1, "keys": 2, "websites": 29, "receipts": 5})
	if err == nil || err.Error() != "the counts differ: 29 of 30 websites arrived" {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(unzip(f, write(f, sample())))
	f.Add(`{"sightline_backup":{"format":1}}` + "\n" + `{"clock":{"job":"x","ran_at":"2026-11-14T09:30:00Z"}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := read(zip(text))
		if err != nil {
			return
		}
		again, err := read(write(t, rows))
		if err != nil || len(again) != len(rows) {
			t.Errorf("%d rows became %d: %v", len(rows), len(again), err)
		}
	})
}
