package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxAnswer is the largest answer that is read, in bytes: more than any page or bulk change comes to.
const maxAnswer = 64 << 20

// A call is one operation with its arguments.
type call struct {
	area    Area
	method  string
	path    string // escaped
	query   url.Values
	body    any    // sent as JSON; nil: no body
	lines   []byte // sent as lines of JSON instead
	options []WriteOption
	long    time.Duration // how long a try may take, if that is longer than for others
}

// A WriteOption is a condition on a write.
type WriteOption func(http.Header)

// IfMatch lets a write pass only while the record has this ETag, else the server answers 412. An empty tag is no condition.
func IfMatch(tag string) WriteOption {
	return func(header http.Header) {
		if tag != "" {
			header.Set("If-Match", tag)
		}
	}
}

// do makes a call, reads the answer into out and returns its headers.
func (c *Client) do(ctx context.Context, q call, out any) (http.Header, error) {
	a, err := c.send(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return nil, &ConnectionError{c.bases[q.area], errors.New("what answers there is not Sightline")}
	}
	return a.header, nil
}

// send makes a call.
func (c *Client) send(ctx context.Context, q call) (answer, error) {
	base := c.bases[q.area]
	if base == "" {
		return answer{}, fmt.Errorf("client: the address of the %s area is not set", q.area)
	}
	address := base + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	var body bytes.Buffer
	body.Write(q.lines)
	if q.body != nil {
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false) // it would only make the body larger
		if err := encoder.Encode(q.body); err != nil {
			return answer{}, fmt.Errorf("client: %w", err)
		}
	}
	header := c.header(q)
	return c.repeat(ctx, q.long, func(ctx context.Context) (answer, error) {
		return c.try(ctx, q, base, address, header, body.Bytes())
	})
}

// header is what every try of a call sends.
func (c *Client) header(q call) http.Header {
	header := http.Header{}
	header.Set("Authorization", "Bearer "+c.key)
	header.Set("Accept", "application/json")
	header.Set("User-Agent", c.userAgent)
	if q.body != nil {
		header.Set("Content-Type", "application/json")
	}
	if q.lines != nil {
		header.Set("Content-Type", "application/x-ndjson")
	}
	if q.method == http.MethodPost { // so that it can be tried again
		header.Set("Idempotency-Key", rand.Text())
	}
	for _, option := range q.options {
		option(header)
	}
	return header
}

// An answer is what the server sent for a call that succeeded.
type answer struct {
	header http.Header
	body   []byte
}

// try makes a call once.
func (c *Client) try(ctx context.Context, q call, base, address string, header http.Header, body []byte) (answer, error) {
	response, err := c.begin(ctx, q, base, address, header, body)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, &ConnectionError{base, fmt.Errorf("the answer broke off: %w", err)}
	case len(content) > maxAnswer:
		return answer{}, fmt.Errorf("the answer of %s is larger than %d MiB", base, maxAnswer>>20)
	case response.StatusCode >= 300:
		return answer{}, newError(response, content)
	}
	return answer{response.Header, content}, nil
}

// begin sends a request and waits for the beginning of the answer.
func (c *Client) begin(ctx context.Context, q call, base, address string, header http.Header, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, q.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	request.Header = header.Clone()
	caller := *c.http
	if q.long > 0 {
		caller.Timeout = q.long
	}
	response, err := caller.Do(request)
	if err != nil {
		var wrapped *url.Error // its text repeats the address
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, &ConnectionError{base, err}
	}
	return response, nil
}

// stream makes a call once, for an answer of any length that is read as it comes. The caller closes it.
func (c *Client) stream(ctx context.Context, q call) (io.ReadCloser, error) {
	base := c.bases[q.area]
	if base == "" {
		return nil, fmt.Errorf("client: the address of the %s area is not set", q.area)
	}
	response, err := c.begin(ctx, q, base, base+q.path+"?"+q.query.Encode(), c.header(q), nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err != nil {
			return nil, &ConnectionError{base, fmt.Errorf("the answer broke off: %w", err)}
		}
		return nil, newError(response, content)
	}
	return &streamed{response.Body, base}, nil
}

// A streamed answer is told apart from other failures when it breaks off.
type streamed struct {
	io.ReadCloser
	base string
}

// Read implements io.Reader.
func (s *streamed) Read(data []byte) (int, error) {
	n, err := s.ReadCloser.Read(data)
	if err != nil && err != io.EOF {
		err = &ConnectionError{s.base, fmt.Errorf("the answer broke off: %w", err)}
	}
	return n, err
}
