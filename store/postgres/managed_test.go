package postgres_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestManagedDatabase opens a database as docs/operations.md says: the certificate of the
// server is verified, the password is in a file, and the role may not create anything.
func TestManagedDatabase(t *testing.T) {
	server := testenv.Postgres(t)
	folder := t.TempDir()
	certificate, key := newCertificate(t)
	path := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		testenv.Write(t, path, content)
		return path
	}
	other, _ := newCertificate(t)
	root, otherRoot := path("root.pem", certificate), path("other.pem", other)
	port := server.ServeTLS(certificate, key)
	socket := server.DSN + " port=" + port
	for _, statement := range []string{
		"CREATE ROLE owner LOGIN", "CREATE SCHEMA countersign AUTHORIZATION owner", "CREATE ROLE node LOGIN PASSWORD 'hush'",
		"GRANT USAGE ON SCHEMA countersign TO node",
		"ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA countersign GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO node",
		"ALTER ROLE owner SET search_path = countersign", "ALTER ROLE node SET search_path = countersign",
	} {
		execute(t, socket, statement)
	}
	right, wrong := path("right", []byte("localhost:"+port+":postgres:node:hush\n127.0.0.1:"+port+":postgres:node:hush\n")), path("wrong", []byte("*:*:*:node:secret\n"))
	address := func(host, mode, root, passwords string) string {
		return "postgres://node@" + host + ":" + port + "/postgres?sslmode=" + mode + "&sslrootcert=" + root + "&passfile=" + passwords
	}
	refused := func(address, says string) {
		t.Helper()
		s, err := postgres.Open(t.Context(), address)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "secret") {
			t.Errorf("opened with %v, want %q", err, says)
		}
	}
	refused(address("localhost", "verify-full", root, right), "have a role that owns the schema create or migrate the tables")
	open(t, strings.Replace(socket, "user=postgres", "user=owner", 1))
	complete(t, open(t, address("localhost", "verify-full", root, right)), "a")
	refused(address("localhost", "verify-full", root, wrong), "password authentication failed")
	refused(address("localhost", "verify-full", otherRoot, right), "certificate")
	refused(address("127.0.0.1", "verify-full", root, right), "certificate")
	refused(address("localhost", "disable", root, right), "no pg_hba.conf entry")
}

// newCertificate returns a certificate for localhost and its key, in PEM.
func newCertificate(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	testenv.Must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	testenv.Must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// TestNoSchema: a role whose search_path names no schema of the database is told so, with the
// cure, whether the store is to be created or not.
func TestNoSchema(t *testing.T) {
	server := testenv.Postgres(t)
	for _, statement := range []string{"CREATE ROLE lost LOGIN SUPERUSER", "ALTER ROLE lost SET search_path = countersign_lost"} {
		execute(t, server.DSN, statement)
	}
	for name, open := range map[string]func(context.Context, string) (*postgres.Store, error){"open": postgres.Open, "existing": postgres.OpenExisting} {
		s, err := open(t.Context(), server.DSN+" user=lost")
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "the search_path countersign_lost of role lost names no schema that database postgres has") ||
			!strings.Contains(err.Error(), "CREATE SCHEMA") || strings.Contains(err.Error(), "22004") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
