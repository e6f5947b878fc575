// Package metrics exports what an engine does to Prometheus.
//
//	observer := metrics.New()
//	engine, err := countersign.New(countersign.Config{…, Observer: observer})
//	admin := httpapi.Admin(engine, observer.Handler())
//
// The series are
//
//	countersign_requests_total{operation,outcome}            counter
//	countersign_request_duration_seconds{operation}          histogram of whole requests
//	countersign_perform_duration_seconds{operation}          histogram of signing or delivering only
//
// and the ones that Describe, WatchKeys, WatchReady, WatchConfiguration, WatchLogs, WatchEvents and ObserveService
// add.
//
// The outcome is completed, waiting (for approvals), repeated (answered from the record),
// or the reason of the refusal. The operation is unknown if the request did not say, or
// its path is not served. Label values never come from a request, so strangers cannot create series.
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
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Metrics is a countersign.Observer with a registry of its own.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	performed *prometheus.HistogramVec
	calls     *prometheus.CounterVec   // to key services
	latencies *prometheus.HistogramVec // of those calls
}

var _ countersign.Observer = (*Metrics)(nil)

// buckets range from a signature in memory to a slow e-mail delivery, in seconds.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// New returns metrics that include those of the Go runtime and the process.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_requests_total", Help: "Requests by operation and outcome.",
		}, []string{"operation", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_request_duration_seconds", Help: "Duration of requests, from body read to answer ready.", Buckets: buckets,
		}, []string{"operation"}),
		performed: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_perform_duration_seconds",
			Help: "Duration of signing, or of delivering a one-time password.", Buckets: buckets,
		}, []string{"operation"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_service_calls_total", Help: "Calls to key services by service, operation and outcome.",
		}, []string{"service", "operation", "outcome"}),
		latencies: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_service_call_duration_seconds",
			Help: "Duration of calls to key services.", Buckets: buckets,
		}, []string{"service", "operation"}),
	}
	m.begin()
	m.registry.MustRegister(m.requests, m.durations, m.performed, m.calls, m.latencies,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// unknown is the operation of a request that did not say, or whose path is not served.
const unknown = "unknown"

// begin adds every series at 0. Prometheus sees no increase from nothing to 1, so that an
// alert would miss the first fault after each start.
func (m *Metrics) begin() {
	operations := append(activity.Queries(), unknown)
	for _, operation := range activity.Operations() {
		operations = append(operations, operation.Path)
		m.performed.WithLabelValues(operation.Path)
	}
	for _, operation := range operations {
		m.durations.WithLabelValues(operation)
		for _, outcome := range outcomes() {
			m.requests.WithLabelValues(operation, outcome)
		}
	}
}

// outcomes returns what can become of a request.
func outcomes() []string {
	all := []string{completed, repeated, waiting, notServed}
	for _, reason := range activity.Reasons() {
		all = append(all, string(reason))
	}
	return all
}

// Outcomes that are no refusals.
const (
	completed = "completed"
	repeated  = "repeated"
	waiting   = "waiting"
)

// notServed is httpapi.NotServed.
const notServed = "NOT_SERVED"

// Observe implements countersign.Observer.
func (m *Metrics) Observe(seen countersign.Observation) {
	operation := seen.Operation
	if operation == "" {
		operation = unknown
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
		return repeated
	case seen.Waits:
		return waiting
	}
	return completed
}

// Describe adds
//
//	countersign_build_info{version,commit,go}       1
//	countersign_tls_certificate_expiry_seconds      Unix time; 0 without TLS
//
// The function is called at each scrape. Describe may be called only once.
func (m *Metrics) Describe(version, commit, goVersion string, expiry func() time.Time) {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "countersign_build_info", Help: "The build, as labels; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": goVersion},
	})
	build.Set(1)
	m.registry.MustRegister(build)
	m.gauge("countersign_tls_certificate_expiry_seconds",
		"When the TLS certificate expires, as Unix time; 0 without TLS.", func() float64 { return unix(expiry()) })
}

// WatchKeys adds the numbers of keys that need attention:
//
//	countersign_skipped_keys        keys in the keystore that are not used: damaged or untrusted
//	countersign_extractable_keys    keys in use that can be extracted from the HSM
//
// Both functions are called at each scrape. WatchKeys may be called only once.
func (m *Metrics) WatchKeys(skipped, extractable func() int) {
	m.gauge("countersign_skipped_keys", "Keys in the keystore that are not used; the log says why.",
		func() float64 { return float64(skipped()) })
	m.gauge("countersign_extractable_keys", "Keys in use that can be extracted from the HSM.",
		func() float64 { return float64(extractable()) })
}

