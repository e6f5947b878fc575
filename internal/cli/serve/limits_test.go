package serve_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestConnectionLimit checks that a connection beyond the limit replaces an idle one.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	s.Edit(t, "otp:\n", "limits: {connections: 1}\notp:\n")
	n := s.Start(t, "--admin", "none")
	address := strings.TrimPrefix(n.Base, "http://")
	idle, err := net.Dial("tcp", address)
	testenv.Must(t, err)
	defer idle.Close()
	if status, _ := clitest.Get(t, n.Base+"/"); status == 0 {
		t.Error("the second connection was not served")
	}
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the first connection: %v", err)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
}

// TestMemoryLimits checks that the configured limits reach the handler.
func TestMemoryLimits(t *testing.T) {
	t.Parallel()
	const base = "keystore: file:keys\norganizations: [{id: a, name: A}]\nlimits: "
	path := filepath.Join(t.TempDir(), "countersign.yaml")
	clitest.WritePrivate(t, path, base+"{requestBytes: 9000000, answerBytes: 10000000}\n")
	configured, err := config.Read(path)
	testenv.Must(t, err)
	if options := new(serve.Server).Options(configured); options.MaxBufferedBytes != 9_000_000 || options.MaxAnswerBytes != 10_000_000 {
		t.Errorf("%+v", options)
	}
}

// TestServerLogLevels checks that failures to accept connections are warnings, and that
// errors caused by strangers are logged at level debug.
func TestServerLogLevels(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	written := serve.ServerLog{Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for line, level := range map[string]string{
		"http: Accept error: accept tcp 127.0.0.1:1: accept4: too many open files; retrying in 1s\n": "WARN",
		"http: TLS handshake error from 192.0.2.1:1: EOF\n":                                          "DEBUG",
	} {
		log.Reset()
		if n, err := written.Write([]byte(line)); err != nil || n != len(line) {
			t.Errorf("%d, %v", n, err)
		}
		if !strings.Contains(log.String(), `"level":"`+level+`"`) || !strings.Contains(log.String(), strings.TrimSpace(line)) {
			t.Errorf("want %s: %s", level, &log)
		}
	}
}

// TestPlantedKeyFile checks that a file which appears in the keystore of a running server and
// is no key of its passphrase is logged as JSON and counted.
func TestPlantedKeyFile(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin)
	counted := func(want string) bool {
		_, text := clitest.Get(t, "http://"+admin+"/metrics")
		return strings.Contains(text, "\ncountersign_skipped_keys "+want+"\n")
	}
	if !counted("0") {
		t.Error("before: not 0 skipped keys")
	}
	planted := uuid.NewString()
	testenv.Write(t, filepath.Join(s.Dir, setup.KeysName, "keys", planted+".age"), []byte("garbage"))
	testenv.Await(t, "the planted file", func() bool {
		// A request for an unknown key makes the server rescan.
		body := clitest.SignBody(s.By.OrganizationID, planted, clitest.Unsigned, time.Now())
		_, err := n.Post(t.Context(), "submit/sign_transaction", body)
		return err != nil && counted("1")
	})
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
	for line := range strings.Lines(n.Log.String()) {
		if strings.Contains(line, planted+".age") && strings.HasPrefix(line, "{") && strings.Contains(line, `"level":"WARN"`) {
			return
		}
	}
	t.Errorf("the file is not in the log:\n%s", n.Log)
}
