package deployment

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/textproto"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/outbox"
	"github.com/countersign-dev/countersign/otp/smtp"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// PrepareOTP reads what one-time passwords are made and sent with: all of a service's configuration
// but its store. It returns nil if there are none. The secret lives until it is destroyed.
func PrepareOTP(ctx context.Context, configured *config.OTP) (*otp.Config, error) {
	if configured == nil {
		return nil, nil
	}
	content, err := console.ReadSecretFile(ctx, configured.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("secretFile: %w", err)
	}
	defer keystore.Wipe(content)
	if len(content) < otp.MinSecretSize {
		return nil,
			fmt.Errorf("secretFile: %s has %d bytes: expected at least %d, such as the output of 'openssl rand "+
				"-hex 32'", configured.SecretFile, len(content), otp.MinSecretSize)
	}
	service := otp.Config{
		Store: memory.New(0), Secret: keystore.NewSecret(content), Templates: configured.Templates,
		Limits: configured.OTPLimits(), Countries: configured.Countries(),
	}
	err = senders{ctx, content}.open(configured, &service)
	if err == nil {
		_, err = otp.New(service)
	}
	if err != nil {
		destroy(&service)
		return nil, err
	}
	service.Store = nil
	return &service, nil
}

// destroy destroys the secret of one-time passwords.
func destroy(service *otp.Config) {
	if secret, ok := service.Secret.(keystore.Secret); ok {
		secret.Destroy()
	}
}

// senders opens the senders of messages. secret is that of the one-time passwords.
type senders struct {
	ctx    context.Context
	secret []byte
}

func (s senders) open(configured *config.OTP, service *otp.Config) (err error) {
	if configured.Outbox != "" {
		sender, err := outbox.New(configured.Outbox)
		if err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		service.Email, service.SMS = sender, sender
		return nil
	}
	switch email := configured.Email; {
	case email == nil:
	case email.Webhook != nil:
		if service.Email, err = s.webhook(email.Webhook); err != nil {
			return fmt.Errorf("email.webhook: %w", err)
		}
	default:
		if service.Email, err = s.smtp(email.SMTP); err != nil {
			return fmt.Errorf("email.smtp: %w", err)
		}
		service.SenderDomains = email.SMTP.AllowedDomains
	}
	if configured.SMS != nil {
		if service.SMS, err = s.webhook(configured.SMS.Webhook); err != nil {
			return fmt.Errorf("sms.webhook: %w", err)
		}
	}
	return nil
}

func (s senders) smtp(configured *config.SMTP) (*smtp.Sender, error) {
	sender := smtp.Config{Host: configured.Host, Port: configured.Port, Username: configured.Username,
		From: configured.From, Auth: configured.Auth}
	switch configured.TLS {
	case "", "starttls":
		sender.Encryption = smtp.STARTTLS
	case "implicit":
		sender.Encryption = smtp.ImplicitTLS
	case "insecure-plaintext":
		sender.Encryption = smtp.InsecurePlaintext
	default:
		return nil, fmt.Errorf("tls: unknown value %q: use starttls, implicit or insecure-plaintext", configured.TLS)
	}
	if configured.PasswordFile != "" {
		password, err := console.ReadSecretFile(s.ctx, configured.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("passwordFile: %w", err)
		}
		sender.Password = string(password)
		keystore.Wipe(password)
	}
	return smtp.New(sender)
}

// webhookLabel separates the key derived for webhooks from other derived keys.
const webhookLabel = "countersign webhook signature v1"

func (s senders) webhook(configured *config.Webhook) (*webhook.Sender, error) {
	headers, err := s.headers(configured.HeadersFile)
	if err != nil {
		return nil, fmt.Errorf("headersFile: %w", err)
	}
	var secrets webhook.Secrets
	if configured.SecretFile != "" {
		secrets, err = readSecrets(s.ctx, configured.SecretFile)
	} else {
		var secret []byte
		secret, err = hkdf.Key(sha256.New, s.secret, nil, webhookLabel, sha256.Size)
		secrets = webhook.Secrets{secret}
	}
	if err != nil {
		return nil, fmt.Errorf("secretFile: %w", err)
	}
	defer func() {
		for _, secret := range secrets {
			keystore.Wipe(secret)
		}
	}()
	sender := webhook.Config{URL: configured.URL, Secrets: secrets}
	if len(headers) > 0 {
		sender.Client = &http.Client{Transport: withHeaders{headers}}
	}
	return webhook.New(sender)
}

// headers reads a file of lines "Name: value".
func (s senders) headers(path string) (http.Header, error) {
	if path == "" {
		return nil, nil
	}
	content, err := console.ReadSecretFile(s.ctx, path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	text := append(bytes.TrimRight(content, "\r\n"), "\r\n\r\n"...)
	read, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(text))).ReadMIMEHeader()
	if err != nil {
		return nil, errors.New(path + `: expected lines "Name: value"`) // the reader's error would quote the line
	}
	return http.Header(read), nil
}

type withHeaders struct{ headers http.Header }

func (w withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	maps.Copy(request.Header, w.headers)
	return http.DefaultTransport.RoundTrip(request)
}

// OpenEvents opens the sender of events, nil if the configuration has no endpoint for them.
func OpenEvents(ctx context.Context, configured *config.Events, outbox store.Outbox, logger *slog.Logger) (*events.Sender, error) {
	if !configured.Delivered() {
		return nil, nil
	}
	secrets, err := eventSecrets(ctx, configured)
	if err != nil {
		return nil, err
	}
	sender, err := events.New(events.Config{Outbox: outbox, URL: configured.Webhook.URL, Secrets: secrets, Logger: logger, Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return sender, nil
}

func eventSecrets(ctx context.Context, configured *config.Events) (webhook.Secrets, error) {
	secrets, err := readSecrets(ctx, configured.Webhook.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("events: webhook: secretFile: %w", err)
	}
	return secrets, nil
}

// readSecrets reads a file of secrets that sign requests to an endpoint.
func readSecrets(ctx context.Context, path string) (webhook.Secrets, error) {
	content, err := console.ReadSecretFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	secrets, err := webhook.ParseSecrets(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secrets, nil
}
