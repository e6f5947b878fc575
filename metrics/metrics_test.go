package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/metrics"
)

func TestMetrics(t *testing.T) {
	seen := metrics.New()
	f := enginetest.New(t, func(c *countersign.Config) { c.Observer = seen })
	good := f.APIKey.Sign(f.Body(enginetest.Request{}))
	wrong := good
	wrong.Stamps = nil
	for _, sent := range []countersign.SignedBody{good, good, good, wrong, {Body: []byte(`{"type":"<stranger>"`)}} {
		_, _ = f.Engine.Submit(t.Context(), sent)
	}
	_, _ = f.Engine.WhoAmI(t.Context(), f.APIKey.Sign(`{"organizationId":"`+enginetest.Organization+`"}`))

	answer := httptest.NewRecorder()
	seen.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	text := answer.Body.String()
	for _, line := range []string{
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
		t.Error("something of a request stands in a label")
	}
}

// TestDescribe shows the build, and when the certificate expires at each scrape.
func TestDescribe(t *testing.T) {
	seen := metrics.New()
	var expiry time.Time
	seen.Describe("v1.2.3", "abc", "go1.26", func() time.Time { return expiry })
	for _, want := range []string{"countersign_tls_certificate_expiry_seconds 0\n", "countersign_tls_certificate_expiry_seconds 1.7e+09\n"} {
		answer := httptest.NewRecorder()
		seen.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		if text := answer.Body.String(); !strings.Contains(text, want) || !strings.Contains(text, `countersign_build_info{commit="abc",go="go1.26",version="v1.2.3"} 1`) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
		expiry = time.Unix(1_700_000_000, 0)
	}
}

// TestWatchReady asks at each scrape.
func TestWatchReady(t *testing.T) {
	seen := metrics.New()
	ready := false
	seen.WatchReady(func() bool { return ready })
	for _, want := range []string{"countersign_ready 0\n", "countersign_ready 1\n"} {
		answer := httptest.NewRecorder()
		seen.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		if text := answer.Body.String(); !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
		ready = true
	}
}

// TestWatchKeys counts at each scrape.
func TestWatchKeys(t *testing.T) {
	seen := metrics.New()
	skipped := 0
	seen.WatchKeys(func() int { return skipped }, func() int { return 7 })
	for _, want := range []string{"countersign_skipped_keys 0\n", "countersign_skipped_keys 1\n"} {
		answer := httptest.NewRecorder()
		seen.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		if text := answer.Body.String(); !strings.Contains(text, want) || !strings.Contains(text, "countersign_extractable_keys 7\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
		skipped++
	}
}
