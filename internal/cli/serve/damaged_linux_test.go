package serve_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestServesDamagedStore overwrites pages of the file of a running server: from the first
// request that reads them on, requests are refused, /readyz and the health command say why,
// and the process goes on. It does not start with the file again, and prints no trace.
func TestServesDamagedStore(t *testing.T) {
	t.Parallel()
	const says = "is damaged: restore a backup (docs/operations.md#restore)"
	s := clitest.NewServed(t)
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin)
	one := signs(t, n, s, 1)
	if status, body := readyz(t, admin); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	path := filepath.Join(s.Dir, setup.StoreName)
	overwrite(t, path)
	query := console.JSONLine(map[string]string{"organizationId": s.By.OrganizationID, "activityId": one.id})
	for _, ask := range []func() error{
		func() error { _, err := n.Post(t.Context(), "query/get_activity", query); return err },
		func() error { _, err := n.Post(t.Context(), "submit/sign_transaction", one.body); return err },
		func() error { _, err := submits(t, n, s, 2); return err },
	} {
		if err := ask(); !isUnavailable(err) {
			t.Errorf("over a damaged file: %v", err)
		}
	}
	if status, body := readyz(t, admin); status != http.StatusServiceUnavailable || !strings.Contains(body, says) {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if _, metrics := clitest.Get(t, "http://"+admin+"/metrics"); !strings.Contains(metrics, "countersign_ready 0\n") {
		t.Error("countersign_ready is not 0")
	}
	health, err := exec.CommandContext(t.Context(), "countersign", "health", "--url", "http://"+admin).CombinedOutput()
	if err == nil || !bytes.Contains(health, []byte(says)) {
		t.Errorf("health: %v, %s", err, health)
	}
	n.End(t, syscall.SIGTERM)
	again, err := exec.CommandContext(t.Context(), "countersign", "serve", "--check", "--new-store", "--config", s.Config()).CombinedOutput()
	if err == nil {
		t.Errorf("a new store in place of a damaged one: %s", again)
	}
	for what, out := range map[string][]byte{"serve": n.Log.Bytes(), "serve again": again, "health": health} {
		if bytes.Contains(out, []byte("goroutine ")) || bytes.Contains(out, []byte("SIGBUS")) {
			t.Errorf("%s prints a trace: %s", what, out)
		}
	}
}

// overwrite zeroes all pages of a bolt file but the two meta pages.
func overwrite(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	testenv.Must(t, err)
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	testenv.Must(t, err)
	meta := 2 * os.Getpagesize()
	if _, err := file.WriteAt(make([]byte, int(info.Size())-meta), int64(meta)); err != nil {
		t.Fatal(err)
	}
}
