package packaging_test

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"

	"github.com/goccy/go-yaml"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/metrics"
)

// outcomes are the outcomes that queries may name.
var outcomes = []activity.Reason{
	"completed", "repeated",
	activity.ReasonInternal, activity.ReasonUnavailable, activity.ReasonHazardNotAllowed, activity.ReasonNotAuthorized,
	activity.ReasonSignatureInvalid, activity.ReasonInvalidTime, activity.ReasonRateLimitExceeded, activity.ReasonMaxOTPInitiated,
}

// servedMetrics returns the metrics of a server that has just started.
func servedMetrics(t *testing.T) string {
	t.Helper()
	seen := metrics.New()
	seen.Watch(func() metrics.State { return metrics.State{CertificateExpiry: time.Unix(1, 0), Ready: true} })
	for _, outcome := range remote.Outcomes() {
		seen.ObserveService(remote.Observation{Service: "awskms", Operation: "sign", Outcome: outcome, Duration: 1})
	}
	answer := httptest.NewRecorder()
	seen.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return answer.Body.String()
}

var (
	querySeries   = regexp.MustCompile(`\b(?:countersign|process)_[a-z_]+`)
	queryGroups   = regexp.MustCompile(`\b(?:by|on) \(([a-z, ]+)\)`)
	queryLabels   = regexp.MustCompile(`([a-z]+)[=!]~?"`)
	queryOutcomes = regexp.MustCompile(`outcome[=!]~?"([A-Za-z_|]+)"`)
)

// checkQuery checks that the series, labels and outcomes in a query exist.
func checkQuery(t *testing.T, where, query, served string) {
	t.Helper()
	names := querySeries.FindAllString(query, -1)
	if len(names) == 0 {
		t.Errorf("%s: no series in %s", where, query)
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(served) {
			t.Errorf("%s: there is no series %s", where, name)
		}
	}
	var labels []string
	for _, match := range queryGroups.FindAllStringSubmatch(query, -1) {
		labels = append(labels, strings.Split(match[1], ", ")...)
	}
	for _, match := range queryLabels.FindAllStringSubmatch(query, -1) {
		labels = append(labels, match[1])
	}
	for _, label := range labels {
		if label != "instance" && !strings.Contains(served, label+`="`) { // instance is Prometheus's own
			t.Errorf("%s: there is no label %s", where, label)
		}
	}
	for _, match := range queryOutcomes.FindAllStringSubmatch(query, -1) {
		for outcome := range strings.SplitSeq(match[1], "|") {
			if !slices.Contains(outcomes, activity.Reason(outcome)) && !slices.Contains(remote.Outcomes(), remote.Outcome(outcome)) {
				t.Errorf("%s: there is no outcome %s", where, outcome)
			}
		}
	}
}

// ruleFile is alerts.yaml.
type ruleFile struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr string
			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

// TestAlerts checks that the rules name only existing series, labels and outcomes, because
// other rules would never fire, and that each rule and each series says what it means.
func TestAlerts(t *testing.T) {
	content, err := os.ReadFile("alerts.yaml")
	testenv.Must(t, err)
	var file ruleFile
	if err := yaml.Unmarshal(content, &file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("%v", err)
	}
	served := servedMetrics(t)
	for _, rule := range file.Groups[0].Rules {
		checkQuery(t, rule.Alert, rule.Expr, served)
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
			t.Errorf("%s: no severity, or no summary", rule.Alert)
		}
	}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (countersign_[a-z_]+) `).FindAllStringSubmatch(served, -1) {
		if help := regexp.MustCompile(`(?m)^# HELP ` + match[1] + ` .{10,}$`); !help.MatchString(served) {
			t.Errorf("%s has no help", match[1])
		}
	}
}
