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
	"github.com/countersign-dev/countersign/internal/testenv"
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

// TestReasons requires that the table of errors has every reason of the interface document,
// with its code and status.
func TestReasons(t *testing.T) {
	document := read(t, "api.md")
	var api struct {
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct {
						TurnkeyErrorCode struct{ Enum []activity.Reason }
					}
				}
			}
		}
	}
	testenv.JSON(t, httpapi.OpenAPI, &api)
	statuses := map[activity.Code]int{
		activity.CodeInvalidArgument: 400, activity.CodeUnauthenticated: 401, activity.CodePermissionDenied: 403, activity.CodeNotFound: 404,
		activity.CodeResourceExhausted: 429, activity.CodeInternal: 500, activity.CodeUnavailable: 503,
	}
	reasons := api.Components.Schemas.Error.Properties.TurnkeyErrorCode.Enum
	if len(reasons) == 0 {
		t.Fatal("the interface document lists no reasons")
	}
	for _, reason := range reasons {
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\|[^|]*`%s`[^|]*\\| %d \\| %d \\|", reason, reason.Code(), statuses[reason.Code()]))
		if !row.MatchString(document) {
			t.Errorf("no row %s", row)
		}
	}
}

// TestTroubleshooting: the program prints the messages of the table, as they are written there.
func TestTroubleshooting(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "operations.md"), "\n## Troubleshooting\n")
	section, _, _ = strings.Cut(section, "\n## ")
	messages := regexp.MustCompile("(?m)^\\* `([^`]+)`:").FindAllStringSubmatch(section, -1)
	if len(messages) < 10 {
		t.Fatalf("%d messages", len(messages))
	}
	text := regexp.MustCompile(`" \+\n\t*"`).ReplaceAllString(codeOf(t, false), "")
	for _, message := range messages {
		if !strings.Contains(text, message[1]) {
			t.Errorf("no message %q", message[1])
		}
	}
}
