package apikit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sightline/internal/fault"
)

// The largest body of lines, and the longest line, in bytes.
const (
	MaxLinesBody = 4 << 20
	MaxLine      = 1 << 20
)

// linesTypes are what callers name lines of JSON; none of them is registered.
var linesTypes = []string{"application/x-ndjson", "application/ndjson", "application/jsonl"}

// checkLines refuses a body that cannot be lines of JSON before it is read.
func checkLines(r *http.Request) error {
	if r.ContentLength > MaxLinesBody {
		return errTooLarge(MaxLinesBody)
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.ContentLength != 0 && !slices.Contains(linesTypes, strings.ToLower(strings.TrimSpace(kind))) {
		return refuse(http.StatusUnsupportedMediaType, "Send the body as "+linesTypes[0]+": one JSON object in each line.")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return refuse(http.StatusUnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	return nil
}

// Lines reads the lines of a body, numbered from 1, but for the empty ones. A line is only good until the next one. An error
// from take ends it.
func Lines(w http.ResponseWriter, r *http.Request, take func(number int, line []byte) error) error {
	scanner := bufio.NewScanner(http.MaxBytesReader(w, r.Body, MaxLinesBody))
	scanner.Buffer(nil, MaxLine)
	number := 0
	for scanner.Scan() {
		number++
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := take(number, line); err != nil {
			return err
		}
	}
	err := scanner.Err()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge(MaxLinesBody)
	case errors.Is(err, bufio.ErrTooLong):
		return fault.Field(fmt.Sprintf("%d.line", number+1), fmt.Sprintf("must be at most %d KiB", MaxLine>>10))
	case err != nil:
		return refuse(http.StatusBadRequest, "The body could not be read in full.")
	}
	return nil
}

// extend gives a request more time than others have, for its body and its answer.
func extend(w http.ResponseWriter, d time.Duration) error {
	control, end := http.NewResponseController(w), time.Now().Add(d)
	return errors.Join(supported(control.SetReadDeadline(end)), supported(control.SetWriteDeadline(end)))
}

// supported forgives a connection that has no deadlines, and so none that would come too early.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// A Stream is an answer that is written as it is made: of any length, in little memory. A caller who does not read for a while
// is cut off.
type Stream struct {
	buffer  *bufio.Writer
	control *http.ResponseController
	begun   bool
}

// How much of a stream is sent at once, and how long the caller may take to read that.
const (
	streamChunk = 64 << 10
	streamTime  = 30 * time.Second
)

// NewStream begins a stream. Its headers are already set.
func NewStream(w http.ResponseWriter) *Stream {
	s := &Stream{control: http.NewResponseController(w)}
	s.buffer = bufio.NewWriterSize(&chunks{s, w}, streamChunk)
	return s
}

// Write implements io.Writer.
func (s *Stream) Write(data []byte) (int, error) { return s.buffer.Write(data) }

// End sends what is left, or tells what went wrong: to the caller when nothing was sent yet, else to the log.
func (s *Stream) End(err error) error {
	if err == nil {
		err = s.buffer.Flush()
	}
	if err != nil && s.begun {
		return &CutOff{err}
	}
	return err
}

// chunks sends a stream piece by piece.
type chunks struct {
	stream *Stream
	w      http.ResponseWriter
}

// Write implements io.Writer.
func (c *chunks) Write(data []byte) (int, error) {
	if err := supported(c.stream.control.SetWriteDeadline(time.Now().Add(streamTime))); err != nil {
		return 0, err
	}
	c.stream.begun = true
	n, err := c.w.Write(data)
	if err == nil {
		err = supported(c.stream.control.Flush())
	}
	return n, err
}
