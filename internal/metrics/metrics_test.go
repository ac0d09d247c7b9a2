package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sightline/internal/metrics"
)

// shown is what a scrape gets.
func shown(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func TestCounts(t *testing.T) {
	m := metrics.New("1.2.3")
	for range 3 {
		m.Began()
	}
	m.Ended("seo", "GET", "/docs", 200, 3*time.Millisecond)
	m.Ended("seo", "GET", "/docs", 503, 3*time.Second)
	m.Store("sqlite")("Website", "", time.Millisecond)
	m.Store("postgres")("Website", "not_found", time.Millisecond)
	m.Batch(5)
	got := shown(t, m)
	for _, want := range []string{
		`sightline_http_requests_in_flight 1`,
		`sightline_http_requests_total{area="seo",method="GET",route="/docs",status="200"} 1`,
		`sightline_http_requests_total{area="seo",method="GET",route="/docs",status="503"} 1`,
		`sightline_http_refusals_total{area="seo",status="503"} 1`,
		`sightline_http_request_duration_seconds_bucket{area="seo",method="GET",route="/docs",le="0.005"} 1`,
		`sightline_http_request_duration_seconds_count{area="seo",method="GET",route="/docs"} 2`,
		`sightline_store_operation_duration_seconds_count{engine="sqlite",operation="Website"} 1`,
		`sightline_store_failures_total{engine="postgres",kind="not_found",operation="Website"} 1`,
		`sightline_sqlite_batch_writes_bucket{le="8"} 1`,
		`sightline_build_info{go_version="go1.`,
		`version="1.2.3"} 1`,
		`go_goroutines `,
		`process_resident_memory_bytes `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, no := range []string{`refusals_total{area="seo",status="200"}`, `failures_total{engine="sqlite"`} {
		if strings.Contains(got, no) {
			t.Errorf("%s in\n%s", no, got)
		}
	}
}

// One program may count twice, as tests do.
func TestApart(t *testing.T) {
	a, b := metrics.New(""), metrics.New("")
	a.Began()
	if !strings.Contains(shown(t, b), "sightline_http_requests_in_flight 0") {
		t.Error("one counts for the other")
	}
}

func BenchmarkEnded(b *testing.B) {
	m := metrics.New("")
	b.ReportAllocs()
	for b.Loop() {
		m.Began()
		m.Ended("analytics", "GET", "/api/v1/websites/{id}", 200, time.Millisecond)
	}
}
