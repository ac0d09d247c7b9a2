package client

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// How long to wait before the second try; it doubles with each further one, up to a limit.
const (
	firstWait   = 200 * time.Millisecond
	longestWait = 10 * time.Second
)

// repeat tries until it succeeds, fails for good, has tried often enough or would take too long. It never tries again when ctx
// has ended. A call that may take long may take that much longer.
func (c *Client) repeat(ctx context.Context, long time.Duration, try func(context.Context) (answer, error)) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience+long)
	defer cancel()
	for tries := 1; ; tries++ {
		a, err := try(ctx)
		asked, passing := isPassing(err)
		if !passing || tries >= c.tries || ctx.Err() != nil {
			return a, err
		}
		wait := backoff(tries, asked)
		if end, _ := ctx.Deadline(); time.Until(end) <= wait {
			return a, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return a, errors.Join(context.Cause(ctx), err)
		}
	}
}

// isPassing says whether an error may be gone at the next try, and how long the server asks to wait for that.
func isPassing(err error) (wait time.Duration, passing bool) {
	var refused *Error
	var connection *ConnectionError
	switch {
	case errors.As(err, &refused):
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return refused.RetryAfter, true
		}
		return 0, false
	case errors.As(err, &connection):
		var certificate *tls.CertificateVerificationError
		return 0, !errors.As(err, &certificate) && !errors.Is(err, http.ErrSchemeMismatch)
	default:
		return 0, false
	}
}

// backoff is how long to wait after so many tries: longer each time, at least what the server asked for, and never the same
// for two clients that failed together.
func backoff(tries int, asked time.Duration) time.Duration {
	wait := min(firstWait<<min(tries-1, 16), longestWait)
	jitter := rand.N(wait/2 + 1)
	return max(wait/2, asked) + jitter
}

// retryAfter reads the header Retry-After: seconds, or a time.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1e6)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
