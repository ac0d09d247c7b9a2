package archive

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"time"
)

// Format is the version of the file that Write makes. A Reader takes it and all before it.
const Format = 2

// A Header says what a file is. It is its first line.
type Header struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program that wrote it
	Engine  string    `json:"engine"`  // that the rows come from
	Time    time.Time `json:"time"`
}

// A headLine is the first line of a file.
type headLine struct {
	Head *Header `json:"sightline_backup"`
}

// A trailer is the last line of a file, so that a part of a file is never taken for the whole.
type trailer struct {
	Counts Counts `json:"counts"`
	SHA256 string `json:"sha256"` // of all lines before
}

// endName is what the trailer has where rows have the name of their table.
const endName = "end"

// Write makes a file of rows, compressed lines of JSON, and says how many there were. It sets the header's format.
func Write(w io.Writer, head Header, rows iter.Seq2[Row, error]) (Counts, error) {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestSpeed) // a quick dump is in nobody's way
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(zipped, sum), 64<<10)
	head.Format = Format
	if err := writeJSON(out, headLine{&head}); err != nil {
		return nil, err
	}
	counts := Counts{}
	var line []byte
	for row, err := range rows {
		if err == nil {
			line, err = appendLine(line[:0], row)
		}
		if err == nil {
			_, err = out.Write(line)
		}
		if err != nil {
			return nil, err
		}
		counts[row.Table.Name]++
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	end := trailer{counts, hex.EncodeToString(sum.Sum(nil))}
	if err := writeJSON(zipped, map[string]trailer{endName: end}); err != nil {
		return nil, err
	}
	return counts, zipped.Close()
}

func writeJSON(w io.Writer, value any) error {
	line, err := json.Marshal(value)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}
