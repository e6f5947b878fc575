package packaging_test

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/metrics"
)

// outcomes are the reasons that alerts may name.
var outcomes = []activity.Reason{
	activity.ReasonInternal, activity.ReasonUnavailable, activity.ReasonHazardNotAllowed, activity.ReasonNotAuthorized,
	activity.ReasonSignatureInvalid, activity.ReasonInvalidTime, activity.ReasonRateLimitExceeded, activity.ReasonMaxOTPInitiated,
}

// servedMetrics is what a server shows that has had one request.
func servedMetrics(t *testing.T) string {
	t.Helper()
	seen := metrics.New()
	seen.Describe("1", "2", "3", func() time.Time { return time.Unix(1, 0) })
	seen.WatchKeys(func() int { return 0 }, func() int { return 0 })
	seen.Observe(countersign.Observation{Operation: "sign_transaction", Performed: 1})
	answer := httptest.NewRecorder()
	seen.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return answer.Body.String()
}

// TestAlertsNameMetricsThatExist: a rule over a series that is not there never
// fires.
func TestAlertsNameMetricsThatExist(t *testing.T) {
	content, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("%v", err)
	}
	served := servedMetrics(t)
	series, named := regexp.MustCompile(`countersign_[a-z_]+`), regexp.MustCompile(`outcome=~?"([A-Z_|]+)"`)
	for _, rule := range file.Groups[0].Rules {
		names := series.FindAllString(rule.Expr, -1)
		if len(names) == 0 || rule.Labels["severity"] == "" {
			t.Errorf("%s: no series, or no severity", rule.Alert)
		}
		for _, name := range names {
			if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(served) {
				t.Errorf("%s: there is no series %s", rule.Alert, name)
			}
		}
		for _, match := range named.FindAllStringSubmatch(rule.Expr, -1) {
			for outcome := range strings.SplitSeq(match[1], "|") {
				if !slices.Contains(outcomes, activity.Reason(outcome)) {
					t.Errorf("%s: there is no outcome %s", rule.Alert, outcome)
				}
			}
		}
	}
}
