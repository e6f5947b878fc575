package smtp_test

import (
	"context"
	"crypto/tls"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	smtpserver "github.com/emersion/go-smtp"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/smtp"
)

const id = "0fcd14f5-dae7-4331-82ca-ebaddd849534"

var message = otp.Message{
	OTPID: id, Type: otp.TypeEmail, To: "jo+tag@xn--mnchen-3ya.example",
	Subject:  "Ihr Code für Bäckerei Ümlaut — " + strings.Repeat("sehr ", 20) + "schön",
	Text:     "Ihr Code ist XKCD42\n\n.\nüblich\n" + strings.Repeat("x", 2000),
	HTML:     "<p>Ihr Code ist <b>XKCD42</b></p>\n.\n",
	FromName: `Jürgen "J" <b@example.org>`,
	ReplyTo:  "hilfe@example.org",
}

func send(t *testing.T, config smtp.Config, message otp.Message) error {
	t.Helper()
	sender, err := smtp.New(config)
	testenv.Must(t, err)
	return sender.Send(t.Context(), message)
}

// TestEncryption sends with each kind of encryption, and logs in over TLS to servers that offer
// several mechanisms, or only one.
func TestEncryption(t *testing.T) {
	for name, test := range map[string]struct {
		server     func(*smtpserver.Server)
		encryption smtp.Encryption
		encrypted  bool
		user       string
		offered    string
	}{
		"STARTTLS":               {nil, smtp.STARTTLS, true, "", ""},
		"STARTTLS and a user":    {nil, smtp.STARTTLS, true, "user", ""},
		"STARTTLS and PLAIN":     {nil, smtp.STARTTLS, true, "user", "PLAIN"},
		"STARTTLS and LOGIN":     {nil, smtp.STARTTLS, true, "user", "LOGIN"},
		"implicit TLS":           {implicitTLS, smtp.ImplicitTLS, true, "", ""},
		"implicit TLS and auth":  {implicitTLS, smtp.ImplicitTLS, true, "user", ""},
		"implicit TLS and PLAIN": {implicitTLS, smtp.ImplicitTLS, true, "user", "PLAIN"},
		"implicit TLS and LOGIN": {implicitTLS, smtp.ImplicitTLS, true, "user", "LOGIN"},
		"plaintext":              {noTLS, smtp.InsecurePlaintext, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, test.server)
			if test.offered != "" {
				s.offers = []string{test.offered}
			}
			config := s.config(func(c *smtp.Config) {
				c.Encryption, c.Username, c.Password = test.encryption, test.user, "right"
			})
			testenv.Must(t, send(t, config, message))
			messages := s.messages()
			if len(messages) != 1 || messages[0].encrypted != test.encrypted || messages[0].user != test.user ||
				messages[0].from != "codes@example.com" || len(messages[0].to) != 1 || messages[0].to[0] != message.To {
				t.Fatalf("%+v", messages)
			}
			if test.offered != "" && messages[0].mechanism != test.offered {
				t.Errorf("logged in by %s", messages[0].mechanism)
			}
		})
	}
}

// TestMessage checks the parts of a message that the server received.
func TestMessage(t *testing.T) {
	s := serve(t, nil)
	testenv.Must(t, send(t, s.config(nil), message))
	parsed, err := mail.ReadMessage(strings.NewReader(s.messages()[0].data))
	testenv.Must(t, err)
	var decoder mime.WordDecoder
	subject, err := decoder.DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil || subject != message.Subject {
		t.Errorf("subject %q, %v", subject, err)
	}
	from, err := parsed.Header.AddressList("From")
	if err != nil || len(from) != 1 || *from[0] != (mail.Address{Name: message.FromName, Address: "codes@example.com"}) {
		t.Errorf("from %v, %v", from, err)
	}
	for header, want := range map[string]string{
		"To": "<" + message.To + ">", "Reply-To": "<hilfe@example.org>", "Message-ID": "<" + id + "@example.com>",
		"Auto-Submitted": "auto-generated", "Bcc": "", "User-Agent": "", "X-Mailer": "",
	} {
		if got := parsed.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if _, err := parsed.Header.Date(); err != nil {
		t.Errorf("date: %v", err)
	}
	text, html := parts(t, parsed)
	if text != strings.ReplaceAll(message.Text, "\n", "\r\n") && text != message.Text {
		t.Errorf("text %q", text)
	}
	if !strings.Contains(html, "<b>XKCD42</b>") {
		t.Errorf("HTML %q", html)
	}
}

// parts returns the text part and the HTML part of a message.
func parts(t *testing.T, message *mail.Message) (text, html string) {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %s, %v", kind, err)
	}
	reader := multipart.NewReader(message.Body, parameters["boundary"])
	for _, into := range []*string{&text, &html} {
		part, err := reader.NextRawPart()
		testenv.Must(t, err)
		if part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("part %v", part.Header)
		}
		content, err := io.ReadAll(quotedprintable.NewReader(part))
		testenv.Must(t, err)
		*into = string(content)
	}
	if _, err := reader.NextPart(); err != io.EOF {
		t.Errorf("a third part: %v", err)
	}
	return text, html
}

