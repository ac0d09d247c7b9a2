package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"sightline/internal/metrics"
	"sightline/internal/store/timed"
	"sightline/internal/web"
)

// measured serves with metrics, on one place or two, and returns what shows them.
func measured(t *testing.T, seo, analytics string) (*server, func() string) {
	t.Helper()
	m := metrics.New("test")
	s := serveAt(t, "", t.TempDir(), &web.Place{URL: mustURL(seo)}, &web.Place{URL: mustURL(analytics)}, func(s *server) {
		s.web.Meter, s.web.Catalog = m, timed.New(s.catalog, m.Store("sqlite"))
	})
	door, err := web.ListenAdmin("127.0.0.1:0", m.Handler())
	if err != nil {
		t.Fatal(err)
	}
	admin, stopped := &web.Server{Log: s.web.Log}, make(chan error, 1)
	go func() { stopped <- admin.Serve(t.Context(), []*web.Door{door}) }()
	t.Cleanup(func() { // the context of the test has ended by now
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return s, func() string {
		t.Helper()
		return s.want(s.do("GET", "http://"+door.Addresses()[0].String()+"/metrics", ""), 200).body
	}
}

// awaitMetrics reads the metrics until they hold every line: a request is counted after its answer has been sent.
func awaitMetrics(t *testing.T, read func() string, lines ...string) string {
	t.Helper()
	var text string
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		text = read()
		missing := ""
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line) {
				missing = line
			}
		}
		if missing == "" {
			return text
		}
	}
	t.Errorf("the metrics lack some of\n%s\nin\n%s", strings.Join(lines, "\n"), text)
	return text
}

func TestMetrics(t *testing.T) {
	s, read := measured(t, "http://localhost:0", "http://localhost:0")
	s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://private.example"), 201)
	s.want(s.form("GET", s.analytics+"/api/v1/websites/1", ""), 200)
	s.want(s.form("GET", s.analytics+"/api/v1/websites/4711", ""), 404)
	s.want(s.form("HEAD", s.analytics+"/api/v1/websites", ""), 200)
	s.want(s.do("GET", s.seo+"/api/v1/projects", ""), 401)
	s.want(s.do("OPTIONS", s.seo+"/api/v1/projects", ""), 204)
	s.want(s.do("BREW", s.seo+"/api/v1/projects", ""), 405)
	s.want(s.do("GET", s.seo+"/private.example", ""), 404)
	text := awaitMetrics(t, read,
		`sightline_http_requests_total{area="analytics",method="POST",route="/api/v1/websites",status="201"} 1`,
		`sightline_http_requests_total{area="analytics",method="GET",route="/api/v1/websites/{id}",status="200"} 1`,
		`sightline_http_requests_total{area="analytics",method="GET",route="/api/v1/websites/{id}",status="404"} 1`,
		`sightline_http_requests_total{area="analytics",method="GET",route="/api/v1/websites",status="200"} 1`,
		`sightline_http_requests_total{area="seo",method="GET",route="/api/v1/projects",status="401"} 1`,
		`sightline_http_requests_total{area="seo",method="other",route="/api/v1/projects",status="204"} 1`,
		`sightline_http_requests_total{area="seo",method="other",route="/api/v1/projects",status="405"} 1`,
		`sightline_http_requests_total{area="seo",method="other",route="unknown",status="404"} 1`,
		`sightline_http_request_duration_seconds_count{area="analytics",method="GET",route="/api/v1/websites/{id}"} 2`,
		`sightline_http_refusals_total{area="analytics",status="404"} 1`,
		`sightline_http_refusals_total{area="seo",status="401"} 1`,
		`sightline_http_requests_in_flight 0`,
		`sightline_store_operation_duration_seconds_count{engine="sqlite",operation="Website"} 2`,
		`sightline_store_failures_total{engine="sqlite",kind="not_found",operation="Website"} 1`)
	if strings.Contains(text, "private") || strings.Contains(text, "4711") || strings.Contains(text, "BREW") {
		t.Errorf("a caller's words are in\n%s", text)
	}
}

