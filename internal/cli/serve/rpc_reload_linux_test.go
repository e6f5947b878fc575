package serve_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// clientAuthority makes an authority, and a client's certificate by it for a name.
func clientAuthority(t *testing.T, name string) (authority string, client tls.Certificate) {
	t.Helper()
	issue := func(template, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		testenv.Must(t, err)
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		if issuerKey == nil {
			issuer, issuerKey = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
		testenv.Must(t, err)
		return der, key
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER, rootKey := issue(root, nil, nil)
	parsed, err := x509.ParseCertificate(rootDER)
	testenv.Must(t, err)
	leaf, key := issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, parsed, rootKey)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})), tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: key}
}

// TestRPCReload: users, certificates and authorities that a reload changes count for the next
// call on a connection that is open, over TLS and over the socket. Neither the connections nor
// the listeners end.
func TestRPCReload(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	authority, client := clientAuthority(t, "batcher.example")
	stranger, _ := clientAuthority(t, "batcher.example")
	server := clitest.WriteCertificate(t, s.Dir)
	clitest.WritePrivate(t, filepath.Join(s.Dir, "clients.pem"), authority)
	address := testenv.FreeAddress(t)
	const mine = "[{dnsName: batcher.example}]"
	appendConfig(t, s, fmt.Sprintf("rpc:\n  listen: %s\n  socket: rpc.sock\n  chainId: 10\n  tls: {certFile: cert.pem, keyFile: key.pem, clientCAFile: clients.pem}\n  users:\n    - {user: admin, certificates: %s, uid: %d}\n",
		address, mine, os.Getuid()))
	n := s.Start(t, "--admin", "none")
	roots := x509.NewCertPool()
	roots.AddCert(server)
	connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}})
	testenv.Must(t, err)
	defer connection.Close()
	socket, err := net.Dial("unix", filepath.Join(s.Dir, "rpc.sock"))
	testenv.Must(t, err)
	defer socket.Close()
	const body = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`
	reader, answers := bufio.NewReader(connection), json.NewDecoder(socket)
	overTLS := func() bool {
		if _, err := fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("the connection ended: %v", err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		testenv.Must(t, err)
		return response.StatusCode == http.StatusOK && strings.Contains(string(answer), `"result":"0xa"`)
	}
	overSocket := func() bool {
		if _, err := io.WriteString(socket, body); err != nil {
			t.Fatal(err)
		}
		var answer struct{ Result string }
		if err := answers.Decode(&answer); err != nil {
			t.Fatalf("the socket's connection ended: %v", err)
		}
		return answer.Result == "0xa"
	}
	config := testenv.Read(t, s.Config())
	all := string(config)
	section := all[strings.Index(all, "rpc:\n"):]
	for _, step := range []struct {
		what, config, authority string
		tls, socket             bool
	}{
		{"at first", all, authority, true, true},
		{"another certificate", strings.Replace(all, "batcher", "other", 1), authority, false, true},
		{"as before", all, authority, true, true},
		{"another uid", strings.Replace(all, fmt.Sprint("uid: ", os.Getuid()), fmt.Sprint("uid: ", os.Getuid()+1), 1), authority, true, false},
		{"as before again", all, authority, true, true},
		{"another authority", all, stranger, false, true},
		{"the first authority", all, authority, true, true},
		{"no signer, which a restart would end", strings.Replace(all, section, "", 1), authority, false, false},
		{"the signer", all, authority, true, true},
	} {
		clitest.WritePrivate(t, filepath.Join(s.Dir, "clients.pem"), step.authority)
		clitest.WritePrivate(t, s.Config(), step.config)
		reloads(t, n)
		testenv.Await(t, step.what, func() bool { return overTLS() == step.tls && overSocket() == step.socket })
	}
	// No session is resumed: the chain would not be seen again.
	resuming := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	for range 2 {
		other, err := tls.Dial("tcp", address, resuming)
		testenv.Must(t, err)
		fmt.Fprint(other, "GET /upcheck HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
		if answer, err := io.ReadAll(other); err != nil || !strings.HasSuffix(string(answer), "OK") || other.ConnectionState().DidResume {
			t.Errorf("resumed %t, %v: %s", other.ConnectionState().DidResume, err, answer)
		}
		_ = other.Close()
	}
	// A new certificate is for new connections.
	next := clitest.WriteCertificate(t, s.Dir)
	reloads(t, n)
	testenv.Await(t, "the new certificate is served", func() bool {
		other, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{client}})
		testenv.Must(t, err)
		defer other.Close()
		return other.ConnectionState().PeerCertificates[0].Equal(next)
	})
	if !overTLS() || !overSocket() {
		t.Error("the open connections no longer work")
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
}
