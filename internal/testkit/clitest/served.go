//go:build unix

package clitest

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/outbox"
	"github.com/countersign-dev/countersign/stamp"
)

// APIKeyFile returns an API key file with a known key pair: the secret 1, or on Ed25519
// test 1 of RFC 8032.
func APIKeyFile(curve stamp.Curve) string {
	secret := strings.Repeat("0", 63) + "1"
	public := map[stamp.Curve]string{
		stamp.CurveP256:      "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
		stamp.CurveSecp256k1: "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		stamp.CurveEd25519:   "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
	}[curve]
	if curve == stamp.CurveEd25519 {
		secret = Seed
	}
	return fmt.Sprintf(`{"organizationId":"o","publicKey":"%s","privateKey":"%s","curve":"%s"}`, public, secret, curve)
}

// Documented returns a directory with the configuration that docs/configuration.md
// shows, and everything that it names.
func Documented(t *testing.T) *Served {
	t.Helper()
	s := NewServed(t)
	document, err := os.ReadFile(filepath.Join(testenv.Root(), "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(document))
	text := regexp.MustCompile(`127\.0\.0\.1:8\d+`).ReplaceAllString(shown[1], "127.0.0.1:0")
	WritePrivate(t, s.Config(), text)
	WriteCertificate(t, s.Dir)
	for from, to := range map[string]string{"cert.pem": "rpc-cert.pem", "key.pem": "rpc-key.pem"} {
		content, err := os.ReadFile(filepath.Join(s.Dir, from))
		if err != nil {
			t.Fatal(err)
		}
		WritePrivate(t, filepath.Join(s.Dir, to), string(content))
		if from == "cert.pem" {
			WritePrivate(t, filepath.Join(s.Dir, "clients-ca.pem"), string(content))
		}
	}
	for name, content := range map[string]string{
		"policy.yaml": `schema: countersign.policy/2
rules:
  - name: gas
    allow: [fee, transfer]
    who: {tag: agent}
    when: effect.amount <= ether('1')
tests:
  - {as: payments, effects: [{kind: transfer, asset: "eip155:1", amount: "0.1"}], expect: allow}
`,
		"pins.txt": "countersign.pins/1\n",
		"tokens.json": `{"name":"x","tokens":[{"chainId":1,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
			"symbol":"USDC","name":"USD Coin","decimals":6}]}`,
		"smtp-password": "hunter2", "sms-headers": "Authorization: Bearer x", "sms-secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n",
		"events-secret":      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
		"descriptors/readme": "", "rpc/readme": "", "ann-token": strings.Repeat("7", 64) + "\n",
	} {
		path := filepath.Join(s.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		WritePrivate(t, path, content)
	}
	return s
}

// NewLive returns the reloadable state of a server with this configuration.
func NewLive(t *testing.T, s *Served) *serve.Live {
	t.Helper()
	l := &serve.Live{Loader: deployment.Loader{Path: s.Config(), Addresses: deployment.Addresses{Serve: true}.Check}}
	first, err := l.Loader.Load(InCommand(t))
	if err != nil {
		t.Fatal(err)
	}
	l.Put(first)
	return l
}

// InCommand returns a command for what is called within one.
func InCommand(t *testing.T) *cobra.Command {
	t.Helper()
	command := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	command.SetContext(t.Context())
	command.SetErr(io.Discard)
	return command
}

// Served is a directory made by init, with its API key and a signing key.
type Served struct {
	Dir    string
	By     *api.Key
	Signer string // the id of a secp256k1 key
	Named  string // of the configuration, if it is another one
}

// NewServed has init make a directory, and adds a secp256k1 key.
func NewServed(t *testing.T) *Served {
	t.Helper()
	s := &Served{Dir: filepath.Join(t.TempDir(), "made")}
	s.Run(t, "init", s.Dir)
	content, err := os.ReadFile(filepath.Join(s.Dir, setup.APIKeyName))
	if err != nil {
		t.Fatal(err)
	}
	if s.By, err = api.ParseKey(bytes.TrimSpace(content)); err != nil {
		t.Fatal(err)
	}
	var key show.KeyLine
	line := s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "CURVE_SECP256K1")
	if err := json.Unmarshal(line, &key); err != nil {
		t.Fatal(err)
	}
	s.Signer = key.PrivateKeyID
	return s
}

// Config returns the path of the configuration.
func (s *Served) Config() string { return filepath.Join(s.Dir, cmp.Or(s.Named, setup.ConfigName)) }

// Run runs the command, which must succeed, and returns what it prints.
func (s *Served) Run(t *testing.T, args ...string) []byte {
	t.Helper()
	done, err := carryOut(&call{Args: args})
	testenv.Must(t, err)
	if done.Status != console.ExitSuccess {
		t.Fatalf("countersign %q: exit status %d\n%s", args, done.Status, done.Stderr)
	}
	return done.Stdout
}

// Edit replaces text in the configuration.
func (s *Served) Edit(t *testing.T, old, replacement string) {
	t.Helper()
	content, err := os.ReadFile(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte(old)) {
		t.Fatalf("the configuration has no %q", old)
	}
	content = bytes.Replace(content, []byte(old), []byte(replacement), 1)
	if err := os.WriteFile(s.Config(), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// StoreAt makes the configuration name another store, which it creates.
func (s *Served) StoreAt(t *testing.T, uri string) {
	t.Helper()
	s.Edit(t, "store: bolt:state.db", "store: "+uri)
	s.Run(t, "serve", "--check", "--new-store", "--config", s.Config())
}

// Node is a running server.
type Node struct {
	Command *exec.Cmd
	deployment.Client
	Log *bytes.Buffer // read it only after the process has ended
}

// Start starts a server, and waits until it is ready.
func (s *Served) Start(t *testing.T, args ...string) *Node {
	t.Helper()
	args = append([]string{"serve", "--config", s.Config(), "--listen", "127.0.0.1:0"}, args...)
	n := &Node{Command: exec.Command("countersign", args...), Log: new(bytes.Buffer)}
	n.By = s.By
	n.Command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	n.Command.Stderr = n.Log
	out, err := n.Command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Command.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ Listening string }
	if err != nil || json.Unmarshal(line, &ready) != nil {
		_ = n.Command.Process.Kill()
		_ = n.Command.Wait()
		t.Fatalf("not ready: %q, %v\n%s", line, err, n.Log)
	}
	n.Base = "http://" + ready.Listening
	return n
}

// End sends a signal and returns the exit status.
func (n *Node) End(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := n.Command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return n.Wait(t)
}

// Wait returns the exit status.
func (n *Node) Wait(t *testing.T) int {
	t.Helper()
	if err := n.Command.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	return n.Command.ProcessState.ExitCode()
}

// AdminAddress matches the line in which serve logs its admin address.
var AdminAddress = regexp.MustCompile(`"msg":"listening","server":"admin","address":"([^"]+)"`)

// Get returns the answer to a GET request.
func Get(t *testing.T, url string) (status int, body string) {
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

// WriteCertificate writes a self-signed certificate for 127.0.0.1, cert.pem and
// key.pem.
func WriteCertificate(t *testing.T, dir string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		WritePrivate(t, filepath.Join(dir, name), string(pem.EncodeToMemory(&block)))
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// IssueCode has a one-time password sent to the outbox. It returns the answer, the otpId and
// the code.
func (n *Node) IssueCode(t *testing.T, s *Served) (answer []byte, id, code string) {
	t.Helper()
	answer, err := n.Post(t.Context(), "submit/init_otp_auth", OTPBody(s.By.OrganizationID))
	if err != nil {
		t.Fatal(err)
	}
	var issued Answer
	if err := json.Unmarshal(answer, &issued); err != nil {
		t.Fatal(err)
	}
	id = issued.Activity.Result.InitOTPAuthResultV2.OTPID
	content, err := os.ReadFile(filepath.Join(s.Dir, setup.OutboxName, id+".json"))
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

// OTPBody is a request for a numeric code by text message.
func OTPBody(organizationID string) []byte {
	return fmt.Appendf(nil,
		`{"type":"ACTIVITY_TYPE_INIT_OTP_AUTH_V3","timestampMs":"%d","organizationId":"%s","parameters":{`+
			`"otpType":"OTP_TYPE_SMS","contact":"+41791234567","appName":"Example","alphanumeric":false}}`,
		time.Now().UnixMilli(), organizationID)
}
