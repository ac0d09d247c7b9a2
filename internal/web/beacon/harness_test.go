package beacon_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/collect"
	"sightline/internal/fault"
	"sightline/internal/store/memory"
	"sightline/internal/web/apikit"
	"sightline/internal/web/beacon"
)

// A recorder is a collector that keeps what it was given.
type recorder struct {
	mu     sync.Mutex
	hits   []collect.Hit
	dropAs map[string]collect.Reason // by the site or domain of a hit
	err    error                     // what every call fails with
	busy   bool                      // too much to do
	came   chan struct{}             // closed and replaced with each report
}

func newRecorder() *recorder { return &recorder{came: make(chan struct{})} }

// Collect implements beacon.Collector.
func (c *recorder) Collect(_ context.Context, hits []collect.Hit) ([]collect.Outcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	c.hits = append(c.hits, hits...)
	close(c.came)
	c.came = make(chan struct{})
	outcomes := make([]collect.Outcome, len(hits))
	for i, hit := range hits {
		outcomes[i].Dropped = c.dropAs[hit.Site+hit.Domain]
	}
	return outcomes, nil
}

// Busy implements beacon.Collector.
func (c *recorder) Busy() bool { return c.busy }

// A report is a request to the collector, with what came of it.
type report struct {
	*httptest.ResponseRecorder
	hits []collect.Hit
}

// A server is the API with a recorder behind it.
type server struct {
	testing.TB
	handler   http.Handler
	collector *recorder
	keys      map[string]string // secrets, by what they allow
}

func newServer(t testing.TB) *server {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC) }
	db := memory.Open()
	owner := account.New("owner@localhost", now())
	if err := db.CreateAccount(t.Context(), &owner); err != nil {
		t.Fatal(err)
	}
	s := &server{TB: t, collector: newRecorder(), keys: map[string]string{"unknown": account.NewSecret()}}
	for name, scopes := range map[string]account.Scopes{"write": {account.AnalyticsWrite}, "read": {account.AnalyticsRead}} {
		s.keys[name] = account.NewSecret()
		key := account.Key{AccountID: owner.ID, Name: name, Hash: account.HashSecret(s.keys[name]), Scopes: scopes, CreatedAt: now()}
		if err := db.CreateKey(t.Context(), &key, nil); err != nil {
			t.Fatal(err)
		}
	}
	gate := account.NewGate(db, now)
	api := &beacon.API{Collector: s.collector, Gate: gate}
	s.handler = routed(api, gate)
	return s
}

// routed serves an API as the program does.
func routed(api *beacon.API, gate *account.Gate) http.Handler {
	router := apikit.NewRouter(api.Routes(), apikit.House{Area: "analytics", Gate: gate, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { router.ServeHTTP(w, apikit.Begin(r, "test")) })
}

// send makes a request with these headers.
func (s *server) send(method, target, body string, headers ...string) report {
	s.Helper()
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	request.RemoteAddr = "198.51.100.7:4321"
	request.Header.Set("User-Agent", agent)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	s.collector.hits = nil
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, request)
	return report{answer, s.collector.hits}
}

const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"

var peer = netip.MustParseAddr("198.51.100.7")

// sent adds to a hit what every test request tells.
func sent(hit collect.Hit) collect.Hit {
	if hit.Agent == "" {
		hit.Agent = agent
	}
	if !hit.Address.IsValid() {
		hit.Address = peer
	}
	return hit
}

var _ beacon.Collector = (*collect.Collector)(nil)

func TestFaults(t *testing.T) {
	s := newServer(t)
	for _, test := range []struct {
		name       string
		err        error
		want       int
		retryAfter bool
	}{
		{"overload", fault.Unavailable, 503, true},
		{"full disk", fault.Full, 507, false},
		{"anything else", io.ErrUnexpectedEOF, 500, false},
	} {
		s.collector.err = test.err
		for _, body := range []string{`{"s":"abc"}`, `{"page":"https://example.com/"}`, `{"n":"pageview","u":"https://example.com/"}`} {
			got := s.send("POST", "/api/event", body)
			if got.Code != test.want || (got.Header().Get("Retry-After") != "") != test.retryAfter || strings.Contains(got.Body.String(), "EOF") {
				t.Errorf("%s: %s: %d %v %s", test.name, body, got.Code, got.Header(), got.Body)
			}
		}
		if got := s.send("GET", "/api/event.gif?s=abc", ""); got.Code != test.want {
			t.Errorf("%s: pixel: %d", test.name, got.Code)
		}
	}
	s.handler = routed(&beacon.API{}, nil)
	if got := s.send("POST", "/api/event", `{"s":"abc"}`); got.Code != 503 {
		t.Errorf("without a collector: %d", got.Code)
	}
}

// A report at a busy time is refused before it is read, with the answer of every other 503.
func TestBusy(t *testing.T) {
	s := newServer(t)
	s.collector.err = fault.Unavailable
	want := s.send("POST", "/api/event", `{"s":"abc"}`)
	s.collector.err, s.collector.busy = nil, true
	got := s.send("POST", "/api/event", "unread")
	if got.Code != want.Code || got.Body.String() != want.Body.String() || len(got.hits) > 0 {
		t.Errorf("%d %s, not %d %s", got.Code, got.Body, want.Code, want.Body)
	}
	for _, name := range []string{"Retry-After", "Content-Type", "Cache-Control"} {
		if got.Header().Get(name) != want.Header().Get(name) {
			t.Errorf("%s: %q, not %q", name, got.Header().Get(name), want.Header().Get(name))
		}
	}
	if got := s.send("GET", "/api/event.gif?s=abc", ""); got.Code != 503 {
		t.Errorf("the picture: %d", got.Code)
	}
}