// gauge adds a gauge whose value is read at each scrape.
func (m *Metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// counter is gauge for a number that only grows.
func (m *Metrics) counter(name, help string, value func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return float64(value()) }))
}

// unix returns a time in seconds; 0 for none.
func unix(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

// WatchReady adds
//
//	countersign_ready    1 if requests can be carried out now, otherwise 0
//
// The function is called at each scrape. WatchReady may be called only once.
func (m *Metrics) WatchReady(ready func() bool) {
	m.gauge("countersign_ready", "1 if requests can be carried out now, otherwise 0.", func() float64 {
		if ready() {
			return 1
		}
		return 0
	})
}

// WatchConfiguration adds
//
//	countersign_configuration_older_since_seconds    since when what is in force is older than its file, as Unix time; 0 if it is not
//	countersign_reload_failures_total                how often a reload failed, or was given up
//
// Both functions are called at each scrape. WatchConfiguration may be called only once.
func (m *Metrics) WatchConfiguration(olderSince func() time.Time, failures func() uint64) {
	m.gauge("countersign_configuration_older_since_seconds",
		"Since when what is in force is older than its file, as Unix time; 0 if it is not.",
		func() float64 { return unix(olderSince()) })
	m.counter("countersign_reload_failures_total",
		"How often a reload failed, or was given up; the log has the cause.", failures)
}

// WatchLogs adds
//
//	countersign_log_conflicts                      organizations that take no requests, because their log is behind what was seen
//	countersign_halted                             organizations in which something is halted
//	countersign_log_memory_write_failures_total    how often the memory of the logs could not be written
//
// The functions are called at each scrape. WatchLogs may be called only once.
func (m *Metrics) WatchLogs(conflicts, halted func() int, failures func() uint64) {
	m.gauge("countersign_log_conflicts",
		"Organizations that take no requests, because their log is behind what was seen.", func() float64 { return float64(conflicts()) })
	m.gauge("countersign_halted", "Organizations in which signing is halted, for all or for a user or a key.",
		func() float64 { return float64(halted()) })
	m.counter("countersign_log_memory_write_failures_total",
		"How often the memory of the logs could not be written; the log has the cause.", failures)
}

// Events says what became of events, and what waits.
type Events struct {
	Delivered, Failed, Dropped, DroppedOthers uint64
	Waiting                                   int
	Oldest                                    time.Time
}

// WatchEvents adds
//
//	countersign_events_delivered_total                events that the endpoint took
//	countersign_events_failed_attempts_total          attempts that it did not
//	countersign_events_dropped_total                  events about activities that were too old or too many
//	countersign_events_others_dropped_total           the same of other events
//	countersign_events_waiting                        events in the outbox, on the node that delivers
//	countersign_events_oldest_seconds                 age of the oldest of them; 0 if none waits
//
// The function is called at each scrape. WatchEvents may be called only once.
func (m *Metrics) WatchEvents(events func() Events) {
	m.counter("countersign_events_delivered_total", "Events that the endpoint took.",
		func() uint64 { return events().Delivered })
	m.counter("countersign_events_failed_attempts_total",
		"Attempts to deliver an event that failed; the log has the cause.", func() uint64 { return events().Failed })
	m.counter("countersign_events_dropped_total", "Events about activities that were dropped: too old or too many.",
		func() uint64 { return events().Dropped })
	m.counter("countersign_events_others_dropped_total", "Other events that were dropped.",
		func() uint64 { return events().DroppedOthers })
	m.gauge("countersign_events_waiting", "Events in the outbox, on the node that delivers.",
		func() float64 { return float64(events().Waiting) })
	m.gauge("countersign_events_oldest_seconds", "Age of the oldest event in the outbox; 0 if none waits.", func() float64 {
		if oldest := events().Oldest; !oldest.IsZero() {
			return time.Since(oldest).Seconds()
		}
		return 0
	})
}

// ObserveService is remote.Options.Observe of the keys in key services. It adds
//
//	countersign_service_calls_total{service,operation,outcome}       counter
//	countersign_service_call_duration_seconds{service,operation}     histogram
//
// The service is the scheme of its URIs, the operation sign or check, and the outcome one of
// remote.Outcomes.
func (m *Metrics) ObserveService(seen remote.Observation) {
	m.calls.WithLabelValues(seen.Service, seen.Operation, string(seen.Outcome)).Inc()
	m.latencies.WithLabelValues(seen.Service, seen.Operation).Observe(seen.Duration.Seconds())
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
