package opservice

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	optls "github.com/ethereum-optimism/optimism/op-service/tls"
)

// What a certificate is for.
const (
	serverUse = x509.ExtKeyUsageServerAuth
	clientUse = x509.ExtKeyUsageClientAuth
)

// authority issues certificates.
type authority struct {
	folder, file string // file has its own certificate
	certificate  *x509.Certificate
	key          *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{folder: t.TempDir(), key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.file = writePEM(t, filepath.Join(a.folder, "ca.pem"), "CERTIFICATE", der)
	return a
}

// issue issues a certificate for a name, and returns the files with it and with its key.
func (a *authority) issue(t *testing.T, name string, use x509.ExtKeyUsage) (certificateFile, keyFile string) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{use}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if use == serverUse {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, filepath.Join(a.folder, name+".pem"), "CERTIFICATE", der), writePEM(t, filepath.Join(a.folder, name+".key"), "PRIVATE KEY", encoded)
}

// client returns the settings of a client with the certificate of a name.
func (a *authority) client(t *testing.T, name string) optls.CLIConfig {
	t.Helper()
	certificate, key := a.issue(t, name, clientUse)
	return optls.CLIConfig{TLSCaCert: a.file, TLSCert: certificate, TLSKey: key, Enabled: true}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// writePEM writes a block to a file that only its owner can read.
func writePEM(t *testing.T, path, kind string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
