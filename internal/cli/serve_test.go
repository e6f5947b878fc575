package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// served is a directory made by init, with its API key and a signing key.
type served struct {
	dir    string
	by     *api.Key
	signer string // the id of a secp256k1 key
	named  string // of the configuration, if it is another one
}

func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{dir: filepath.Join(t.TempDir(), "made")}
	s.run(t, "init", s.dir)
	content, err := os.ReadFile(filepath.Join(s.dir, setup.APIKeyName))
	if err != nil {
		t.Fatal(err)
	}
	if s.by, err = api.ParseKey(bytes.TrimSpace(content)); err != nil {
		t.Fatal(err)
	}
	var key show.KeyLine
	line := s.run(t, "keys", "generate", "--config", s.config(), "--curve", "CURVE_SECP256K1")
	if err := json.Unmarshal(line, &key); err != nil {
		t.Fatal(err)
	}
	s.signer = key.PrivateKeyID
	return s
}

func (s *served) config() string { return filepath.Join(s.dir, cmp.Or(s.named, setup.ConfigName)) }

func (s *served) run(t *testing.T, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "countersign", args...)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("countersign %q: %v", args, err)
	}
	return out
}

// edit replaces text in the configuration.
func (s *served) edit(t *testing.T, old, replacement string) {
	t.Helper()
	content, err := os.ReadFile(s.config())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte(old)) {
		t.Fatalf("the configuration has no %q", old)
	}
	content = bytes.Replace(content, []byte(old), []byte(replacement), 1)
	if err := os.WriteFile(s.config(), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// storeAt makes the configuration name another store, which it creates.
func (s *served) storeAt(t *testing.T, uri string) {
	t.Helper()
	s.edit(t, "store: bolt:state.db", "store: "+uri)
	s.run(t, "serve", "--check", "--new-store", "--config", s.config())
}

// node is a running server.
type node struct {
	command *exec.Cmd
	deployment.Client
	log *bytes.Buffer // read it only after the process has ended
}

// start starts a server, and waits until it is ready.
func (s *served) start(t *testing.T, args ...string) *node {
	t.Helper()
	args = append([]string{"serve", "--config", s.config(), "--listen", "127.0.0.1:0"}, args...)
	n := &node{command: exec.Command("countersign", args...), log: new(bytes.Buffer)}
	n.By = s.by
	n.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	n.command.Stderr = n.log
	out, err := n.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.command.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ Listening string }
	if err != nil || json.Unmarshal(line, &ready) != nil {
		_ = n.command.Process.Kill()
		_ = n.command.Wait()
		t.Fatalf("not ready: %q, %v\n%s", line, err, n.log)
	}
	n.Base = "http://" + ready.Listening
	return n
}

// end sends a signal and returns the exit status.
func (n *node) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := n.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return n.wait(t)
}

func (n *node) wait(t *testing.T) int {
	t.Helper()
	if err := n.command.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	return n.command.ProcessState.ExitCode()
}

var adminAddress = regexp.MustCompile(`"msg":"listening","server":"admin","address":"([^"]+)"`)

// TestAdmin checks that health, readiness and metrics are served at the admin address and
// nowhere else.
func TestAdmin(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	command := exec.Command("countersign", "serve", "--config", s.config(), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	command.Stderr = write
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer func() { _ = command.Process.Kill() }()
	log := bufio.NewReader(read)
	line, err := log.ReadString('\n')
	found := adminAddress.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err = log.ReadString('\n'); err != nil || !strings.Contains(line, `"server":"api"`) || !strings.Contains(line, `"version":`) {
		t.Errorf("%q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	var ready struct{ Listening string }
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	to := deployment.Client{Base: "http://" + ready.Listening}
	to.By = s.by
	if _, err := to.Post(t.Context(), "submit/sign_transaction", signBody(s.by.OrganizationID, s.signer, vectorUnsigned, time.Now())); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/healthz": `{"status":"ok"}`,
		"/readyz":  `{"status":"ready"}`,
		"/metrics": `countersign_requests_total{operation="sign_transaction",outcome="completed"} 1`,
	} {
		if status, body := get(t, "http://"+found[1]+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("admin %s: %d %.200s", path, status, body)
		}
		if status, _ := get(t, to.Base+path); status != http.StatusNotFound {
			t.Errorf("the API serves %s: %d", path, status)
		}
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// TestAddressInUse checks that a second server with the same configuration picks another
// admin port if its API was moved too, and refuses to start otherwise.
func TestAddressInUse(t *testing.T) {
	t.Parallel()
	s, other := newServed(t), newServed(t)
	holder := s.start(t, "--admin", "127.0.0.1:0")
	taken := strings.TrimPrefix(holder.Base, "http://")
	other.edit(t, "admin: 127.0.0.1:8081", "admin: "+taken)
	second := other.start(t)
	if status := second.end(t, syscall.SIGTERM); status != console.ExitSuccess || !strings.Contains(second.log.String(), "the admin address is in use") {
		t.Errorf("exit status %d: %s", status, second.log)
	}
	other.edit(t, "listen: 127.0.0.1:8080", "listen: 127.0.0.1:0")
	out, err := exec.Command("countersign", "serve", "--config", other.config()).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("countersign: admin: listen tcp "+taken+": bind: address already in use: another process listens there: stop it, or choose another address with admin in the configuration or --admin")) {
		t.Errorf("%v: %s", err, out)
	}
	if status := holder.end(t, os.Interrupt); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, holder.log)
	}
}

// TestGracefulShutdown checks that requests in flight at SIGTERM are finished and answered,
// and later ones are not accepted.
func TestGracefulShutdown(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	arrived, released := make(chan *http.Request, 1), make(chan struct{})
	endpoint := startEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- r
		<-released
	})
	writePrivate(t, filepath.Join(s.dir, "headers"), "Authorization: Bearer hunter2\nX-Account: 7\n")
	s.edit(t, "outbox: outbox", "sms: {webhook: {url: "+endpoint+", headersFile: headers}}")
	n := s.start(t, "--admin", "none")
	type answered struct {
		text []byte
		err  error
	}
	answers := make(chan answered, 1)
	go func() {
		text, err := n.Post(t.Context(), "submit/init_otp_auth", otpBody(s.by.OrganizationID))
		answers <- answered{text, err}
	}()
	sent := <-arrived
	if sent.Header.Get("Authorization") != "Bearer hunter2" || sent.Header.Get("X-Account") != "7" || sent.Header.Get("webhook-signature") == "" {
		t.Errorf("the webhook got the headers %v", sent.Header)
	}
	if err := n.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
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
	if status := n.wait(t); status != console.ExitSuccess {
		t.Errorf("exit status %d", status)
	}
	if strings.Contains(n.log.String(), "hunter2") {
		t.Error("the log has a secret header")
	}
}

// otpBody is a request for a numeric code by text message.
func otpBody(organizationID string) []byte {
	return fmt.Appendf(nil,
		`{"type":"ACTIVITY_TYPE_INIT_OTP_AUTH_V3","timestampMs":"%d","organizationId":"%s","parameters":{"otpType":"OTP_TYPE_SMS","contact":"+41791234567","appName":"Example","alphanumeric":false}}`,
		time.Now().UnixMilli(), organizationID)
}

func startEndpoint(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

func writePrivate(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