// Where both areas live at one URL, they are counted together; a request for neither's name is of no area.
func TestMetricsOfSharedDoors(t *testing.T) {
	address := "http://localhost:" + freePort(t)
	s, read := measured(t, address, address)
	s.want(s.form("GET", s.seo+"/api/v1/projects", ""), 200)
	awaitMetrics(t, read, `sightline_http_requests_total{area="both",method="GET",route="/api/v1/projects",status="200"} 1`)

	port := freePort(t)
	s, read = measured(t, "http://seo.localhost:"+port, "http://stats.localhost:"+port)
	direct := "http://127.0.0.1:" + port + "/api/v1/projects"
	s.want(s.do("GET", direct, "", "Host: seo.localhost"), 401)
	s.want(s.do("GET", direct, "", "Host: private.example"), 404)
	awaitMetrics(t, read,
		`sightline_http_requests_total{area="seo",method="GET",route="/api/v1/projects",status="401"} 1`,
		`sightline_http_requests_total{area="unknown",method="other",route="unknown",status="404"} 1`)
}

// Whatever callers send, the labels stay few and hold nothing of it.
func TestMetricsKeepSecrets(t *testing.T) {
	s, read := measured(t, "http://localhost:0", "http://localhost:0")
	useSecrets(s)
	text := awaitMetrics(t, read, `sightline_http_refusals_total{area="seo",status="405"} 1`)
	demandNone(t, "the metrics", []byte(text), s.key, sitePassword)
	if strings.Contains(text, "sl_") {
		t.Errorf("a key is in\n%s", text)
	}
	known := regexp.MustCompile(`^(unknown|(/[a-z0-9_.]+|/\{[a-z]+\})+)$`)
	for _, route := range regexp.MustCompile(`route="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !known.MatchString(route[1]) {
			t.Errorf("a route is %s", route[1])
		}
	}
}

// A panic in a handler is counted like any other failure, and so is an answer that was cut off.
func TestMetricsOfPanics(t *testing.T) {
	m := &lastMeter{ended: make(chan int, 1)}
	abort := false
	s := serveWith(t, func(s *server) {
		s.web.Meter = m
		s.web.Catalog = brokenProjects{s.catalog, func(context.Context) error {
			if abort {
				panic(http.ErrAbortHandler)
			}
			panic("broken")
		}}
	})
	s.want(s.form("GET", s.seo+"/api/v1/projects", ""), 500)
	if status := <-m.ended; status != 500 {
		t.Errorf("a panic was counted as %d", status)
	}
	abort = true
	request, err := http.NewRequestWithContext(t.Context(), "GET", s.seo+"/api/v1/projects", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	if answer, err := http.DefaultTransport.RoundTrip(request); err == nil {
		answer.Body.Close()
		t.Errorf("status %d, want a broken connection", answer.StatusCode)
	}
	if status := <-m.ended; status != 0 {
		t.Errorf("a broken connection was counted as %d", status)
	}
}

// A lastMeter passes on the status of each request.
type lastMeter struct{ ended chan int }

func (*lastMeter) Began() {}

func (m *lastMeter) Ended(_, _, _ string, status int, _ time.Duration) { m.ended <- status }

// The admin's door answers those who ask this machine for itself.
func TestAdmin(t *testing.T) {
	door, err := web.ListenAdmin("localhost:0", http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		stopped <- (&web.Server{Log: slog.New(slog.DiscardHandler)}).Serve(t.Context(), []*web.Door{door})
	}()
	t.Cleanup(func() {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	for _, test := range []struct {
		method, path, host string
		want               int
		text               string
	}{
		{"GET", "/healthz", "localhost", 200, "ok"},
		{"GET", "/healthz", "127.0.0.1:9", 200, "ok"},
		{"GET", "/healthz", "[::1]", 200, "ok"},
		{"GET", "/healthz", "rebound.example", 421, "localhost"},
		{"GET", "/healthz", "localhost.example:80", 421, "localhost"},
		{"POST", "/healthz", "localhost", 405, ""},
		{"GET", "/debug/pprof/", "localhost", 200, "heap"},
		{"GET", "/debug/pprof/heap?debug=1", "localhost", 200, "heap profile"},
		{"GET", "/debug/pprof/profile?seconds=1", "localhost", 200, ""},
		{"GET", "/debug/pprof/trace?seconds=0.1", "localhost", 200, "go 1."},
		{"GET", "/debug/pprof/cmdline", "localhost", 404, ""},
		{"GET", "/debug/pprof/heap", "rebound.example", 421, ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+door.Addresses()[0].String()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = test.host
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != test.want || !strings.Contains(string(body), test.text) {
			t.Errorf("%s %s on %s: %d (%v), want %d with %q", test.method, test.path, test.host, answer.StatusCode, err, test.want, test.text)
		}
	}
}
