package deployment_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/otp"
)

// TestSenders opens the senders of valid configurations, and checks which member the
// errors of invalid ones name.
func TestSenders(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	clitest.WritePrivate(t, at("secret"), strings.Repeat("s", otp.MinSecretSize)+"\n")
	clitest.WritePrivate(t, at("short"), "short\n")
	clitest.WritePrivate(t, at("headers"), "X-Account: 7\r\n")
	clitest.WritePrivate(t, at("broken"), "hunter2\n")
	clitest.WritePrivate(t, at("signing"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
	smtp := func(change func(*config.SMTP)) *config.OTP {
		made := &config.SMTP{Host: "mail.example.com", From: "no-reply@example.com", Username: "u", PasswordFile: at("short"), AllowedDomains: []string{"example.com"}}
		change(made)
		return &config.OTP{SecretFile: at("secret"), Email: &config.Email{SMTP: made}}
	}
	hook := func(made config.Webhook) *config.OTP {
		return &config.OTP{SecretFile: at("secret"), SMS: &config.SMS{Webhook: &made}, Email: &config.Email{Webhook: &made}}
	}
	for _, test := range []struct {
		name string
		otp  *config.OTP
		want string // of the error; empty: none
	}{
		{"none", nil, ""},
		{"outbox", &config.OTP{SecretFile: at("secret"), Outbox: at("outbox")}, ""},
		{"SMTP", smtp(func(*config.SMTP) {}), ""},
		{"SMTP with STARTTLS", smtp(func(s *config.SMTP) { s.TLS, s.Port = "starttls", 587 }), ""},
		{"SMTP with implicit TLS", smtp(func(s *config.SMTP) { s.TLS = "implicit" }), ""},
		{"SMTP without", smtp(func(s *config.SMTP) { s.TLS = "insecure-plaintext" }), ""},
		{"SMTP with something", smtp(func(s *config.SMTP) { s.TLS = "none" }), "email.smtp: tls: "},
		{"SMTP without a host", smtp(func(s *config.SMTP) { s.Host = "" }), "email.smtp: "},
		{"SMTP without a sender", smtp(func(s *config.SMTP) { s.From = "" }), "email.smtp: "},
		{"no password file", smtp(func(s *config.SMTP) { s.PasswordFile = at("none") }), "email.smtp: passwordFile: "},
		{"no domain", smtp(func(s *config.SMTP) { s.AllowedDomains = []string{"a b"} }), "sender domain"},
		{"webhook", hook(config.Webhook{URL: "https://sms.example.com", HeadersFile: at("headers")}), ""},
		{"webhook with a secret", hook(config.Webhook{URL: "https://sms.example.com", SecretFile: at("signing")}), ""},
		{"webhook with another secret", hook(config.Webhook{URL: "https://sms.example.com", SecretFile: at("secret")}), "webhook: secretFile: "},
		{"webhook with a short secret", hook(config.Webhook{URL: "https://sms.example.com", SecretFile: at("short")}), "webhook: "},
		{"webhook without TLS", hook(config.Webhook{URL: "http://sms.example.com"}), "webhook: "},
		{"broken headers", hook(config.Webhook{URL: "https://sms.example.com", HeadersFile: at("broken")}), "webhook: headersFile: "},
		{"no headers", hook(config.Webhook{URL: "https://sms.example.com", HeadersFile: at("none")}), "webhook: headersFile: "},
		{"short secret", &config.OTP{SecretFile: at("short"), Outbox: at("outbox")}, "has 5 bytes: expected at least 32"},
		{"no secret", &config.OTP{SecretFile: at("none"), Outbox: at("outbox")}, "secretFile: "},
		{"template without a code", &config.OTP{SecretFile: at("secret"), Outbox: at("outbox"),
			Templates: map[string]otp.Template{"x": {Text: "hi"}}}, `template "x"`},
	} {
		service, err := deployment.PrepareOTP(t.Context(), test.otp)
		switch {
		case test.want == "" && (err != nil || (service == nil) != (test.otp == nil)):
			t.Errorf("%s: %v, %v", test.name, service, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
