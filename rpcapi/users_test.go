package rpcapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// authority issues certificates.
type authority struct {
	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t}
	made := a.issue(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "CA"}})
	a.key, a.cert = made.PrivateKey.(*ecdsa.PrivateKey), made.Leaf
	return a
}

// issue completes and signs a certificate; that of the authority itself by its own key.
func (a *authority) issue(template *x509.Certificate) *tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(a.t, err)
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	template.SerialNumber = serial
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	testenv.Must(a.t, err)
	leaf, err := x509.ParseCertificate(raw)
	testenv.Must(a.t, err)
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// client issues a client's certificate.
func (a *authority) client(change func(*x509.Certificate)) *tls.Certificate {
	template := &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	change(template)
	return a.issue(template)
}

func named(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

// uri adds a SAN as it is written.
func uri(text string) func(*x509.Certificate) {
	value, err := asn1.Marshal([]asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(text)}})
	if err != nil {
		panic(err)
	}
	return func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: value}}
	}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// secured is a server whose callers have certificates.
type secured struct {
	*enginetest.Fixture
	t     testing.TB
	url   string
	roots *x509.CertPool // of the server's own certificate
	users atomic.Pointer[rpcapi.Users]
}

func newSecured(t testing.TB, roots *x509.CertPool, users ...rpcapi.User) *secured {
	t.Helper()
	s := &secured{t: t, Fixture: enginetest.New(t, func(c *countersign.Config) { c.Store = memory.New(0) })}
	s.set(roots, users...)
	s.start(rpcapi.New(s.Engine, rpcapi.Options{
		Users: s.users.Load, Directory: s.Config.Directory.(access.Users), Keystore: s.Signing, Host: func(string) bool { return true },
	}))
	return s
}

// start starts a server that asks clients for certificates.
func (s *secured) start(handler http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert, SessionTicketsDisabled: true}
	server.StartTLS()
	s.t.Cleanup(server.Close)
	s.url, s.roots = server.URL, x509.NewCertPool()
	s.roots.AddCert(server.Certificate())
	return server
}

// set replaces the users.
func (s *secured) set(roots *x509.CertPool, users ...rpcapi.User) {
	s.t.Helper()
	made, err := rpcapi.NewUsers(users, roots)
	testenv.Must(s.t, err)
	s.users.Store(made)
}

