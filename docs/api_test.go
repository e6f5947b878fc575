package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
)

// TestAPI compares the tables of api.md with what is served.
func TestAPI(t *testing.T) {
	document := read(t, "api.md")
	for _, operation := range activity.Operations() {
		if row := fmt.Sprintf("| `/public/v1/submit/%s` | `%s` |", operation.Path, operation.Type); !strings.Contains(document, row) {
			t.Errorf("no row %s", row)
		}
	}
	handler := httpapi.New(enginetest.New(t).Engine, httpapi.Options{})
	for _, test := range []struct {
		method, path, body string
		status             int
		reason             activity.Reason
	}{
		{http.MethodPost, "/public/v1/submit/sign_transaction", "{", 400, activity.ReasonRequestInvalid},
		{http.MethodPost, "/public/v1/query/whoami", `{"organizationId":"x"}`, 401, activity.ReasonSignatureMissing},
		{http.MethodPost, "/public/v1/query/whoareyou", "{}", 404, activity.ReasonNotFound},
		{http.MethodGet, "/public/v1/query/whoami", "", 405, activity.ReasonRequestInvalid},
	} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
		if answer.Code != test.status || !strings.Contains(answer.Body.String(), string(test.reason)) || answer.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s: %d %s", test.method, test.path, answer.Code, answer.Body)
		}
	}
}

// TestReasons compares the table of errors with the codes.
func TestReasons(t *testing.T) {
	document := read(t, "api.md")
	for reason, status := range map[activity.Reason]int{
		activity.ReasonRequestInvalid: 400, activity.ReasonInvalidTransaction: 400, activity.ReasonUnsupportedTransactionType: 400,
		activity.ReasonHazardNotAllowed: 403, activity.ReasonNotAuthorized: 403, activity.ReasonInvalidTime: 400,
		activity.ReasonSignatureMissing: 401, activity.ReasonSignatureInvalid: 401, activity.ReasonNotFound: 404,
		activity.ReasonOTPInvalid: 400, activity.ReasonUnavailable: 503, activity.ReasonInternal: 500,
	} {
		if row := fmt.Sprintf("| `%s` | %d | %d |", reason, reason.Code(), status); !strings.Contains(document, row) {
			t.Errorf("no row %s", row)
		}
	}
	source := read(t, "../activity/error.go")
	for _, reason := range regexp.MustCompile(`Reason = "([A-Z_]+)"`).FindAllStringSubmatch(source, -1) {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + reason[1] + "`").MatchString(document) {
			t.Errorf("no row for %s", reason[1])
		}
	}
}
