package serve_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestAdmin checks that health, readiness and metrics are served at the admin address and
// nowhere else.
func TestAdmin(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	read, write, err := os.Pipe()
	testenv.Must(t, err)
	defer read.Close()
	command := exec.Command("countersign", "serve", "--config", s.Config(), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	command.Stderr = write
	out, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	write.Close()
	defer func() { _ = command.Process.Kill() }()
	log := bufio.NewReader(read)
	line, err := log.ReadString('\n')
	found := clitest.AdminAddress.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err = log.ReadString('\n'); err != nil || !strings.Contains(line, `"server":"api"`) || !strings.Contains(line, `"version":`) {
		t.Errorf("%q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	var ready struct{ Listening string }
	testenv.Must(t, json.NewDecoder(out).Decode(&ready))
	to := deployment.Client{Base: "http://" + ready.Listening}
	to.By = s.By
	if _, err := to.Post(t.Context(), "submit/sign_transaction", clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.Unsigned, time.Now())); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/healthz": `{"status":"ok"}`,
		"/readyz":  `{"status":"ready"}`,
		"/metrics": `countersign_requests_total{operation="sign_transaction",outcome="completed"} 1`,
	} {
		if status, body := clitest.Get(t, "http://"+found[1]+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("admin %s: %d %.200s", path, status, body)
		}
		if status, _ := clitest.Get(t, to.Base+path); status != http.StatusNotFound {
			t.Errorf("the API serves %s: %d", path, status)
		}
	}
	testenv.Must(t, command.Process.Signal(syscall.SIGTERM))
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

// TestAddressInUse checks that a second server with the same configuration picks another
// admin port if its API was moved too, and refuses to start otherwise.
func TestAddressInUse(t *testing.T) {
	t.Parallel()
	s, other := clitest.NewServed(t), clitest.NewServed(t)
	holder := s.Start(t, "--admin", "127.0.0.1:0")
	taken := strings.TrimPrefix(holder.Base, "http://")
	other.Edit(t, "admin: 127.0.0.1:8081", "admin: "+taken)
	second := other.Start(t)
	if status := second.End(t, syscall.SIGTERM); status != console.ExitSuccess || !strings.Contains(second.Log.String(), "the admin address is in use") {
		t.Errorf("exit status %d: %s", status, second.Log)
	}
	other.Edit(t, "listen: 127.0.0.1:8080", "listen: 127.0.0.1:0")
	out, err := exec.Command("countersign", "serve", "--config", other.Config()).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("countersign: admin: listen tcp "+taken+": bind: address already in use: another process listens there: stop it, or choose another address with admin in the configuration or --admin")) {
		t.Errorf("%v: %s", err, out)
	}
	if status := holder.End(t, os.Interrupt); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, holder.Log)
	}
}

// TestGracefulShutdown checks that requests in flight at SIGTERM are finished and answered,
// and later ones are not accepted.
func TestGracefulShutdown(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	arrived, released := make(chan *http.Request, 1), make(chan struct{})
	endpoint := startEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- r
		<-released
	})
	clitest.WritePrivate(t, filepath.Join(s.Dir, "headers"), "Authorization: Bearer hunter2\nX-Account: 7\n")
	s.Edit(t, "outbox: outbox", "sms: {webhook: {url: "+endpoint+", headersFile: headers}}")
	n := s.Start(t, "--admin", "none")
	type answered struct {
		text []byte
		err  error
	}
	answers := make(chan answered, 1)
	go func() {
		text, err := n.Post(t.Context(), "submit/init_otp_auth", clitest.OTPBody(s.By.OrganizationID))
		answers <- answered{text, err}
	}()
	sent := <-arrived
	if sent.Header.Get("Authorization") != "Bearer hunter2" || sent.Header.Get("X-Account") != "7" || sent.Header.Get("webhook-signature") == "" {
		t.Errorf("the webhook got the headers %v", sent.Header)
	}
	testenv.Must(t, n.Command.Process.Signal(syscall.SIGTERM))
	testenv.Await(t, "it takes no connections", func() bool {
		response, err := http.Get(n.Base)
		if err == nil {
			_ = response.Body.Close()
		}
		return err != nil
	})
	close(released)
	if got := <-answers; got.err != nil || !bytes.Contains(got.text, []byte(`"otpId"`)) {
		t.Errorf("%s, %v", got.text, got.err)
	}
	if status := n.Wait(t); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
	if strings.Contains(n.Log.String(), "hunter2") {
		t.Error("the log has a secret header")
	}
}

func startEndpoint(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}
