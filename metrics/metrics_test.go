package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
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
	source, err := os.ReadFile("../activity/error.go")
	if err != nil {
		t.Fatal(err)
	}
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

// TestDescribe checks the build, and that the expiry is read at each scrape.
func TestDescribe(t *testing.T) {
	observer := metrics.New()
	var expiry time.Time
	observer.Describe("v1.2.3", "abc", "go1.26", func() time.Time { return expiry })
	for _, want := range []string{"countersign_tls_certificate_expiry_seconds 0\n", "countersign_tls_certificate_expiry_seconds 1.7e+09\n"} {
		if text := scrape(t, observer); !strings.Contains(text, want) || !strings.Contains(text, `countersign_build_info{commit="abc",go="go1.26",version="v1.2.3"} 1`) {
			t.Errorf("no %s in\n%s", want, text)
		}
		expiry = time.Unix(1_700_000_000, 0)
	}
}

// TestWatchReady checks that readiness is read at each scrape.
func TestWatchReady(t *testing.T) {
	observer := metrics.New()
	ready := false
	observer.WatchReady(func() bool { return ready })
	for _, want := range []string{"countersign_ready 0\n", "countersign_ready 1\n"} {
		if text := scrape(t, observer); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
		ready = true
	}
}

// TestWatchKeys checks that keys are counted at each scrape.
func TestWatchKeys(t *testing.T) {
	observer := metrics.New()
	skipped := 0
	observer.WatchKeys(func() int { return skipped }, func() int { return 7 })
	for _, want := range []string{"countersign_skipped_keys 0\n", "countersign_skipped_keys 1\n"} {
		if text := scrape(t, observer); !strings.Contains(text, want) || !strings.Contains(text, "countersign_extractable_keys 7\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
		skipped++
	}
}

// TestWatchConfiguration checks that the age and the failures are read at each scrape.
func TestWatchConfiguration(t *testing.T) {
	observer := metrics.New()
	var older time.Time
	observer.WatchConfiguration(func() time.Time { return older }, func() uint64 { return 7 })
	for _, want := range []string{"countersign_configuration_older_since_seconds 0\n", "countersign_configuration_older_since_seconds 1e+06\n"} {
		if text := scrape(t, observer); !strings.Contains(text, want) || !strings.Contains(text, "countersign_reload_failures_total 7\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
		older = time.Unix(1_000_000, 0)
	}
}

// TestWatchLogs checks that conflicts and failed writes are read at each scrape.
func TestWatchLogs(t *testing.T) {
	observer := metrics.New()
	conflicts := 0
	observer.WatchLogs(func() int { return conflicts }, func() int { return 3 }, func() uint64 { return 7 })
	for _, want := range []string{"countersign_log_conflicts 0\n", "countersign_log_conflicts 1\n"} {
		if text := scrape(t, observer); !strings.Contains(text, want) || !strings.Contains(text, "countersign_log_memory_write_failures_total 7\n") ||
			!strings.Contains(text, "countersign_halted 3\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
		conflicts++
	}
}
