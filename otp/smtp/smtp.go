// Package smtp sends messages by e-mail, through a mail server of yours.
//
// Connections are encrypted, by STARTTLS or implicit TLS, and the server's
// certificate is verified; [InsecurePlaintext] is for a server on this machine. Each
// message is sent over a connection of its own. It has a text part and, if its
// template has one, an HTML part; the one-time password's id is in its Message-ID.
package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	netmail "net/mail"
	"strings"
	"time"

	mail "github.com/wneessen/go-mail"

	"github.com/countersign-dev/countersign/otp"
)

// Encryption says how a connection is encrypted.
type Encryption int

// The kinds of encryption.
const (
	STARTTLS          Encryption = iota // usually on port 587; it is an error if the server does not support it
	ImplicitTLS                         // usually on port 465
	InsecurePlaintext                   // an eavesdropper can read the codes
)

// Defaults of Config.
const (
	DefaultSTARTTLSPort    = 587
	DefaultImplicitTLSPort = 465
	DefaultPlaintextPort   = 25
	DefaultTimeout         = 15 * time.Second
)

// Config configures a Sender. Host and From are required.
type Config struct {
	Host       string // of the mail server
	Port       int    // default: the usual port of Encryption
	Encryption Encryption

	// Username and Password are for servers that require authentication. Auth is the
	// mechanism: plain, login, cram-md5, ntlm, or scram-sha-1 and scram-sha-256, also with
	// -plus. Default: the best that the server offers. None is used that would send the
	// password unencrypted to another machine.
	Username string
	Password string
	Auth     string

	// From is the sender's address of messages without a FromAddress.
	From string

	// HELO is the host name given to the server. Default: this machine's name.
	HELO string

	// Timeout bounds the delivery of one message. Default: DefaultTimeout.
	Timeout time.Duration

	// TLS is for private certificate authorities. Default: the system's roots, TLS 1.2 or later.
	TLS *tls.Config
}

// Sender is an otp.Sender. Use New to create one.
type Sender struct {
	config Config
	server string
}

var _ otp.Sender = (*Sender)(nil)

// New returns a Sender, or an error that names the invalid setting. It does not connect.
func New(config Config) (*Sender, error) {
	if config.Host == "" {
		return nil, errors.New("smtp: the host of the mail server is missing")
	}
	if strings.ContainsAny(config.Host, "/@[] ") || strings.Contains(config.Host, ":") && net.ParseIP(config.Host) == nil {
		return nil, fmt.Errorf("smtp: host %q: write the name of the mail server alone, without scheme and port", config.Host)
	}
	if config.Port < 0 || config.Port > math.MaxUint16 {
		return nil, fmt.Errorf("smtp: port %d: expected 1 to 65535", config.Port)
	}
	if config.Port == 0 {
		config.Port = map[Encryption]int{
			STARTTLS: DefaultSTARTTLSPort, ImplicitTLS: DefaultImplicitTLSPort, InsecurePlaintext: DefaultPlaintextPort,
		}[config.Encryption]
	}
	if err := CheckAuth(config.Auth); err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if err := mail.NewMsg().From(config.From); err != nil || strings.ContainsAny(config.From, "\r\n<>") {
		return nil, fmt.Errorf("smtp: the sender's address %q is not an e-mail address", config.From)
	}
	s := &Sender{config: config, server: net.JoinHostPort(config.Host, fmt.Sprint(config.Port))}
	_, err := s.client(config.Timeout) // checks the other settings
	return s, err
}

// Send implements otp.Sender. Failures after the server has accepted the message are ignored.
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
	// The library may wait for longer than ctx allows.
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	if s.config.Encryption == STARTTLS {
		if err := connection.StartTLS(s.tls()); err != nil {
			_ = connection.Close()
			return fmt.Errorf("smtp: %s: STARTTLS: %w", s.server, err)
		}
	}
	if s.config.Username != "" {
		if err := (&login{&s.config, connection}).run(); err != nil {
			_ = connection.Close()
			return fmt.Errorf("smtp: %s: log in: %w", s.server, err)
		}
	}
	err = client.SendWithSMTPClient(connection, msg)
	_ = client.CloseWithSMTPClient(connection)
	if err != nil && !msg.IsDelivered() {
		var refused *mail.SendError
		if !errors.As(err, &refused) {
			return fmt.Errorf("smtp: %s: the message could not be sent", s.server)
		}
		// The codes of the server's answer, but not its text, which may repeat the message.
		codes := strings.TrimSpace(fmt.Sprint(refused.ErrorCode(), " ", refused.EnhancedStatusCode()))
		return fmt.Errorf("smtp: %s: %s (answer %s)", s.server, refused.Reason, codes)
	}
	return nil
}

func (s *Sender) client(timeout time.Duration) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(s.config.Port), mail.WithTimeout(timeout), mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithHELO(s.config.hello()), mail.WithTLSConfig(s.tls()),
		mail.WithoutSMTPUTF8(), // addresses are ASCII: a message that asks for it is returned by servers without it
	}
	switch s.config.Encryption {
	case STARTTLS, InsecurePlaintext: // Send starts TLS: the library finds the offer only in capitals
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	case ImplicitTLS:
		options = append(options, mail.WithSSL())
	default:
		return nil, fmt.Errorf("smtp: unknown encryption %d", s.config.Encryption)
	}
	client, err := mail.NewClient(s.config.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	return client, nil
}

func (s *Sender) tls() *tls.Config {
	config := cmp.Or(s.config.TLS.Clone(), &tls.Config{MinVersion: tls.VersionTLS12})
	config.ServerName = cmp.Or(config.ServerName, s.config.Host)
	return config
}

// compose returns the e-mail for a message. It refuses headers of several lines even
// though package otp has checked them.
func (s *Sender) compose(message otp.Message) (*mail.Msg, error) {
	from := cmp.Or(message.FromAddress, s.config.From)
	for _, header := range []struct{ name, value string }{
		{"subject", message.Subject}, {"recipient", message.To}, {"sender's name", message.FromName},
		{"sender's address", from}, {"reply-to address", message.ReplyTo}, {"id", message.OTPID},
	} {
		if strings.ContainsAny(header.value, "\r\n\x00") {
			return nil, fmt.Errorf("smtp: the %s has more than one line", header.name)
		}
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	// The library quotes names without escaping them: set parsed addresses, so that a
	// name that contains quotes cannot become another address.
	for _, party := range []struct {
		header  mail.AddrHeader
		address netmail.Address
	}{
		{mail.HeaderFrom, netmail.Address{Name: message.FromName, Address: from}},
		{mail.HeaderTo, netmail.Address{Address: message.To}},
		{mail.HeaderReplyTo, netmail.Address{Address: message.ReplyTo}},
	} {
		if party.header == mail.HeaderReplyTo && message.ReplyTo == "" {
			continue
		}
		parsed, err := netmail.ParseAddress(party.address.Address)
		if err != nil || parsed.Address != party.address.Address {
			return nil, fmt.Errorf("smtp: %s: not an e-mail address", party.header)
		}
		msg.SetAddrHeaderFromMailAddress(party.header, &party.address)
	}
	msg.Subject(message.Subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(message.OTPID + "@" + from[strings.LastIndexByte(from, '@')+1:])
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
	msg.SetBodyString(mail.TypeTextPlain, message.Text)
	if message.HTML != "" {
		msg.AddAlternativeString(mail.TypeTextHTML, message.HTML)
	}
	return msg, nil
}
