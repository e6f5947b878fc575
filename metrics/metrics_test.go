package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/metrics"
)

// scrape returns the metrics as Prometheus reads them.
func scrape(t *testing.T, observer *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	observer.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return answer.Body.String()
}

func TestMetrics(t *testing.T) {
	observer := metrics.New()
	f := enginetest.New(t, func(c *countersign.Config) { c.Observer = observer })
	good := f.APIKey.Sign(f.Body(enginetest.Request{}))
	wrong := good
	wrong.Stamps = nil
	for _, sent := range []countersign.SignedBody{good, good, good, wrong, {Body: []byte(`{"type":"<stranger>"`)}} {
		_, _ = f.Engine.Submit(t.Context(), sent)
	}
	_, _ = f.Engine.WhoAmI(t.Context(), f.APIKey.Sign(`{"organizationId":"`+enginetest.Organization+`"}`))

	observer.Observe(countersign.Observation{Operation: "approve_activity", Waits: true})
	observer.Observe(countersign.Observation{Operation: "approve_activity", Waits: true, Repeated: true})

	text := scrape(t, observer)
	for _, line := range []string{
		`countersign_requests_total{operation="approve_activity",outcome="waiting"} 1`,
		`countersign_requests_total{operation="approve_activity",outcome="repeated"} 1`,
		`countersign_requests_total{operation="sign_transaction",outcome="completed"} 1`,
		`countersign_requests_total{operation="sign_transaction",outcome="repeated"} 2`,
		`countersign_requests_total{operation="sign_transaction",outcome="SIGNATURE_MISSING"} 1`,
		`countersign_requests_total{operation="unknown",outcome="REQUEST_INVALID"} 1`,
		`countersign_requests_total{operation="whoami",outcome="completed"} 1`,
		`countersign_request_duration_seconds_count{operation="sign_transaction"} 4`,
		`countersign_perform_duration_seconds_count{operation="sign_transaction"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(text, "stranger") || strings.Contains(text, enginetest.Organization) {
		t.Error("a label contains text of a request")
	}
}

// TestFromTheStart checks that whatever can be counted is there at 0 before the first
// request, and that no request adds a series: an increase from nothing is none.
func TestFromTheStart(t *testing.T) {
	observer := metrics.New()
	before := scrape(t, observer)
	f := enginetest.New(t, func(c *countersign.Config) { c.Observer = observer })
	operations := append(activity.Queries(), "unknown")
	for _, operation := range activity.Operations() {
		operations = append(operations, operation.Path)
	}
	for _, operation := range operations {
		for _, reason := range append(activity.Reasons(), "completed", "waiting", "repeated", httpapi.NotServed) {
			if line := fmt.Sprintf("countersign_requests_total{operation=%q,outcome=%q} 0\n", operation, reason); !strings.Contains(before, line) {
				t.Errorf("no %s", line)
			}
			observer.Observe(countersign.Observation{Operation: operation, Reason: reason, Duration: 1})
		}
	}
	handler := httpapi.New(f.Engine, httpapi.Options{Observer: observer})
	for _, path := range []string{"/", "/public/v1/query/whoami", "/public/v1/submit/sign_transaction"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}")))
	}
	names := func(text string) []string {
		return regexp.MustCompile(`(?m)^countersign_[^ ]*`).FindAllString(text, -1)
	}
	if after := names(scrape(t, observer)); !slices.Equal(after, names(before)) {
		t.Errorf("%d series, %d before the first request", len(after), len(names(before)))
	}
}

// TestReasons checks that activity.Reasons has every reason that package activity declares.
func TestReasons(t *testing.T) {
	source := testenv.Read(t, "../activity/error.go")
	declared := regexp.MustCompile(`Reason = "([A-Z_]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, one := range declared {
		if !slices.Contains(activity.Reasons(), activity.Reason(one[1])) {
			t.Errorf("activity.Reasons lacks %s", one[1])
		}
	}
	if len(declared) != len(activity.Reasons()) || len(declared) < 15 {
		t.Errorf("%d reasons are declared, %d are listed", len(declared), len(activity.Reasons()))
	}
}

// TestWatch checks that each member of the state has a series, and is read at each scrape.
func TestWatch(t *testing.T) {
	observer := metrics.New()
	at := time.Unix(1_700_000_000, 0)
	var state metrics.State
	observer.Watch(func() metrics.State { return state })
	before := scrape(t, observer)
	state = metrics.State{Version: "v1.2.3", Commit: "abc", Go: "go1.26", CertificateExpiry: at, Ready: true, SkippedKeys: 2,
		ExtractableKeys: 3, OlderSince: at, ReloadFailures: 4, LogConflicts: 5, Halted: 12, LogMemoryFailures: 6,
		Events: metrics.Events{Delivered: 7, Failed: 8, Dropped: 9, DroppedOthers: 10, Waiting: 11, Oldest: time.Now().Add(-time.Hour)}}
	after := scrape(t, observer)
	for name, value := range map[string]string{
		"tls_certificate_expiry_seconds": "1.7e+09", "ready": "1", "skipped_keys": "2", "extractable_keys": "3",
		"configuration_older_since_seconds": "1.7e+09", "reload_failures_total": "4", "log_conflicts": "5", "halted": "12",
		"log_memory_write_failures_total": "6", "events_delivered_total": "7", "events_failed_attempts_total": "8",
		"events_dropped_total": "9", "events_others_dropped_total": "10", "events_waiting": "11", "events_oldest_seconds": "360",
	} {
		if !strings.Contains(before, "countersign_"+name+" 0\n") || !strings.Contains(after, "countersign_"+name+" "+value) {
			t.Errorf("%s: not 0, and then %s:\n%s", name, value, after)
		}
	}
	if !strings.Contains(after, `countersign_build_info{commit="abc",go="go1.26",version="v1.2.3"} 1`) {
		t.Errorf("no build in\n%s", after)
	}
}
