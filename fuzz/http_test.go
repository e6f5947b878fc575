package fuzz

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/stamp"
)

// FuzzHTTP sends arbitrary requests to the API, with a valid stamp of the body or an
// arbitrary one. It checks that there are no internal errors, that answers are JSON,
// and that only a valid stamp gets a result.
func FuzzHTTP(f *testing.F) {
	fixture := enginetest.New(f)
	handler := httpapi.New(fixture.Engine, httpapi.Options{})
	good := fixture.Body(enginetest.Request{})
	f.Add("POST", "/public/v1/submit/sign_transaction", "", good, true)
	f.Add("POST", "//public/v1/query/whoami", "{}", `{"organizationId":"`+enginetest.Organization+`"}`, true)
	f.Add("POST", "/public/v1/query/get_activity", "e30", `{"organizationId":"other","activityId":"a"}`, false)
	f.Add("OPTIONS", "/public/v1/submit/verify_otp", "", "", false)
	f.Add("GET", "/", "", "", false)
	f.Fuzz(func(t *testing.T, method, path, header, body string, stamped bool) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/", strings.NewReader(body))
		if err != nil {
			return // no server would get it
		}
		request.URL.Path = path
		request.Header.Set(stamp.HeaderAPIKey, header)
		if stamped {
			request.Header.Set(stamp.HeaderAPIKey, fixture.APIKey.Header([]byte(body)).Value)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		expected := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusNoContent}
		if stamped {
			expected = append(expected, http.StatusOK)
		}
		if !slices.Contains(expected, answer.Code) {
			t.Fatalf("%s %q: %d %s", method, path, answer.Code, answer.Body)
		}
		if answer.Code != http.StatusNoContent && !json.Valid(answer.Body.Bytes()) {
			t.Fatalf("%s %q: the answer is no JSON: %s", method, path, answer.Body)
		}
	})
}
