package guard

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
)

// wireSlack is how much longer than the limit a compressed body may be before it is decoded.
const wireSlack = 64 << 10

var (
	errTooLarge = errors.New("the body is larger than the limit")
	errEncoding = errors.New("the body has an encoding that was not asked for")
)

// A body is decoded and bounded: both what comes out of it and what goes in.
type body struct {
	wire   wire
	plain  io.Reader // decoded
	zipped *gzip.Reader
	left   int64 // bytes that may still come out; negative when there were more
	size   int64
	err    error // the first, other than the end
}

// wire counts what the server sends.
type wire struct {
	from  io.Reader
	count int64
	most  int64
	err   error
}

// Read implements io.Reader.
func (w *wire) Read(p []byte) (int, error) {
	if w.count > w.most {
		w.err = errTooLarge
		return 0, w.err
	}
	n, err := w.from.Read(p)
	w.count += int64(n)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

var zipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

func newBody(response *http.Response, limit int64) *body {
	b := &body{wire: wire{from: response.Body, most: limit + wireSlack}, left: limit}
	switch strings.ToLower(strings.TrimSpace(response.Header.Get("Content-Encoding"))) {
	case "", "identity":
		b.plain = &b.wire
	case "gzip", "x-gzip":
		b.zipped = zipReaders.Get().(*gzip.Reader)
		if err := b.zipped.Reset(&b.wire); err != nil && err != io.EOF {
			b.err = err
		} else if err == nil {
			b.plain = b.zipped
		}
	default:
		b.err = errEncoding
	}
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.plain == nil: // announced as compressed, but empty
		return 0, io.EOF
	}
	n, err := b.plain.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n += int(b.left)
		err = errTooLarge
	}
	b.size += int64(n)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// close gives the decoder back and says how many bytes came, and how many came out.
func (b *body) close() (wire, size int64) {
	if b.zipped != nil {
		zipReaders.Put(b.zipped)
		b.zipped, b.plain = nil, nil
	}
	return b.wire.count, b.size
}

// failure says what went wrong while reading; nil if nothing did.
func (b *body) failure(ctx, within context.Context) *Failure {
	switch {
	case errors.Is(b.err, errTooLarge) || errors.Is(b.wire.err, errTooLarge):
		return fail(BodyTooLarge, "the page is larger than the limit", nil)
	case errors.Is(b.err, errEncoding):
		return fail(Encoding, "the server compressed its answer in a way that was not asked for", nil)
	case b.wire.err != nil:
		return explain(ctx, within, b.wire.err)
	case errors.Is(b.err, io.ErrUnexpectedEOF):
		return fail(Incomplete, "the answer ended before it was complete", b.err)
	case b.err != nil:
		return fail(Encoding, "the compressed answer is broken", b.err)
	}
	return nil
}
