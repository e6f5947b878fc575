package serve_test

import (
	"encoding/hex"
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
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestUnusedCodeLeaksNowhere checks that an unused one-time password is in its message and
// nowhere else: not in the debug log, a metric, an answer or an error, and not in the
// server's files.
func TestUnusedCodeLeaksNowhere(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin, "--log-level", "debug")
	answer, id, code := n.IssueCode(t, s)
	seen := map[string]string{"answer": string(answer)}
	_, refused := otp.Redeem(t.Context(), &n.Client, id, "000000000")
	if refused == nil {
		t.Fatal("a wrong code was accepted")
	}
	seen["error"] = refused.Error()
	_, seen["metrics"] = clitest.Get(t, "http://"+admin+"/metrics")
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, n.Log)
	}
	seen["log"] = n.Log.String()
	if !strings.Contains(seen["log"], "init_otp_auth") || !strings.Contains(seen["metrics"], "init_otp_auth") {
		t.Errorf("the log or the metrics do not show the requests:\n%s\n%s", seen["log"], seen["metrics"])
	}
	readFiles(t, s, seen)
	for place, text := range seen {
		for _, form := range []string{code, strings.ToLower(code), hex.EncodeToString([]byte(code))} {
			if strings.Contains(text, form) {
				t.Errorf("the %s contains the code", place)
			}
		}
	}
}

// readFiles adds all files of the deployment except the outbox. The store must be among
// them.
func readFiles(t *testing.T, s *clitest.Served, into map[string]string) {
	t.Helper()
	store := false
	err := fs.WalkDir(os.DirFS(s.Dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, setup.OutboxName+"/") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(s.Dir, path))
		store = store || strings.HasSuffix(path, ".db")
		into["file "+path] = string(content)
		return err
	})
	if err != nil || !store {
		t.Fatal(fmt.Errorf("the store's file is not among those searched: %w", err))
	}
}
