package remote_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// TestBounded: no redirect is followed, and no more than the bound is read of an answer.
func TestBounded(t *testing.T) {
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	length := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		for left := length; left != 0; {
			n, err := io.WriteString(w, strings.Repeat("a", min(max(left, -left), 64<<10)))
			if left -= n; err != nil {
				return // the client has had enough
			}
		}
	}))
	defer server.Close()
	client := &http.Client{Transport: remote.Bounded(http.DefaultTransport)}
	if _, err := client.Get(server.URL + "/redirect"); err == nil || !strings.Contains(err.Error(), "the service redirects (307)") || elsewhere != 0 {
		t.Errorf("%v, and the other address was asked %d times", err, elsewhere)
	}
	for bytes, ok := range map[int]bool{0: true, 300: true, remote.MaxAnswer: true, remote.MaxAnswer + 1: false, -1: false} { // -1: endless
		length = bytes
		answer, err := client.Get(server.URL)
		testenv.Must(t, err)
		content, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if ok != (err == nil) || ok && len(content) != bytes || len(content) > remote.MaxAnswer {
			t.Errorf("%d bytes: read %d, %v", bytes, len(content), err)
		}
	}
}
