package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sightline/client"
)

// ImportCmd is sightline import.
type ImportCmd struct {
	RemoteFlags
	ID       int64  `arg:"" help:"The website's number in sightline websites list."`
	File     string `arg:"" help:"A file that sightline export --format ndjson wrote, or one like it; - for standard input."`
	FromLine int    `default:"1" placeholder:"N" help:"Leave out the lines before this one."`
}

// Run stores the events of a file, piece by piece.
func (c *ImportCmd) Run(ctx context.Context, term *terminal) error {
	file, size, err := c.open(term)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		run := &importing{api: api, website: c.ID, progress: newProgress(term, "imported", int(size>>10))}
		run.progress.unit = "KiB"
		err := run.all(ctx, &lineReader{reader: bufio.NewReaderSize(file, 64<<10)}, c.FromLine)
		if size > 0 {
			run.progress.end()
		}
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(term.stdout, run.sum)
		}
		_, err = fmt.Fprintf(term.stdout, "%d events are stored, %d were there already.\n", run.sum.Stored, run.sum.Known)
		return err
	})
}

// open opens the file; its size is 0 when that is not known.
func (c *ImportCmd) open(term *terminal) (io.ReadCloser, int64, error) {
	if c.File == "-" {
		return io.NopCloser(term.stdin), 0, nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read %s: %w", c.File, pathCause(err))
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory")
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("cannot read %s: %w", c.File, pathCause(err)), file.Close())
	}
	return file, info.Size(), nil
}

// importing is an import under way.
type importing struct {
	api      *client.Client
	website  int64
	progress *progress
	sum      client.Imported
	piece    bytes.Buffer
	first    int // number of the piece's first line
	last     string
}

// pieceSize is how large a piece is, or somewhat larger: it does not end between events of the same moment, so that the server
// sees those that are equal together and can count them.
const pieceSize = client.MaxImport / 2

// all sends line after line from one on.
func (i *importing) all(ctx context.Context, lines *lineReader, from int) error {
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return i.send(ctx, lines)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", lines.number, err)
		}
		if lines.number < from {
			continue
		}
		var event struct {
			At string `json:"at"`
		}
		_ = json.Unmarshal(line, &event) // what is wrong with a line is for the server to say
		full := i.piece.Len() >= pieceSize && event.At != i.last || i.piece.Len()+len(line) > client.MaxImport
		if full {
			if err := i.send(ctx, lines); err != nil {
				return err
			}
		}
		if i.piece.Len() == 0 {
			i.first = lines.number
		}
		i.last = event.At
		i.piece.Write(line)
	}
}

// send sends what has gathered.
func (i *importing) send(ctx context.Context, lines *lineReader) error {
	if i.piece.Len() == 0 {
		return nil
	}
	done, err := i.api.ImportLines(ctx, i.website, i.piece.Bytes())
	if err != nil {
		return i.worded(err)
	}
	i.sum.Stored += done.Stored
	i.sum.Known += done.Known
	i.piece.Reset()
	if i.progress.total > 0 {
		i.progress.reach(int(lines.read >> 10))
	}
	return nil
}

// worded says which lines are bad, by their numbers in the file, and how to go on.
func (i *importing) worded(err error) error {
	text := ""
	var refused *client.Error
	if errors.As(err, &refused) && len(refused.Fields) > 0 {
		var parts []string
		for _, name := range refused.FieldNames()[:min(len(refused.Fields), 5)] {
			line, field := client.EntryField(name)
			parts = append(parts, fmt.Sprintf("line %d: %s %s", i.first+line-1, field, strings.Join(refused.Fields[name], ", ")))
		}
		text = printable(strings.Join(parts, "; "))
	}
	if i.first > 1 {
		then := fmt.Sprintf("the lines before %d are stored, go on with --from-line %[1]d", i.first)
		if text == "" {
			return fmt.Errorf("website %d: %w (%s)", i.website, err, then)
		}
		text += " (" + then + ")"
	}
	if text == "" {
		return fmt.Errorf("website %d: %w", i.website, err)
	}
	return errors.New(text)
}

// A lineReader reads lines of a bounded length and counts them.
type lineReader struct {
	reader *bufio.Reader
	number int
	read   int64
	line   []byte
}

// longestLine is the longest line that the server takes.
const longestLine = 1 << 20

// next is the next line with a line break; io.EOF after the last.
func (r *lineReader) next() ([]byte, error) {
	r.line = r.line[:0]
	r.number++
	for {
		part, err := r.reader.ReadSlice('\n')
		r.read += int64(len(part))
		r.line = append(r.line, part...)
		switch {
		case len(r.line) > longestLine:
			return nil, fmt.Errorf("is longer than %d KiB", longestLine>>10)
		case errors.Is(err, io.EOF) && len(r.line) > 0:
			return append(r.line, '\n'), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return r.line, err
		}
	}
}
