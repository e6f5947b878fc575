package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/setup"
)

// TestTLS checks that with a certificate the API is served on every address, over HTTP/1.1
// and HTTP/2, and never without TLS, and that submit trusts only a known certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	certificate := writeCertificate(t, s.dir)
	s.edit(t, "# tls: {certFile: cert.pem, keyFile: key.pem}", "tls: {certFile: cert.pem, keyFile: key.pem}")
	n := s.start(t, "--listen", "0.0.0.0:0", "--admin", "none")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(n.Base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	url := "https://127.0.0.1:" + port
	submit := func(environment ...string) ([]byte, error) {
		command := exec.Command("countersign", "submit", "--query", "whoami", "--url", url, "--api-key", filepath.Join(s.dir, setup.APIKeyName))
		command.Stdin, command.Env = strings.NewReader("{}"), append(os.Environ(), environment...)
		return command.CombinedOutput()
	}
	if out, err := submit("SSL_CERT_FILE=" + filepath.Join(s.dir, "cert.pem")); err != nil || !bytes.Contains(out, []byte(`"username":"admin"`)) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := submit(); err == nil || !bytes.Contains(out, []byte("name its certificate with --ca-file")) {
		t.Errorf("an unknown certificate: %v: %s", err, out)
	}
	whoami := exec.Command("countersign", "submit", "--query", "whoami", "--url", url, "--api-key", filepath.Join(s.dir, setup.APIKeyName), "--ca-file", filepath.Join(s.dir, "cert.pem"))
	whoami.Stdin = strings.NewReader("{}")
	if out, err := whoami.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"username":"admin"`)) {
		t.Errorf("with --ca-file: %v: %s", err, out)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	for protocol, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: h2}
		response, err := (&http.Client{Transport: transport}).Get(url)
		if err != nil {
			t.Fatal(err)
		}
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
	if status, body := get(t, "http://127.0.0.1:"+port); status == http.StatusOK {
		t.Errorf("without TLS: %d %s", status, body)
	}
	if status := n.end(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.log)
	}
}

// writeCertificate writes a self-signed certificate for 127.0.0.1, cert.pem and
// key.pem.
func writeCertificate(t *testing.T, dir string) *x509.Certificate {
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
	writePrivate(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writePrivate(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
