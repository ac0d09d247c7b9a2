package archive

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"maps"
)

// What can be wrong with a file, each a sentence about it.
var (
	errEmpty   = errors.New("it is empty")
	errForeign = errors.New("it is not a Sightline backup")
	errCut     = errors.New("it is incomplete: its end is missing")
	errDamaged = errors.New("it is damaged: its checksum is wrong")
	errCounts  = errors.New("it is damaged: it does not hold as many rows as it says")
	errMore    = errors.New("it does not end as a backup ends: its last bytes are wrong, or others follow")
)

// longestLine bounds what a file can make the program keep in memory.
const longestLine = 16 << 20

// A Reader reads what Write wrote.
type Reader struct {
	Head  Header
	plain *bufio.Reader
	text  []byte // of the line
	sum   hash.Hash
}

// NewReader reads the header of a file. Its errors, and those of its rows, are sentences about the file, unless reading
// itself fails.
func NewReader(r io.Reader) (*Reader, error) {
	plain, err := gzip.NewReader(bufio.NewReaderSize(r, 64<<10))
	if errors.Is(err, io.EOF) {
		return nil, errEmpty
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errForeign
	}
	if err != nil {
		return nil, err
	}
	reader := &Reader{plain: bufio.NewReaderSize(plain, 64<<10), sum: sha256.New()}
	line, err := reader.line()
	if errors.Is(err, io.EOF) || errors.Is(err, errRow) {
		return nil, errForeign
	}
	if err != nil {
		return nil, err
	}
	var first headLine
	if json.Unmarshal(line, &first) != nil || first.Head == nil || first.Head.Format < 1 {
		return nil, errForeign
	}
	reader.Head = *first.Head
	if reader.Head.Format > Format {
		return nil, fmt.Errorf("it was written by a newer Sightline (%s, backup format %d, this one knows %d): use that version or a newer one",
			reader.Head.Version, reader.Head.Format, Format)
	}
	reader.add(line)
	return reader, nil
}

// line reads the next line; io.EOF means that there is none. It is good until the next call.
func (r *Reader) line() ([]byte, error) {
	r.text = r.text[:0]
	for {
		part, err := r.plain.ReadSlice('\n')
		r.text = append(r.text, part...)
		switch {
		case err == nil:
			return r.text[:len(r.text)-1], nil
		case errors.Is(err, io.EOF) && len(r.text) > 0:
			return r.text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, explain(err)
		case len(r.text) > longestLine:
			return nil, errRow
		}
	}
}

// explain says what a failure to decompress means.
func explain(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt):
		return errDamaged
	}
	return err
}

// add counts a line into the checksum.
func (r *Reader) add(line []byte) {
	r.sum.Write(line)
	r.sum.Write([]byte{'\n'})
}

// Rows reads the rows, once. The iterator ends without an error only when the file is whole: its checksum, its counts and
// its end are right.
func (r *Reader) Rows() iter.Seq2[Row, error] {
	return Rows(func(emit func(Row) error) error {
		counts := Counts{}
		for {
			line, err := r.line()
			if errors.Is(err, io.EOF) {
				return errCut
			}
			if err != nil {
				return err
			}
			name, text, err := split(line)
			if err != nil {
				return err
			}
			if name == endName {
				return r.end(text, counts)
			}
			r.add(line)
			row, err := parseRow(name, text)
			if err == nil {
				counts[name]++
				err = emit(row)
			}
			if err != nil {
				return err
			}
		}
	})
}

// split takes the one name and its value out of a line.
func split(line []byte) (string, json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) == nil && len(fields) == 1 {
		for name, text := range fields {
			return name, text, nil
		}
	}
	return "", nil, errRow
}

// end checks the trailer, and that nothing follows.
func (r *Reader) end(text json.RawMessage, counts Counts) error {
	var end trailer
	if json.Unmarshal(text, &end) != nil {
		return errRow
	}
	if end.SHA256 != hex.EncodeToString(r.sum.Sum(nil)) {
		return errDamaged
	}
	if !maps.Equal(end.Counts, counts) {
		return errCounts
	}
	_, err := r.line()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil || errors.Is(err, errCut) || errors.Is(err, errDamaged) || errors.Is(err, errRow):
		return errMore
	}
	return err
}

// Verify reads a whole file and says what is in it, or what is wrong with it.
func Verify(ctx context.Context, r io.Reader) (Header, Counts, error) {
	reader, err := NewReader(r)
	if err != nil {
		return Header{}, nil, err
	}
	counts := Counts{}
	for row, err := range reader.Rows() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return reader.Head, nil, err
		}
		counts[row.Table.Name]++
	}
	return reader.Head, counts, nil
}