// TestInjection checks that a line break in any string that becomes a header is
// refused. In the bodies line breaks are harmless.
func TestInjection(t *testing.T) {
	s := serve(t, nil)
	for _, lineEnd := range []string{"\r\n", "\n", "\r"} {
		evil := lineEnd + "Bcc: victim@example.com"
		for name, change := range map[string]func(*otp.Message){
			"subject":    func(m *otp.Message) { m.Subject += evil },
			"to":         func(m *otp.Message) { m.To += evil },
			"two to":     func(m *otp.Message) { m.To += ", victim@example.com" },
			"from name":  func(m *otp.Message) { m.FromName += evil },
			"from":       func(m *otp.Message) { m.FromAddress = "a@example.com" + evil },
			"reply-to":   func(m *otp.Message) { m.ReplyTo += evil },
			"id":         func(m *otp.Message) { m.OTPID += evil },
			"no address": func(m *otp.Message) { m.To = "nobody" },
		} {
			changed := message
			change(&changed)
			if err := send(t, s.config(nil), changed); err == nil || strings.Contains(err.Error(), "XKCD42") {
				t.Errorf("%s with %q: %v", name, lineEnd, err)
			}
		}
		changed := message
		changed.Text += lineEnd + "." + lineEnd + "MAIL FROM:<a@example.com>" + lineEnd
		changed.HTML += evil
		if err := send(t, s.config(nil), changed); err != nil {
			t.Error(err)
		}
	}
	if messages := s.messages(); len(messages) != 3 {
		t.Fatalf("%d messages arrived, want 3", len(messages))
	}
	for _, received := range s.messages() {
		parsed, err := mail.ReadMessage(strings.NewReader(received.data))
		if err != nil || parsed.Header.Get("Bcc") != "" || len(received.to) != 1 {
			t.Errorf("%v %v %v", received.to, parsed.Header, err)
		}
	}
}

// TestFailures checks that every failure is reported, and that no error contains the
// code or the password.
func TestFailures(t *testing.T) {
	good := func() *server { return serve(t, nil) }
	for name, test := range map[string]struct {
		server *server
		change func(*smtp.Config)
		want   string
	}{
		"an unknown authority": {good(), func(c *smtp.Config) { c.TLS = nil }, "certificate"},
		"another host":         {good(), func(c *smtp.Config) { c.Host = "127.0.0.1" }, "certificate"},
		"a wrong password":     {good(), func(c *smtp.Config) { c.Username, c.Password = "user", "hush-hush" }, "log in: PLAIN"},
		"no STARTTLS":          {serve(t, noTLS), nil, "STARTTLS"},
		"no TLS":               {serve(t, noTLS), func(c *smtp.Config) { c.Encryption = smtp.ImplicitTLS }, "tls"},
		"a password in the clear": {serve(t, noTLS), func(c *smtp.Config) {
			c.Encryption, c.Username, c.Password, c.Host = smtp.InsecurePlaintext, "user", "right", "0.0.0.0"
		}, "log in"},
		"a password in the clear on request": {serve(t, noTLS), func(c *smtp.Config) {
			c.Encryption, c.Username, c.Password, c.Host, c.Auth = smtp.InsecurePlaintext, "user", "right", "0.0.0.0", "plain"
		}, "in the clear"},
		"no server": {&server{port: 1}, nil, "connect"},
	} {
		t.Run(name, func(t *testing.T) {
			err := send(t, test.server.config(test.change), message)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want …%s…", err, test.want)
			}
			for _, secret := range []string{"XKCD42", "hush-hush"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error contains %s: %v", secret, err)
				}
			}
			if len(test.server.messages()) > 0 {
				t.Error("the message arrived")
			}
		})
	}
}

// TestRefused checks that the error has only the codes of a refusal, whose text may
// repeat the message.
func TestRefused(t *testing.T) {
	s := serve(t, nil)
	s.refuse = &smtpserver.SMTPError{Code: 554, EnhancedCode: smtpserver.EnhancedCode{5, 7, 1}, Message: "spam: Ihr Code ist XKCD42"}
	err := send(t, s.config(nil), message)
	if err == nil || !strings.Contains(err.Error(), "554 5.7.1") || strings.Contains(err.Error(), "XKCD42") {
		t.Fatalf("%v", err)
	}
	s.mu.Lock()
	s.refuse = nil
	s.mu.Unlock()
	if err := send(t, s.config(nil), message); err != nil {
		t.Fatalf("after the refusal: %v", err)
	}
}

// TestSlowServers checks that Send returns when its context ends.
func TestSlowServers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer func() { _ = silent.Close() }()
	slow := serve(t, nil)
	slow.release = make(chan struct{})
	defer close(slow.release)
	for name, config := range map[string]smtp.Config{
		"silent": {Host: "127.0.0.1", Port: silent.Addr().(*net.TCPAddr).Port, From: "a@example.com", Timeout: time.Hour},
		"slow":   slow.config(nil),
	} {
		sender, err := smtp.New(config)
		testenv.Must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := sender.Send(ctx, message); err == nil {
			t.Errorf("%s: no error", name)
		}
		cancel()
	}
}

func TestCancelledContext(t *testing.T) {
	s := serve(t, nil)
	sender, err := smtp.New(s.config(nil))
	testenv.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sender.Send(ctx, message); err == nil || len(s.messages()) > 0 {
		t.Errorf("%v, %d messages", err, len(s.messages()))
	}
}

func TestConfigInvalid(t *testing.T) {
	for name, config := range map[string]smtp.Config{
		"no host":        {From: "a@example.com"},
		"no sender":      {Host: "localhost"},
		"two lines":      {Host: "localhost", From: "a@example.com\r\nBcc: b@example.com"},
		"no mechanism":   {Host: "localhost", From: "a@example.com", Auth: "xoauth"},
		"no encryption":  {Host: "localhost", From: "a@example.com", Encryption: 7},
		"port too large": {Host: "localhost", From: "a@example.com", Port: 1 << 20},
		"empty TLS name": {Host: "", From: "a@example.com", TLS: &tls.Config{}},
	} {
		if _, err := smtp.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
