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
// and the ones that Watch and ObserveService add.
//
// The outcome is completed, waiting (for approvals), repeated (answered from the record),
// or the reason of the refusal. The operation is unknown if the request did not say, or
// its path is not served. Label values never come from a request, so strangers cannot create series.
//
// Only programs that import this package link Prometheus.
package metrics

import (
	"cmp"
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
	outcomes := []string{completed, repeated, waiting, notServed}
	for _, reason := range activity.Reasons() {
		outcomes = append(outcomes, string(reason))
	}
	operations := append(activity.Queries(), unknown)
	for _, operation := range activity.Operations() {
		operations = append(operations, operation.Path)
		m.performed.WithLabelValues(operation.Path)
	}
	for _, operation := range operations {
		m.durations.WithLabelValues(operation)
		for _, outcome := range outcomes {
			m.requests.WithLabelValues(operation, outcome)
		}
	}
}

// Outcomes that are no refusals.
const (
	completed = "completed"
	repeated  = "repeated"
	waiting   = "waiting"
)

const notServed = "NOT_SERVED"

func (m *Metrics) Observe(seen countersign.Observation) {
	operation, outcome := cmp.Or(seen.Operation, unknown), completed
	switch {
	case seen.Reason != "":
		outcome = string(seen.Reason)
	case seen.Repeated:
		outcome = repeated
	case seen.Waits:
		outcome = waiting
	}
	m.requests.WithLabelValues(operation, outcome).Inc()
	m.durations.WithLabelValues(operation).Observe(seen.Duration.Seconds())
	if seen.Performed > 0 {
		m.performed.WithLabelValues(operation).Observe(seen.Performed.Seconds())
	}
}

// State is what a server says of itself. A member that it does not have is zero.
type State struct {
	Version, Commit, Go string // of the build, the same at each scrape
	CertificateExpiry   time.Time
	Ready               bool // requests can be carried out now
	SkippedKeys         int
	ExtractableKeys     int
	OlderSince          time.Time // since when what is in force is older than the configuration; zero if it is not
	ReloadFailures      uint64
	LogConflicts        int
	Halted              int // organizations in which something is halted
	LogMemoryFailures   uint64
	Events              Events
}

// Events says what became of events, and what waits.
type Events struct {
	Delivered, Failed, Dropped, DroppedOthers uint64
	Waiting                                   int
	Oldest                                    time.Time
}

// series are those of a State, besides countersign_build_info.
var series = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(s *State) float64
}{
	{"countersign_tls_certificate_expiry_seconds", "When the TLS certificate expires, as Unix time; 0 without TLS.",
		prometheus.GaugeValue, func(s *State) float64 { return unix(s.CertificateExpiry) }},
	{"countersign_ready", "1 if requests can be carried out now, otherwise 0.",
		prometheus.GaugeValue, func(s *State) float64 {
			if s.Ready {
				return 1
			}
			return 0
		}},
	{"countersign_skipped_keys", "Keys in the keystore that are not used: damaged or untrusted; the log says why.",
		prometheus.GaugeValue, func(s *State) float64 { return float64(s.SkippedKeys) }},
	{"countersign_extractable_keys", "Keys in use that can be extracted from the HSM.",
		prometheus.GaugeValue, func(s *State) float64 { return float64(s.ExtractableKeys) }},
	{"countersign_configuration_older_since_seconds",
		"Since when what is in force is older than its file, as Unix time; 0 if it is not.",
		prometheus.GaugeValue, func(s *State) float64 { return unix(s.OlderSince) }},
	{"countersign_reload_failures_total", "How often a reload failed, or was given up; the log has the cause.",
		prometheus.CounterValue, func(s *State) float64 { return float64(s.ReloadFailures) }},
	{"countersign_log_conflicts", "Organizations that take no requests, because their log is behind what was seen.",
		prometheus.GaugeValue, func(s *State) float64 { return float64(s.LogConflicts) }},
	{"countersign_halted", "Organizations in which signing is halted, for all or for a user or a key.",
		prometheus.GaugeValue, func(s *State) float64 { return float64(s.Halted) }},
	{"countersign_log_memory_write_failures_total",
		"How often the memory of the logs could not be written; the log has the cause.",
		prometheus.CounterValue, func(s *State) float64 { return float64(s.LogMemoryFailures) }},
	{"countersign_events_delivered_total", "Events that the endpoint took.",
		prometheus.CounterValue, func(s *State) float64 { return float64(s.Events.Delivered) }},
	{"countersign_events_failed_attempts_total",
		"Attempts to deliver an event that failed; the log has the cause.",
		prometheus.CounterValue, func(s *State) float64 { return float64(s.Events.Failed) }},
	{"countersign_events_dropped_total", "Events about activities that were dropped: too old or too many.",
		prometheus.CounterValue, func(s *State) float64 { return float64(s.Events.Dropped) }},
	{"countersign_events_others_dropped_total", "Other events that were dropped.",
		prometheus.CounterValue, func(s *State) float64 { return float64(s.Events.DroppedOthers) }},
	{"countersign_events_waiting", "Events in the outbox, on the node that delivers.",
		prometheus.GaugeValue, func(s *State) float64 { return float64(s.Events.Waiting) }},
	{"countersign_events_oldest_seconds", "Age of the oldest event in the outbox; 0 if none waits.",
		prometheus.GaugeValue, func(s *State) float64 {
			if s.Events.Oldest.IsZero() {
				return 0
			}
			return time.Since(s.Events.Oldest).Seconds()
		}},
}

// unix returns a time in seconds; 0 for none.
func unix(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

// Watch adds the series of a State. The function is called once at each scrape. Watch may be
// called only once.
func (m *Metrics) Watch(state func() State) { m.registry.MustRegister(watched(state)) }

// watched collects the series of a State.
type watched func() State

var buildLabels = []string{"version", "commit", "go"}

func (w watched) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(w, out) }

func (w watched) Collect(out chan<- prometheus.Metric) {
	state := w()
	build := prometheus.NewDesc("countersign_build_info", "The build, as labels; always 1.", buildLabels, nil)
	out <- prometheus.MustNewConstMetric(build, prometheus.GaugeValue, 1, state.Version, state.Commit, state.Go)
	for _, one := range series {
		description := prometheus.NewDesc(one.name, one.help, nil, nil)
		out <- prometheus.MustNewConstMetric(description, one.kind, one.value(&state))
	}
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
