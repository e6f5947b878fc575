package packaging_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/metrics"
)

// watched is a server's metrics, with what is read at each scrape.
type watched struct {
	*metrics.Metrics
	ready              bool
	conflicts, skipped int
	failures           uint64
	expiry             time.Time
	events             metrics.Events
	older              time.Time
}

func newWatched() *watched {
	w := &watched{Metrics: metrics.New(), ready: true}
	w.Watch(func() metrics.State {
		return metrics.State{CertificateExpiry: w.expiry, Ready: w.ready, SkippedKeys: w.skipped, OlderSince: w.older,
			LogConflicts: w.conflicts, LogMemoryFailures: w.failures, Events: w.events}
	})
	return w
}

// refuse counts a refusal.
func (w *watched) refuse(operation, reason string) {
	w.Observe(countersign.Observation{Operation: operation, Reason: activity.Reason(reason)})
}

// quiet is for how many scrapes, of 15 seconds each, nothing happens.
const quiet = 20

// events are what each rule is about: once happens after the quiet time, and then each is
// repeated at every scrape until the rule is asked, with labels that the alert has besides
// its severity.
var events = map[string]struct {
	once, each func(*watched)
	scrapes    int // after the quiet time
	labels     map[string]string
}{
	"CountersignFault": {
		once:    func(w *watched) { w.refuse("sign_transaction", "INTERNAL") },
		scrapes: 4, labels: map[string]string{"operation": "sign_transaction", "outcome": "INTERNAL"},
	},
	"CountersignNotReady":    {once: func(w *watched) { w.ready = false }, scrapes: 6},
	"CountersignLogConflict": {once: func(w *watched) { w.conflicts = 1 }, scrapes: 2},
	"CountersignUnavailable": {
		each:    func(w *watched) { w.refuse("sign_transaction", "UNAVAILABLE") },
		scrapes: 24, labels: map[string]string{"operation": "sign_transaction", "outcome": "UNAVAILABLE"},
	},
	"CountersignKeyService": {
		each: func(w *watched) {
			w.ObserveService(remote.Observation{Service: "awskms", Operation: "sign", Outcome: remote.Denied, Duration: 1})
		},
		scrapes: 28, labels: map[string]string{"service": "awskms", "outcome": string(remote.Denied)},
	},
	"CountersignRefusedByPolicy": {
		once:    func(w *watched) { w.refuse("sign_transaction", "HAZARD_NOT_ALLOWED") },
		scrapes: 4, labels: map[string]string{"operation": "sign_transaction", "outcome": "HAZARD_NOT_ALLOWED"},
	},
	"CountersignStampsRefused": {
		each: func(w *watched) {
			for range 3 {
				w.refuse("whoami", "SIGNATURE_INVALID")
			}
		},
		scrapes: 124, labels: map[string]string{"operation": "whoami", "outcome": "SIGNATURE_INVALID"},
	},
	"CountersignClock": {
		once: func(w *watched) {
			for range 6 {
				w.refuse("sign_transaction", "INVALID_TIME")
			}
		},
		scrapes: 4, labels: map[string]string{"operation": "sign_transaction", "outcome": "INVALID_TIME"},
	},
	"CountersignLimited": {
		each: func(w *watched) {
			for range 3 {
				w.refuse("verify_otp", "RATE_LIMIT_EXCEEDED")
			}
		},
		scrapes: 124, labels: map[string]string{"operation": "verify_otp", "outcome": "RATE_LIMIT_EXCEEDED"},
	},
	"CountersignSlow": {
		each: func(w *watched) {
			w.Observe(countersign.Observation{Operation: "sign_transaction", Performed: 3 * time.Second})
		},
		scrapes: 84, labels: map[string]string{"operation": "sign_transaction"},
	},
	"CountersignCertificateExpires": {once: func(w *watched) { w.expiry = time.Unix(1_000_000, 0) }, scrapes: 2},
	"CountersignConfigurationOld":   {once: func(w *watched) { w.older = time.Unix(1_000_000, 0) }, scrapes: 44},
	"CountersignLogMemory":          {once: func(w *watched) { w.failures++ }, scrapes: 4},
	"CountersignEventsLate":         {once: func(w *watched) { w.events.Oldest = time.Now().Add(-2 * time.Hour) }, scrapes: 24},
	"CountersignEventsDropped":      {once: func(w *watched) { w.events.Dropped++ }, scrapes: 4},
	"CountersignSkippedKeys":        {once: func(w *watched) { w.skipped = 1 }, scrapes: 2},
}

var seriesLine = regexp.MustCompile(`(?m)^(countersign_[^ ]+) (.+)$`)

// scrapeInto appends the values of one scrape to the series of a test. A series that was not
// there before begins with absent values.
func scrapeInto(t *testing.T, w *watched, series map[string][]string, scrapes int) {
	t.Helper()
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	for _, match := range seriesLine.FindAllStringSubmatch(answer.Body.String(), -1) {
		for len(series[match[1]]) < scrapes {
			series[match[1]] = append(series[match[1]], "_")
		}
		series[match[1]] = append(series[match[1]], match[2])
	}
}

// TestAlertsFire checks with Prometheus's own evaluation that each rule is silent on a server
// that has just started and fires after its event, the first since the start.
func TestAlertsFire(t *testing.T) {
	promtool := testenv.Tool(t, "promtool")
	content, err := os.ReadFile("alerts.yaml")
	testenv.Must(t, err)
	var file ruleFile
	testenv.Must(t, yaml.Unmarshal(content, &file))
	rules, err := filepath.Abs("alerts.yaml")
	testenv.Must(t, err)
	type expectation = map[string]any
	var tests []expectation
	for _, rule := range file.Groups[0].Rules {
		event, ok := events[rule.Alert]
		if !ok {
			t.Errorf("%s: no event is known that fires it", rule.Alert)
			continue
		}
		w, series := newWatched(), map[string][]string{}
		for scrape := range quiet + event.scrapes {
			if scrape == quiet && event.once != nil {
				event.once(w)
			}
			if scrape >= quiet && event.each != nil {
				event.each(w)
			}
			scrapeInto(t, w, series, scrape)
		}
		var input []expectation
		for name, values := range series {
			if strings.Contains(rule.Expr, strings.SplitN(name, "{", 2)[0]) {
				input = append(input, expectation{"series": name, "values": strings.Join(values, " ")})
			}
		}
		labels := expectation{}
		for name, value := range rule.Labels {
			labels[name] = value
		}
		for name, value := range event.labels {
			labels[name] = value
		}
		at := func(scrapes int) string { return fmt.Sprintf("%ds", (scrapes-1)*15) }
		tests = append(tests, expectation{"name": rule.Alert, "interval": "15s", "input_series": input, "alert_rule_test": []expectation{
			{"eval_time": at(quiet), "alertname": rule.Alert, "exp_alerts": []expectation{}},
			{"eval_time": at(quiet + event.scrapes), "alertname": rule.Alert, "exp_alerts": []expectation{{"exp_labels": labels, "exp_annotations": rule.Annotations}}},
		}})
	}
	written, err := yaml.Marshal(expectation{"rule_files": []string{rules}, "evaluation_interval": "15s", "tests": tests})
	testenv.Must(t, err)
	path := filepath.Join(t.TempDir(), "tests.yaml")
	testenv.Must(t, os.WriteFile(path, written, 0o600))
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
