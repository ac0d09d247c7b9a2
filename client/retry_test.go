package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sightline/client"
)

// A fake answers requests one after the other, the last of its answers for ever, and notes what it saw.
type fake struct {
	answers  []any // an error, or a string such as "503|2|body": status, Retry-After, body
	requests []*http.Request
	bodies   []string
	at       []time.Time
}

// RoundTrip implements http.RoundTripper.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	f.requests, f.bodies, f.at = append(f.requests, r), append(f.bodies, string(body)), append(f.at, time.Now())
	next := f.answers[min(len(f.requests), len(f.answers))-1]
	if err, failed := next.(error); failed {
		return nil, err
	}
	parts := strings.SplitN(next.(string), "|", 3)
	status, err := strconv.Atoi(parts[0])
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {parts[1]}}, Body: io.NopCloser(strings.NewReader(parts[2])), Request: r}, err
}

// waits are the times between the requests.
func (f *fake) waits() []time.Duration {
	var waits []time.Duration
	for i := 1; i < len(f.at); i++ {
		waits = append(waits, f.at[i].Sub(f.at[i-1]))
	}
	return waits
}

const (
	site    = `200||{"data":{"id":1,"url":"https://example.com"},"status":200}`
	created = `201||{"data":{"id":1,"url":"https://example.com"},"status":201}`
)

var refused = syscall.ECONNREFUSED

func newClient(t *testing.T, transport http.RoundTripper, change ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{SEOURL: "http://seo.test", AnalyticsURL: "http://stats.test/", Key: "a-key-of-my-own-choice", HTTP: &http.Client{Transport: transport}, Version: "7"}
	for _, c := range change {
		c(&o)
	}
	api, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func TestWhatIsTriedAgain(t *testing.T) {
	get := func(ctx context.Context, api *client.Client) error { _, err := api.Website(ctx, 1); return err }
	create := func(ctx context.Context, api *client.Client) error {
		_, err := api.CreateWebsite(ctx, client.WebsiteFields{URL: new("https://example.com")})
		return err
	}
	update := func(ctx context.Context, api *client.Client) error {
		_, err := api.UpdateWebsite(ctx, 1, client.WebsiteFields{Email: new(true)})
		return err
	}
	remove := func(ctx context.Context, api *client.Client) error { _, err := api.DeleteWebsite(ctx, 1); return err }
	for _, c := range []struct {
		what    string
		call    func(context.Context, *client.Client) error
		answers []any
		tries   int
		status  int // of the error; 0: none, -1: another error
	}{
		{"success", get, []any{site}, 1, 0},
		{"overload, then success", get, []any{"503||x", "429||x", "502||x", "504||x", site}, 5, 0},
		{"no connection, then success", get, []any{refused, io.ErrUnexpectedEOF, site}, 3, 0},
		{"a create", create, []any{refused, "503||x", created}, 3, 0},
		{"an update", update, []any{"503||x", site}, 2, 0},
		{"a deletion", remove, []any{"503||x", `200||{"id":1,"deleted":true}`}, 2, 0},
		{"overload for ever", get, []any{"503||x"}, 5, 503},
		{"no connection for ever", get, []any{refused}, 5, -1},
		{"a refusal is final", get, []any{"404||x"}, 1, 404},
		{"a failure inside is final", create, []any{"500||x"}, 1, 500},
		{"a full disk is final", create, []any{"507||x"}, 1, 507},
		{"a bad certificate is final", get, []any{&tls.CertificateVerificationError{Err: errors.New("x509")}}, 1, -1},
		{"a wrong scheme is final", get, []any{http.ErrSchemeMismatch}, 1, -1},
		{"an answer of something else", get, []any{"200||<html>"}, 1, -1},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answers: c.answers}
				err := c.call(t.Context(), newClient(t, f))
				if len(f.requests) != c.tries {
					t.Errorf("%d tries, want %d", len(f.requests), c.tries)
				}
				var refusal *client.Error
				switch errors.As(err, &refusal); {
				case c.status == 0 && err != nil, c.status != 0 && err == nil, c.status > 0 && (refusal == nil || refusal.Status != c.status), c.status < 0 && refusal != nil:
					t.Errorf("error %v, want status %d", err, c.status)
				}
			})
		})
	}
}

func TestEveryTryIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: []any{"503||x", refused, created}}
		api := newClient(t, f)
		for range 2 {
			if _, err := api.CreateWebsite(t.Context(), client.WebsiteFields{URL: new("https://example.com"), Privacy: new(client.Public)}); err != nil {
				t.Fatal(err)
			}
		}
		keys := map[string]int{}
		for i, r := range f.requests {
			keys[r.Header.Get("Idempotency-Key")]++
			if r.Header.Get("User-Agent") != "sightline-client/7" || r.Header.Get("Authorization") != "Bearer a-key-of-my-own-choice" || r.URL.String() != "http://stats.test/api/v1/websites" {
				t.Errorf("try %d is %s with %v", i, r.URL, r.Header)
			}
			if f.bodies[i] != `{"url":"https://example.com","privacy":0}`+"\n" {
				t.Errorf("try %d sends %s", i, f.bodies[i])
			}
		}
		if first := keys[f.requests[0].Header.Get("Idempotency-Key")]; len(keys) != 2 || first != 3 || keys[""] != 0 {
			t.Errorf("idempotency keys %v: want one for the three tries, another for the second call", keys)
		}
	})
}

func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: []any{"503||x"}}
		newClient(t, f, func(o *client.Options) { o.Tries = 4 }).Website(t.Context(), 1)
		for i, wait := range f.waits() {
			if longest := 200 * time.Millisecond << i; wait < longest/2 || wait > longest {
				t.Errorf("wait %d is %s, want %s to %s", i, wait, longest/2, longest)
			}
		}

		// The header's times have whole seconds, so the clock starts at one.
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		f = &fake{answers: []any{"429|7|x", "503|" + time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat) + "|x", "503|soon|x", site}}
		if _, err := newClient(t, f).Website(t.Context(), 1); err != nil {
			t.Error(err)
		}
		for i, want := range []struct{ least, most time.Duration }{
			{7 * time.Second, 7100 * time.Millisecond},
			{12900 * time.Millisecond, 13200 * time.Millisecond},
			{400 * time.Millisecond, 800 * time.Millisecond},
		} {
			if wait := f.waits()[i]; wait < want.least || wait > want.most {
				t.Errorf("wait %d is %s, want %s to %s", i, wait, want.least, want.most)
			}
		}
	})
}

func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: []any{"503||x"}}
		began := time.Now()
		_, err := newClient(t, f, func(o *client.Options) { o.Tries, o.Patience = 1000, 5*time.Second }).Website(t.Context(), 1)
		var refusal *client.Error
		if took := time.Since(began); !errors.As(err, &refusal) || took > 5*time.Second || took < 2*time.Second {
			t.Errorf("gave up with %v after %s", err, took)
		}

		// A server that asks for more time than there is gets no second try, and nobody waits.
		f, began = &fake{answers: []any{"429|3600|x"}}, time.Now()
		_, err = newClient(t, f).Website(t.Context(), 1)
		if !errors.As(err, &refusal) || refusal.RetryAfter != time.Hour || len(f.requests) != 1 || time.Since(began) != 0 {
			t.Errorf("%v after %d tries and %s", err, len(f.requests), time.Since(began))
		}
	})
}

func TestNoTryAfterTheContextEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel) // amid the first wait
		f := &fake{answers: []any{"503||x"}}
		began := time.Now()
		if _, err := newClient(t, f).Website(ctx, 1); !errors.Is(err, context.Canceled) || len(f.requests) != 1 || time.Since(began) != 50*time.Millisecond {
			t.Errorf("%v after %d tries and %s", err, len(f.requests), time.Since(began))
		}

		f = &fake{answers: []any{site}}
		if _, err := newClient(t, f).Website(ctx, 1); !errors.Is(err, context.Canceled) || len(f.requests) != 0 {
			t.Errorf("%v after %d tries", err, len(f.requests))
		}
		var at []string
		for _, err := range newClient(t, f).AllWebsites(ctx, client.ListOptions{}) {
			at = append(at, err.Error())
		}
		if !slices.Equal(at, []string{"cannot reach http://stats.test: context canceled"}) {
			t.Errorf("the iterator yields %q", at)
		}
	})
}