// client returns a client with a certificate, or without one.
func (s *secured) client(certificate *tls.Certificate) *http.Client {
	config := &tls.Config{RootCAs: s.roots}
	if certificate != nil {
		config.Certificates = []tls.Certificate{*certificate}
	}
	transport := &http.Transport{TLSClientConfig: config}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// sign has a client sign a transaction with a nonce, and returns the status and the answer.
func (s *secured) sign(client *http.Client, nonce int, headers ...string) (int, string) {
	s.t.Helper()
	body := strings.Replace(ordinary, `"nonce":"0x7"`, fmt.Sprintf(`"nonce":"0x%x"`, nonce), 1)
	return post(s.t, client, s.url, `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[`+body+`]}`, headers...)
}

// batcher is user-1, by the name of its certificate.
func batcher(certificates ...rpcapi.Certificate) rpcapi.User {
	return rpcapi.User{OrganizationID: enginetest.Organization, UserID: "user-1", Certificates: certificates}
}

// TestCertificates checks that a certificate is its user's by its SANs or its digest, and
// that the record says by which.
func TestCertificates(t *testing.T) {
	ca := newAuthority(t)
	byName := ca.client(named("batcher.example"))
	byURI := ca.client(func(c *x509.Certificate) {
		c.URIs = []*url.URL{{Scheme: "spiffe", Host: "example.org", Path: "/batcher"}}
	})
	byDigest := ca.client(func(*x509.Certificate) {})
	digest := sha256.Sum256(byDigest.Leaf.Raw)
	s := newSecured(t, ca.pool(), batcher(
		rpcapi.Certificate{DNSName: "batcher.example"}, rpcapi.Certificate{URI: "spiffe://example.org/batcher"}, rpcapi.Certificate{SHA256: hex.EncodeToString(digest[:])}))
	want := []string{"CERTIFICATE dns:batcher.example", "CERTIFICATE uri:spiffe://example.org/batcher", "CERTIFICATE sha256:" + hex.EncodeToString(digest[:])}
	for i, certificate := range []*tls.Certificate{byName, byURI, byDigest} {
		if status, text := s.sign(s.client(certificate), i); status != http.StatusOK || !strings.Contains(text, `"result":"0x02`) {
			t.Errorf("%s: %d %s", want[i], status, text)
		}
	}
	listed, err := s.Config.Store.(store.Lister).List(t.Context(), enginetest.Organization, store.Filter{Limit: 10})
	if err != nil || len(listed) != len(want) {
		t.Fatalf("%d records, %v", len(listed), err)
	}
	for i := range listed {
		record, err := activity.DecodeRecord(listed[i].Data)
		testenv.Must(t, err)
		if vote := record.Submitter(); vote.Scheme != want[len(want)-1-i] || vote.UserID != "user-1" {
			t.Errorf("recorded as %s by %s", vote.Scheme, vote.UserID)
		}
	}
}

// TestForeignCertificates attacks with certificates, and checks that nothing is signed.
func TestForeignCertificates(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	s := newSecured(t, ca.pool(),
		batcher(rpcapi.Certificate{DNSName: "batcher.example"}, rpcapi.Certificate{URI: "spiffe://example.org/batcher"}),
		rpcapi.User{OrganizationID: enginetest.Organization, UserID: "user-2", Certificates: []rpcapi.Certificate{{DNSName: "keeper.example"}}, Token: token})
	forged := other.client(named("batcher.example"))
	forged.Certificate = append(forged.Certificate, ca.cert.Raw) // the true authority, as if it had issued it
	sub := ca.client(named("sub.example"))                       // no authority, but used as one
	fromLeaf := (&authority{t: t, key: sub.PrivateKey.(*ecdsa.PrivateKey), cert: sub.Leaf}).client(named("batcher.example"))
	fromLeaf.Certificate = append(fromLeaf.Certificate, sub.Certificate...)
	between := &authority{t: t}
	made := ca.issue(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "between"}})
	between.key, between.cert = made.PrivateKey.(*ecdsa.PrivateKey), made.Leaf
	below := between.client(named("batcher.example"))
	for name, certificate := range map[string]*tls.Certificate{
		"none":               nil,
		"a chain with a gap": below,
		"unknown name":       ca.client(named("stranger.example")),
		"no name":            ca.client(func(*x509.Certificate) {}),
		"common name":        ca.client(func(c *x509.Certificate) { c.Subject.CommonName = "batcher.example" }),
		"subdomain":          ca.client(named("a.batcher.example")),
		"wildcard":           ca.client(named("*.example")),
		"longer name":        ca.client(named("batcher.example.evil")),
		"of two users":       ca.client(named("batcher.example", "keeper.example")),
		"e-mail":             ca.client(func(c *x509.Certificate) { c.EmailAddresses = []string{"batcher.example"} }),
		"URI in capitals":    ca.client(uri("SPIFFE://example.org/batcher")),
		"URI with host":      ca.client(uri("spiffe://EXAMPLE.org/batcher")),
		"URI with fragment":  ca.client(uri("spiffe://example.org/batcher#")),
		"URI with query":     ca.client(uri("spiffe://example.org/batcher?")),
		"URI escaped":        ca.client(uri("spiffe://example.org/%62atcher")),
		"URI with port":      ca.client(uri("spiffe://example.org:/batcher")),
		"another authority":  other.client(named("batcher.example")),
		"forged chain":       forged,
		"issued by a leaf":   fromLeaf,
		"self-signed":        (&authority{t: t}).issue(&x509.Certificate{DNSNames: []string{"batcher.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}),
		"for servers": ca.client(func(c *x509.Certificate) {
			c.DNSNames, c.ExtKeyUsage = []string{"batcher.example"}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}),
		"for nothing in general": ca.client(func(c *x509.Certificate) { c.DNSNames, c.ExtKeyUsage = []string{"batcher.example"}, nil }),
		"expired": ca.client(func(c *x509.Certificate) {
			c.DNSNames, c.NotBefore, c.NotAfter = []string{"batcher.example"}, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		}),
		"not yet valid": ca.client(func(c *x509.Certificate) {
			c.DNSNames, c.NotBefore, c.NotAfter = []string{"batcher.example"}, time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		}),
	} {
		if status, text := s.sign(s.client(certificate), 1); status == http.StatusOK {
			t.Errorf("%s: %s", name, text)
		}
	}
	own := s.client(&tls.Certificate{Certificate: append(below.Certificate[:1:1], made.Certificate...), PrivateKey: below.PrivateKey}) // without the gap
	if status, _ := s.sign(own, 1, "Authorization", "Bearer "+token); status != http.StatusUnauthorized {
		t.Errorf("a certificate with the token of another user: %d", status)
	}
	s.WantSignatures(t, 0)
	if status, text := s.sign(own, 1); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

// TestStill checks that what is left of old users are those of the next ones, and no new ones, also
// on connections that are open.
func TestStill(t *testing.T) {
	ca := newAuthority(t)
	entry, another := batcher(rpcapi.Certificate{DNSName: "batcher.example"}), batcher(rpcapi.Certificate{DNSName: "new.example"})
	for name, test := range map[string]struct {
		next   func(*secured)
		status int
	}{
		"the same":          {func(s *secured) { s.set(ca.pool(), entry) }, http.StatusOK},
		"another entry":     {func(s *secured) { s.set(ca.pool(), another) }, http.StatusUnauthorized},
		"another authority": {func(s *secured) { s.set(newAuthority(t).pool(), entry) }, http.StatusUnauthorized},
		"none":              {func(s *secured) { s.set(nil) }, http.StatusUnauthorized},
	} {
		s := newSecured(t, ca.pool(), entry)
		client, added := s.client(ca.client(named("batcher.example"))), s.client(ca.client(named("new.example")))
		if status, text := s.sign(client, 0); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		old := s.users.Load()
		test.next(s)
		next := s.users.Load()
		s.users.Store(old.Still(new(rpcapi.Users)).Still(next)) // the latest next ones count
		if status, text := s.sign(client, 1); status != test.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if status, text := s.sign(added, 2); status != http.StatusUnauthorized {
			t.Errorf("%s: a user who is not in force yet: %d %s", name, status, text)
		}
		s.users.Store(next)
		if status, text := s.sign(client, 3); status != test.status {
			t.Errorf("%s, in force: %d %s", name, status, text)
		}
	}
}

// TestUsersThatAreRefused checks the errors of configurations.
func TestUsersThatAreRefused(t *testing.T) {
	pool := newAuthority(t).pool()
	uid := uint32(1000)
	name := func(n string) []rpcapi.Certificate { return []rpcapi.Certificate{{DNSName: n}} }
	one := rpcapi.User{OrganizationID: "o", UserID: "u", Certificates: name("a.example"), Token: token, UID: &uid}
	for problem, users := range map[string][]rpcapi.User{
		"nothing recognizes":        {{OrganizationID: "o", UserID: "u"}},
		"an organization and":       {{OrganizationID: "o", Token: token}},
		"at least 32":               {{OrganizationID: "o", UserID: "u", Token: "short"}},
		"lower case":                {{OrganizationID: "o", UserID: "u", Certificates: name("A.example")}},
		"without wildcard":          {{OrganizationID: "o", UserID: "u", Certificates: name("*.example")}},
		"64 hex digits":             {{OrganizationID: "o", UserID: "u", Certificates: []rpcapi.Certificate{{SHA256: "00"}}}},
		"a whole URI":               {{OrganizationID: "o", UserID: "u", Certificates: []rpcapi.Certificate{{URI: "batcher"}}}},
		"expected a URI as it is":   {{OrganizationID: "o", UserID: "u", Certificates: []rpcapi.Certificate{{URI: "spiffe://example.org/batcher#"}}}},
		`such as "spiffe:`:          {{OrganizationID: "o", UserID: "u", Certificates: []rpcapi.Certificate{{URI: "SPIFFE://example.org/batcher"}}}},
		"exactly one of":            {{OrganizationID: "o", UserID: "u", Certificates: []rpcapi.Certificate{{DNSName: "a", URI: "b:c"}}}},
		"recognizes user u of":      {one, {OrganizationID: "p", UserID: "v", Certificates: name("a.example")}},
		"another user has the same": {one, {OrganizationID: "p", UserID: "v", Token: token}},
		"is user u, too":            {one, {OrganizationID: "p", UserID: "v", UID: &uid}},
	} {
		if _, err := rpcapi.NewUsers(users, pool); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", problem, err)
		}
	}
	if _, err := rpcapi.NewUsers([]rpcapi.User{one}, nil); err == nil || !strings.Contains(err.Error(), "authorities") {
		t.Errorf("without authorities: %v", err)
	}
}
