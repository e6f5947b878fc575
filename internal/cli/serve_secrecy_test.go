package cli

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/otp"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/outbox"
)

// TestUnusedCodeLeaksNowhere checks that an unused one-time password is in its message and
// nowhere else: not in the debug log, a metric, an answer or an error, and not in the
// server's files.
func TestUnusedCodeLeaksNowhere(t *testing.T) {
	s := newServed(t)
	admin := testenv.FreeAddress(t)
	n := s.start(t, "--admin", admin, "--log-level", "debug")
	answer, id, code := n.issueCode(t, s)
	seen := map[string]string{"answer": string(answer)}
	_, refused := otp.Redeem(t.Context(), &n.Client, id, "000000000")
	if refused == nil {
		t.Fatal("a wrong code was accepted")
	}
	seen["error"] = refused.Error()
	_, seen["metrics"] = get(t, "http://"+admin+"/metrics")
	if status := n.end(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, n.log)
	}
	seen["log"] = n.log.String()
	if !strings.Contains(seen["log"], "init_otp_auth") || !strings.Contains(seen["metrics"], "init_otp_auth") {
		t.Errorf("the log or the metrics do not show the requests:\n%s\n%s", seen["log"], seen["metrics"])
	}
	s.readFiles(t, seen)
	for place, text := range seen {
		for _, form := range []string{code, strings.ToLower(code), hex.EncodeToString([]byte(code))} {
			if strings.Contains(text, form) {
				t.Errorf("the %s contains the code", place)
			}
		}
	}
}

// issueCode has a one-time password sent to the outbox. It returns the answer, the otpId and
// the code.
func (n *node) issueCode(t *testing.T, s *served) (answer []byte, id, code string) {
	t.Helper()
	answer, err := n.Post(t.Context(), "submit/init_otp_auth", otpBody(s.by.OrganizationID))
	if err != nil {
		t.Fatal(err)
	}
	var issued demoAnswer
	if err := json.Unmarshal(answer, &issued); err != nil {
		t.Fatal(err)
	}
	id = issued.Activity.Result.InitOTPAuthResultV2.OTPID
	content, err := os.ReadFile(filepath.Join(s.dir, setup.OutboxName, id+".json"))
	var message outbox.File
	if err != nil || json.Unmarshal(content, &message) != nil {
		t.Fatalf("%s, %v", content, err)
	}
	code, _, _ = strings.Cut(message.Text, " ")
	if len(code) != 9 {
		t.Fatalf("no code in %q", message.Text)
	}
	return answer, id, code
}

// readFiles adds all files of the deployment except the outbox. The store must be among
// them.
func (s *served) readFiles(t *testing.T, into map[string]string) {
	t.Helper()
	store := false
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, setup.OutboxName+"/") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(s.dir, path))
		store = store || strings.HasSuffix(path, ".db")
		into["file "+path] = string(content)
		return err
	})
	if err != nil || !store {
		t.Fatal(fmt.Errorf("the store's file is not among those searched: %w", err))
	}
}
