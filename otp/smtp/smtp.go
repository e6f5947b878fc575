// Package smtp sends messages by e-mail, through a mail server of yours.
//
// Connections are encrypted, by STARTTLS or from the start, and the server's
// certificate is checked; [InsecurePlaintext] is for a server on this machine.
// Each message has a connection of its own, a text part and, if its template has
// one, an HTML part. Its Message-ID is made of the one-time password's id.
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	mail "github.com/wneessen/go-mail"

	"github.com/countersign-dev/countersign/otp"
)

// Encryption is how a connection is encrypted.
type Encryption int

// The ways to encrypt.
const (
	STARTTLS          Encryption = iota // usually on port 587; a server without it is refused
	ImplicitTLS                         // usually on port 465
	InsecurePlaintext                   // an eavesdropper reads the codes
)

// Defaults of Config.
const (
	DefaultSTARTTLSPort    = 587
	DefaultImplicitTLSPort = 465
	DefaultPlaintextPort   = 25
	DefaultTimeout         = 15 * time.Second
)

// Config is the mail server, and who the messages are from. Host and From are
// required.
type Config struct {
	Host       string
	Port       int // default: that of the encryption
	Encryption Encryption

	// Username and Password, if the server asks for them. The strongest way
	// that the server offers is used; never one that would show the password
	// on its way to another machine.
	Username string
	Password string

	// From is the sender's address of messages whose request has none.
	From string

	// HELO is the name that this machine gives itself. Default: its own.
	HELO string

	// Timeout bounds the whole delivery. Default: DefaultTimeout.
	Timeout time.Duration

	// TLS is for certificates of one's own. Default: the system's, TLS 1.2 or
	// later.
	TLS *tls.Config
}

// Sender is an otp.Sender. Use New to make one.
type Sender struct {
	config Config
	server string
}

var _ otp.Sender = (*Sender)(nil)

// New makes a sender. It does not connect yet.
func New(config Config) (*Sender, error) {
	if config.Host == "" {
		return nil, errors.New("smtp: the host of the mail server is missing")
	}
	if config.Port == 0 {
		config.Port = map[Encryption]int{
			STARTTLS: DefaultSTARTTLSPort, ImplicitTLS: DefaultImplicitTLSPort, InsecurePlaintext: DefaultPlaintextPort,
		}[config.Encryption]
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if err := mail.NewMsg().From(config.From); err != nil || strings.ContainsAny(config.From, "\r\n<>") {
		return nil, fmt.Errorf("smtp: the sender's address %q is not an e-mail address", config.From)
	}
	s := &Sender{config: config, server: net.JoinHostPort(config.Host, fmt.Sprint(config.Port))}
	_, err := s.client(config.Timeout) // finds what cannot be right
	return s, err
}

// Send implements otp.Sender. Once the server has taken the message, what goes
// wrong afterwards is no error.
func (s *Sender) Send(ctx context.Context, message otp.Message) error {
	msg, err := s.compose(message)
	if err != nil {
		return err
	}
	timeout := s.config.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if err := ctx.Err(); err != nil || timeout <= 0 {
		return errors.Join(context.DeadlineExceeded, err)
	}
	client, err := s.client(timeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("smtp: %s: connect: %w", s.server, err)
	}
	// Cut off also where the library waits for more than the context allows.
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	err = client.SendWithSMTPClient(connection, msg)
	_ = client.CloseWithSMTPClient(connection)
	if err != nil && !msg.IsDelivered() {
		return s.refused(err)
	}
	return nil
}

func (s *Sender) client(timeout time.Duration) (*mail.Client, error) {
	options := []mail.Option{mail.WithPort(s.config.Port), mail.WithTimeout(timeout), mail.WithoutNoop(), mail.WithoutRset()}
	switch s.config.Encryption {
	case STARTTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case ImplicitTLS:
		options = append(options, mail.WithSSL())
	case InsecurePlaintext:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, fmt.Errorf("smtp: encryption %d is not known", s.config.Encryption)
	}
	if s.config.TLS != nil {
		config := s.config.TLS.Clone()
		if config.ServerName == "" {
			config.ServerName = s.config.Host
		}
		options = append(options, mail.WithTLSConfig(config))
	}
	if s.config.HELO != "" {
		options = append(options, mail.WithHELO(s.config.HELO))
	}
	if s.config.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover),
			mail.WithUsername(s.config.Username), mail.WithPassword(s.config.Password))
	}
	client, err := mail.NewClient(s.config.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	return client, nil
}

// refused tells what the server said by its codes. Its text is left out: it may
// repeat the message.
func (s *Sender) refused(err error) error {
	var refused *mail.SendError
	if !errors.As(err, &refused) {
		return fmt.Errorf("smtp: %s: the message could not be sent", s.server)
	}
	said := strings.TrimSpace(fmt.Sprint(refused.ErrorCode(), " ", refused.EnhancedStatusCode()))
	return fmt.Errorf("smtp: %s: %s (answer %s)", s.server, refused.Reason, said)
}
