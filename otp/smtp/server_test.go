package smtp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	smtpserver "github.com/emersion/go-smtp"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/smtp"
)

// server is a mail server that keeps the messages it receives.
type server struct {
	port  int
	roots *x509.CertPool

	mu       sync.Mutex
	received []received
	offers   []string      // mechanisms; default: PLAIN
	refuse   error         // answer to DATA
	release  chan struct{} // unless nil, the answer to DATA waits until it is closed
}

type received struct {
	from, user string
	mechanism  string
	to         []string
	encrypted  bool
	data       string
}

// serve starts a server with a self-signed certificate.
func serve(t *testing.T, change func(*smtpserver.Server)) *server {
	t.Helper()
	s := &server{roots: x509.NewCertPool()}
	certificate := selfSigned(t)
	s.roots.AddCert(certificate.Leaf)
	real := smtpserver.NewServer(smtpserver.BackendFunc(func(c *smtpserver.Conn) (smtpserver.Session, error) {
		return &session{server: s, conn: c}, nil
	}))
	real.Domain = "localhost"
	real.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	real.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(real)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	s.port = listener.Addr().(*net.TCPAddr).Port
	if real.Network == "tls" { // set by implicitTLS
		listener = tls.NewListener(listener, real.TLSConfig)
		real.Network = ""
	}
	go func() { _ = real.Serve(listener) }()
	t.Cleanup(func() { _ = real.Close() })
	return s
}

func implicitTLS(s *smtpserver.Server) { s.Network = "tls" }
func noTLS(s *smtpserver.Server)       { s.TLSConfig, s.AllowInsecureAuth = nil, true }

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	testenv.Must(t, err)
	leaf, err := x509.ParseCertificate(der)
	testenv.Must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// config returns a configuration for sending to the server.
func (s *server) config(change func(*smtp.Config)) smtp.Config {
	config := smtp.Config{
		Host: "localhost", Port: s.port, From: "codes@example.com", HELO: "test.example.com",
		TLS: &tls.Config{RootCAs: s.roots}, Timeout: time.Hour,
	}
	if change != nil {
		change(&config)
	}
	return config
}

func (s *server) messages() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received
}

type session struct {
	server *server
	conn   *smtpserver.Conn
	mail   received
}

func (s *session) AuthMechanisms() []string {
	if s.server.offers != nil {
		return s.server.offers
	}
	return []string{sasl.Plain}
}

// Auth knows PLAIN and LOGIN, whatever the server offers.
func (s *session) Auth(mechanism string) (sasl.Server, error) {
	check := func(_, username, password string) error {
		if password != "right" {
			return errors.New("wrong password")
		}
		s.mail.user, s.mail.mechanism = username, mechanism
		return nil
	}
	switch mechanism {
	case sasl.Plain:
		return sasl.NewPlainServer(check), nil
	case sasl.Login:
		return &loginServer{check: check}, nil
	}
	return nil, smtpserver.ErrAuthUnsupported
}

// loginServer is LOGIN (draft-murchison-sasl-login).
type loginServer struct {
	check func(identity, username, password string) error
	said  []string
}

// Next implements sasl.Server.
func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	if response != nil {
		l.said = append(l.said, string(response))
	}
	switch len(l.said) {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check("", l.said[0], l.said[1])
}

func (s *session) Mail(from string, _ *smtpserver.MailOptions) error {
	s.mail.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtpserver.RcptOptions) error {
	s.mail.to = append(s.mail.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.release != nil {
		<-s.server.release
	}
	if s.server.refuse != nil {
		return s.server.refuse
	}
	_, s.mail.encrypted = s.conn.TLSConnectionState()
	s.mail.data = string(data)
	s.server.received = append(s.server.received, s.mail)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
