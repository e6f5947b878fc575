package requests_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/requests"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/stamp"
)

// TestCompleted checks that missing members are inserted at the front, and that present ones
// stay unchanged.
func TestCompleted(t *testing.T) {
	const kind = `"type":"ACTIVITY_TYPE_VERIFY_OTP"`
	const both = `{"organizationId":"o","timestampMs":"1700000000123"`
	for _, test := range []struct{ body, query, path, whole string }{
		{`{` + kind + `}`, "", "submit/verify_otp", both + `,` + kind + `}`},
		{" \n{ " + kind + "\n}\n", "", "submit/verify_otp", both + `, ` + kind + "\n}\n"},
		{`{` + kind + `,"timestampMs":"5"}`, "", "submit/verify_otp", `{"organizationId":"o",` + kind + `,"timestampMs":"5"}`},
		{`{` + kind + `,"organizationId":"p"}`, "", "submit/verify_otp", `{"timestampMs":"1700000000123",` + kind + `,"organizationId":"p"}`},
		{` {"timestampMs":"5", "organizationId":"p",` + kind + `} `, "", "submit/verify_otp", ` {"timestampMs":"5", "organizationId":"p",` + kind + `} `},
		{`{}`, "whoami", "query/whoami", `{"organizationId":"o"}`},
		{`{ }`, "whoami", "query/whoami", `{"organizationId":"o" }`},
		{`{"organizationId":"p"}`, "whoami", "query/whoami", `{"organizationId":"p"}`},
		{`{"activityId":"{"}`, "get_activity", "query/get_activity", `{"organizationId":"o","activityId":"{"}`},
	} {
		path, whole, err := requests.Completed([]byte(test.body), test.query, "o", time.UnixMilli(1700000000123))
		if err != nil || path != test.path || string(whole) != test.whole {
			t.Errorf("%s: %s, %s, %v", test.body, path, whole, err)
		}
	}
	for _, body := range []string{"", "null", "[]", `"x"`, "{", `{"type":1}`, `{"type":null}`, `{"type":"ACTIVITY_TYPE_NONE"}`, `{}`} {
		if path, whole, err := requests.Completed([]byte(body), "", "o", time.Now()); err == nil {
			t.Errorf("%q: %s, %s", body, path, whole)
		}
	}
}

// TestSubmitElsewhere checks that an answer which is not JSON, from another kind of server,
// is a failure, and not printed.
func TestSubmitElsewhere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>\x1b[2J") }))
	defer server.Close()
	s := clitest.NewSession(t)
	path := filepath.Join(s.Dir, "key.json")
	clitest.WritePrivate(t, path, clitest.APIKeyFile(stamp.CurveP256))
	stdout, stderr, status := s.Run([]byte("{}"), "submit", "--query", "whoami", "--url", server.URL, "--api-key", path)
	if status != console.ExitFailure || len(stdout) != 0 || !strings.Contains(string(stderr), "the answer is not JSON: is --url http://127.0.0.1:") {
		t.Errorf("exit status %d, printed %q, %s", status, stdout, stderr)
	}
}

// TestSavedBody checks that the saved body gets the recorded answer when it is sent again,
// and that an existing file is not overwritten.
func TestSavedBody(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	n := s.Start(t, "--admin", "none")
	saved := filepath.Join(s.Dir, "sent.json")
	submit := func(body []byte, more ...string) ([]byte, error) {
		command := exec.CommandContext(t.Context(), "countersign", append([]string{"submit", "--url", n.Base, "--api-key", filepath.Join(s.Dir, setup.APIKeyName)}, more...)...)
		command.Stdin = bytes.NewReader(body)
		return command.Output()
	}
	body := []byte(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","parameters":{"signWith":"` + s.Signer + `","unsignedTransaction":"` + clitest.Unsigned + `","type":"TRANSACTION_TYPE_ETHEREUM"}}`)
	first, err := submit(body, "--save-body", saved)
	if err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	kept := testenv.Read(t, saved)
	if again, err := submit(kept); err != nil || !bytes.Equal(again, first) {
		t.Errorf("%v: %s, want %s", err, again, first)
	}
	if out, err := submit(body, "--save-body", saved); err == nil || len(out) > 0 {
		t.Errorf("the body of before was written over, or the new one sent without: %s", out)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
}
