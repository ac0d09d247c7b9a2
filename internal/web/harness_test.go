package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/audit"
	"sightline/internal/collect"
	"sightline/internal/store"
	"sightline/internal/store/memory"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/web"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apidoc/doctest"
)

// start is the moment at which the clock of every test server stands.
var start = time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)

// onEngines runs a test against a server on each engine.
func onEngines(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, serve(t, "", t.TempDir())) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, serve(t, pgtest.URL(t), "")) })
}

// A server is a running one, with a caller's view of it.
type server struct {
	*testing.T
	seo, analytics string // base URLs
	catalog        store.Catalog
	events         *memory.Events
	owner          account.Account
	key            string // a key of the owner with all scopes
	log            *lockedBuffer
	web            *web.Server
	stop           context.CancelFunc
	queue          atomic.Pointer[audit.Queue] // nil: nobody makes audits
	transport      http.RoundTripper           // checks what passes against the OpenAPI document
}

func serve(t *testing.T, database, dir string) *server {
	t.Helper()
	return serveAt(t, database, dir, &web.Place{URL: mustURL("http://localhost:0")}, &web.Place{URL: mustURL("http://localhost:0")})
}

// serveWith changes the server before it starts.
func serveWith(t *testing.T, change func(*server)) *server {
	t.Helper()
	return serveAt(t, "", t.TempDir(), &web.Place{URL: mustURL("http://localhost:0")}, &web.Place{URL: mustURL("http://localhost:0")}, change)
}

func serveAt(t *testing.T, database, dir string, seo, analytics *web.Place, changes ...func(*server)) *server {
	t.Helper()
	catalog, err := store.Open(t.Context(), database, dir)
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return start }
	events := memory.OpenEvents(clock)
	s := &server{T: t, catalog: catalog, events: events, log: &lockedBuffer{}}
	doors, err := web.Listen(seo, analytics)
	if err != nil {
		t.Fatal(err)
	}
	s.seo, s.analytics = seo.URL.String(), analytics.URL.String()
	s.web = &web.Server{SEO: seo, Analytics: analytics, Catalog: catalog, Gate: account.NewGate(catalog, clock), Collector: taker{}, Events: events,
		TrashKept: 7 * 24 * time.Hour, Version: "test", Now: clock, Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	s.web.Wake = func() {
		if queue := s.queue.Load(); queue != nil {
			queue.Wake()
		}
	}
	for _, change := range changes {
		change(s)
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.web.Serve(ctx, doors) }()
	t.Cleanup(func() {
		s.stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := catalog.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	s.transport = s.checked(seo, analytics)
	s.owner, s.key = s.account("owner@localhost")
	return s
}

// A taker is a collector that counts everything and keeps nothing.
type taker struct{}

// Collect implements beacon.Collector.
func (taker) Collect(_ context.Context, hits []collect.Hit) ([]collect.Outcome, error) {
	return make([]collect.Outcome, len(hits)), nil
}

func (taker) Busy() bool { return false }

// checked sends requests and holds them and their answers to the OpenAPI document of their area.
func (s *server) checked(seo, analytics *web.Place) http.RoundTripper {
	s.Helper()
	plain := http.DefaultTransport.(*http.Transport).Clone()
	s.Cleanup(plain.CloseIdleConnections)
	byHost := areas{}
	for place, area := range map[*web.Place]apidoc.Area{seo: apidoc.SEO, analytics: apidoc.Analytics} {
		described := []apidoc.Area{area}
		if *seo.URL == *analytics.URL {
			described = []apidoc.Area{apidoc.SEO, apidoc.Analytics}
		}
		document, err := apidoc.Document("test", place.URL.String(), described...)
		if err != nil {
			s.Fatal(err)
		}
		byHost[place.URL.Host] = doctest.Wrap(s.T, document, plain)
	}
	return byHost
}

// areas finds the transport of a request by its host.
type areas map[string]http.RoundTripper

// RoundTrip implements http.RoundTripper.
func (a areas) RoundTrip(r *http.Request) (*http.Response, error) {
	if area := a[r.URL.Host]; area != nil {
		return area.RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// account creates an account with a key that has all scopes.
func (s *server) account(email string) (account.Account, string) {
	s.Helper()
	a := account.New(email, start)
	if err := s.catalog.CreateAccount(s.Context(), &a); err != nil {
		s.Fatal(err)
	}
	return a, s.newKey(a.ID, account.AllScopes(), time.Time{})
}

func (s *server) newKey(owner int64, scopes account.Scopes, expires time.Time) string {
	s.Helper()
	secret := account.NewSecret()
	k := account.Key{AccountID: owner, Name: "test", Hash: account.HashSecret(secret), Scopes: scopes, CreatedAt: start, ExpiresAt: expires}
	if err := s.catalog.CreateKey(s.Context(), &k, nil); err != nil {
		s.Fatal(err)
	}
	return secret
}

// forget waits until the server has forgotten which keys it saw.
func (s *server) forget() { time.Sleep(time.Second) }

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// field reads a value of the body by its path, such as data.0.url. It is nil when there is none.
func (a answer) field(path string) any {
	var value any
	if json.Unmarshal([]byte(a.body), &value) != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i := int(name[0] - '0')
			if i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// column lists one field of every record in a list.
func (a answer) column(name string) string {
	var body struct{ Data []map[string]any }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		return err.Error()
	}
	var values []string
	for _, record := range body.Data {
		text, _ := json.Marshal(record[name])
		values = append(values, strings.Trim(string(text), `"`))
	}
	return strings.Join(values, " ")
}

// form calls an operation as the document describes it: a Bearer key, form-encoded fields.
func (s *server) form(method, address, fields string) answer {
	s.Helper()
	return s.do(method, address, fields, "Authorization: Bearer "+s.key, "Accept: application/json", "Content-Type: application/x-www-form-urlencoded")
}

// json calls an operation with a JSON body.
func (s *server) json(method, address, body string) answer {
	s.Helper()
	return s.do(method, address, body, "Authorization: Bearer "+s.key, "Content-Type: application/json")
}

// do sends a request with just these headers.
func (s *server) do(method, address, body string, headers ...string) answer {
	s.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(s.Context(), method, address, reader)
	if err != nil {
		s.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			request.Host = value
		}
		request.Header.Add(name, value)
	}
	response, err := s.client().Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(content)}
}

// client follows no redirects: the API never sends one.
func (s *server) client() *http.Client {
	return &http.Client{Transport: s.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// want fails the test when an answer has another status or lacks one of the texts in its body.
func (s *server) want(a answer, status int, texts ...string) answer {
	s.Helper()
	if a.status != status {
		s.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			s.Errorf("no %s in %s", text, a.body)
		}
	}
	return a
}

func mustURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}

// A lockedBuffer collects a log that several goroutines write.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
