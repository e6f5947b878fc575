// Package metrics shows what an engine does to Prometheus.
//
//	seen := metrics.New()
//	engine, err := countersign.New(countersign.Config{…, Observer: seen})
//	admin := httpapi.Admin(engine, seen.Handler())
//
// The series are
//
//	countersign_requests_total{operation,outcome}            counter
//	countersign_request_duration_seconds{operation}          histogram, of all of a request
//	countersign_perform_duration_seconds{operation}          histogram, of signing or delivering
//
// and those that Describe, WatchKeys and WatchReady add.
//
// The outcome is completed, repeated (answered from the record) or the reason
// of the refusal. No label comes from a request: a stranger cannot make series.
//
// Only programs that import this package link Prometheus.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/countersign-dev/countersign"
)

// Metrics is a countersign.Observer with a registry of its own.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	performed *prometheus.HistogramVec
}

var _ countersign.Observer = (*Metrics)(nil)

// buckets reach from a signature in memory to an e-mail that is slow to go, in
// seconds.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// New makes metrics, with those of the Go runtime and the process beside them.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_requests_total", Help: "Requests by operation and outcome.",
		}, []string{"operation", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_request_duration_seconds", Help: "How long requests took, body read to answer made.", Buckets: buckets,
		}, []string{"operation"}),
		performed: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_perform_duration_seconds", Help: "How long signing, or delivering a one-time password, took.", Buckets: buckets,
		}, []string{"operation"}),
	}
	m.registry.MustRegister(m.requests, m.durations, m.performed,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Observe implements countersign.Observer.
func (m *Metrics) Observe(seen countersign.Observation) {
	operation := seen.Operation
	if operation == "" {
		operation = "unknown"
	}
	m.requests.WithLabelValues(operation, outcome(&seen)).Inc()
	m.durations.WithLabelValues(operation).Observe(seen.Duration.Seconds())
	if seen.Performed > 0 {
		m.performed.WithLabelValues(operation).Observe(seen.Performed.Seconds())
	}
}

func outcome(seen *countersign.Observation) string {
	switch {
	case seen.Reason != "":
		return string(seen.Reason)
	case seen.Repeated:
		return "repeated"
	}
	return "completed"
}

// Describe adds what is known of the process:
//
//	countersign_build_info{version,commit,go}       1
//	countersign_tls_certificate_expiry_seconds      Unix time; 0 without TLS
//
// Expiry is called at each scrape. Describe may be called once.
func (m *Metrics) Describe(version, commit, goVersion string, expiry func() time.Time) {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "countersign_build_info", Help: "The build, as labels; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": goVersion},
	})
	build.Set(1)
	m.registry.MustRegister(build, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "countersign_tls_certificate_expiry_seconds", Help: "When the TLS certificate expires, as Unix time; 0 without TLS.",
	}, func() float64 {
		if at := expiry(); !at.IsZero() {
			return float64(at.Unix())
		}
		return 0
	}))
}

// WatchKeys adds how many keys the keystore has that need a look:
//
//	countersign_skipped_keys        keys that are there and not used: damaged, or not to be trusted
//	countersign_extractable_keys    keys in use that can be taken out of the HSM
//
// Both functions are called at each scrape. WatchKeys may be called once.
func (m *Metrics) WatchKeys(skipped, extractable func() int) {
	gauge := func(name, help string, count func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(count()) })
	}
	m.registry.MustRegister(
		gauge("countersign_skipped_keys", "Keys that are in the keystore and not used: the log says why.", skipped),
		gauge("countersign_extractable_keys", "Keys in use that can be taken out of the HSM.", extractable))
}

// WatchReady adds
//
//	countersign_ready    1 if a request could be carried out now, or else 0
//
// Ready is called at each scrape. WatchReady may be called once.
func (m *Metrics) WatchReady(ready func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "countersign_ready", Help: "1 if a request could be carried out now, or else 0.",
	}, func() float64 {
		if ready() {
			return 1
		}
		return 0
	}))
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
