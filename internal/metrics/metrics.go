// Package metrics counts what the program does and shows it in the format of Prometheus. Every label is one of few values
// that the program itself chose: nothing that a caller wrote gets here.
package metrics

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is what has been counted since the start. Its methods may be called at the same time.
type Metrics struct {
	registry *prometheus.Registry
	inFlight prometheus.Gauge
	requests *prometheus.CounterVec
	refusals *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	store    *prometheus.HistogramVec
	failures *prometheus.CounterVec
	batches  prometheus.Histogram
}

// The upper bounds of the histograms: seconds of requests and of store operations, and writes in a batch.
var (
	requestBounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	storeBounds   = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	batchBounds   = []float64{1, 2, 4, 8, 16, 32, 64, 128}
)

// New counts for a version of the program, from zero.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "sightline_http_requests_in_flight", Help: "Requests that are being served."}),
		requests: counter("sightline_http_requests_total", "Requests answered.", "area", "method", "route", "status"),
		refusals: counter("sightline_http_refusals_total", "Requests answered with a status of 400 or above.", "area", "status"),
		latency:  histogram("sightline_http_request_duration_seconds", "Time from a request's header to the end of its answer.", requestBounds, "area", "method", "route"),
		store:    histogram("sightline_store_operation_duration_seconds", "Time that an operation of the catalog took.", storeBounds, "engine", "operation"),
		failures: counter("sightline_store_failures_total", "Operations of the catalog that failed, by the kind of failure.", "engine", "operation", "kind"),
		batches:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "sightline_sqlite_batch_writes", Help: "Writes that shared one commit.", Buckets: batchBounds}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "sightline_build_info", Help: "Always 1; its labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()}})
	build.Set(1)
	m.registry.MustRegister(m.inFlight, m.requests, m.refusals, m.latency, m.store, m.failures, m.batches, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}, labels)
}

// Handler shows everything that was counted.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Began notes that a request is being served.
func (m *Metrics) Began() {
	m.inFlight.Inc()
}

// Ended notes that a request is served no more. A status of 0 says that there was no answer.
func (m *Metrics) Ended(area, method, route string, status int, took time.Duration) {
	m.inFlight.Dec()
	code := strconv.Itoa(status)
	m.requests.WithLabelValues(area, method, route, code).Inc()
	m.latency.WithLabelValues(area, method, route).Observe(took.Seconds())
	if status >= http.StatusBadRequest {
		m.refusals.WithLabelValues(area, code).Inc()
	}
}

// Store is what to call after each operation of a catalog: with its name, the kind of its failure (empty if there was
// none), and the time it took.
func (m *Metrics) Store(engine string) func(operation, failure string, took time.Duration) {
	return func(operation, failure string, took time.Duration) {
		m.store.WithLabelValues(engine, operation).Observe(took.Seconds())
		if failure != "" {
			m.failures.WithLabelValues(engine, operation, failure).Inc()
		}
	}
}

// Batch notes how many writes shared a commit.
func (m *Metrics) Batch(writes int) {
	m.batches.Observe(float64(writes))
}
