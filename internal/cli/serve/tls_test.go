package serve_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
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

// TestTLS checks that with a certificate the API is served on every address, over HTTP/1.1
// and HTTP/2, and never without TLS, and that submit trusts only a known certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	certificate := clitest.WriteCertificate(t, s.Dir)
	s.Edit(t, "# tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem, keyFile: key.pem}")
	n := s.Start(t, "--listen", "0.0.0.0:0", "--admin", "none")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(n.Base, "http://"))
	testenv.Must(t, err)
	url := "https://127.0.0.1:" + port
	submit := func(environment ...string) ([]byte, error) {
		command := exec.Command("countersign", "submit", "--query", "whoami", "--url", url, "--api-key", filepath.Join(s.Dir, setup.APIKeyName))
		command.Stdin, command.Env = strings.NewReader("{}"), append(os.Environ(), environment...)
		return command.CombinedOutput()
	}
	if out, err := submit("SSL_CERT_FILE=" + filepath.Join(s.Dir, "cert.pem")); err != nil || !bytes.Contains(out, []byte(`"username":"admin"`)) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := submit(); err == nil || !bytes.Contains(out, []byte("name its certificate with --ca-file")) {
		t.Errorf("an unknown certificate: %v: %s", err, out)
	}
	whoami := exec.Command("countersign", "submit", "--query", "whoami", "--url", url, "--api-key", filepath.Join(s.Dir, setup.APIKeyName), "--ca-file", filepath.Join(s.Dir, "cert.pem"))
	whoami.Stdin = strings.NewReader("{}")
	if out, err := whoami.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"username":"admin"`)) {
		t.Errorf("with --ca-file: %v: %s", err, out)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	for protocol, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: h2}
		response, err := (&http.Client{Transport: transport}).Get(url)
		testenv.Must(t, err)
		response.Body.Close()
		transport.CloseIdleConnections()
		if response.Proto != protocol || response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s %s", protocol, response.Proto, response.Status)
		}
	}
	old := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MaxVersion: tls.VersionTLS11}}
	if response, err := (&http.Client{Transport: old}).Get(url); err == nil {
		t.Errorf("TLS 1.1: %s", response.Status)
	}
	if status, body := clitest.Get(t, "http://127.0.0.1:"+port); status == http.StatusOK {
		t.Errorf("without TLS: %d %s", status, body)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
}
