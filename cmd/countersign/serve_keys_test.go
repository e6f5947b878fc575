package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestPlantedKeyFileIsLoggedAndCounted: a file that comes into the keystore of a running
// server and is no key of its passphrase is in the log, as JSON, and in the metrics.
func TestPlantedKeyFileIsLoggedAndCounted(t *testing.T) {
	s := newServed(t)
	admin := testenv.FreeAddress(t)
	n := s.start(t, "--admin", admin)
	counted := func(want string) bool {
		_, text := get(t, "http://"+admin+"/metrics")
		return strings.Contains(text, "\ncountersign_skipped_keys "+want+"\n")
	}
	if !counted("0") {
		t.Error("before: not 0 skipped keys")
	}
	planted := uuid.NewString()
	if err := os.WriteFile(filepath.Join(s.dir, keysName, "keys", planted+".age"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Await(t, "the planted file", func() bool {
		// A request for a key that is not there has the server look again.
		body := signBody(s.by.organizationID, planted, vectorUnsigned, time.Now())
		_, err := n.post(t.Context(), "submit/sign_transaction", body)
		return err != nil && counted("1")
	})
	if status := n.end(t, syscall.SIGTERM); status != exitSuccess {
		t.Errorf("exit status %d", status)
	}
	for line := range strings.Lines(n.log.String()) {
		if strings.Contains(line, planted+".age") && strings.HasPrefix(line, "{") && strings.Contains(line, `"level":"WARN"`) {
			return
		}
	}
	t.Errorf("the file is not in the log:\n%s", n.log)
}
