package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestConsolePaths checks which paths are the approvals page's: /console is redirected to
// it, and everything else is the API's.
func TestConsolePaths(t *testing.T) {
	page, err := console.New(console.Options{Origin: "https://sign.example.com", RPID: "example.com"})
	testenv.Must(t, err)
	served := withConsole(page, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for path, status := range map[string]int{
		"/console/": http.StatusOK, "/console/app.js": http.StatusOK, "/console/none": http.StatusNotFound,
		"/console": http.StatusTemporaryRedirect, "/consoles": http.StatusTeapot, "/": http.StatusTeapot,
		"/x/console/": http.StatusTeapot, "//public/v1/query/whoami": http.StatusTeapot,
	} {
		answer := httptest.NewRecorder()
		served.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if answer.Code != status {
			t.Errorf("%s: %d, want %d", path, answer.Code, status)
		}
		if location := answer.Header().Get("Location"); answer.Code == http.StatusTemporaryRedirect && location != console.Path {
			t.Errorf("%s is redirected to %s", path, location)
		}
	}
}
