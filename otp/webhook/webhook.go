// Package webhook posts messages to an HTTP endpoint of yours, which delivers them:
// text messages through any provider, for example.
//
// It posts the JSON of [Body] and signs it:
//
//	X-Countersign-Signature: t=<seconds since the epoch>,v1=<lower-case hex of HMAC-SHA-256(secret, t ‖ "." ‖ body)>
//
// The endpoint checks the signature with [Verify] and answers with a 2xx status once
// it has accepted the message. A request may arrive more than once, with the same
// Idempotency-Key: the id of the one-time password.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/otp"
)

// Defaults of Config.
const (
	DefaultAttempts = 3
	DefaultBackoff  = 500 * time.Millisecond
	DefaultTimeout  = 10 * time.Second
)

// Config configures a Sender. URL and Secret are required.
type Config struct {
	// URL is the endpoint: https, or http on this machine.
	URL string

	// Secret is the HMAC key for the body: at least 32 random bytes. New copies it.
	Secret []byte

	// Attempts bounds how often a message is posted while the endpoint is
	// unreachable or answers 408, 429 or 5xx. Default: DefaultAttempts.
	Attempts int

	// Backoff is the pause before the second attempt; it doubles for each further
	// one. Default: DefaultBackoff.
	Backoff time.Duration

	// Timeout bounds one attempt. Default: DefaultTimeout.
	Timeout time.Duration

	// Client makes the requests. Redirects are not followed. Default: a new client.
	Client *http.Client
}

// Body is the JSON that is posted.
type Body struct {
	OTPID          string `json:"otpId"`
	OrganizationID string `json:"organizationId"`
	Channel        string `json:"channel"` // "email" or "sms"
	To             string `json:"to"`
	Subject        string `json:"subject,omitempty"`
	Text           string `json:"text"`
	HTML           string `json:"html,omitempty"`
	FromName       string `json:"fromName,omitempty"`
	FromAddress    string `json:"fromAddress,omitempty"`
	ReplyTo        string `json:"replyTo,omitempty"`
}

// Sender is an otp.Sender. Use New to create one.
type Sender struct {
	config Config
	host   string
	client http.Client
	now    func() time.Time
}

var _ otp.Sender = (*Sender)(nil)

// New returns a Sender, or an error that names the invalid setting.
func New(config Config) (*Sender, error) {
	if err := CheckURL(config.URL); err != nil {
		return nil, err
	}
	target, err := url.Parse(config.URL)
	if err != nil {
		return nil, err
	}
	if len(config.Secret) < minSecret {
		return nil, fmt.Errorf("webhook: the secret has %d bytes: it must be at least %d random bytes", len(config.Secret), minSecret)
	}
	config.Secret = bytes.Clone(config.Secret)
	if config.Attempts <= 0 {
		config.Attempts = DefaultAttempts
	}
	if config.Backoff <= 0 {
		config.Backoff = DefaultBackoff
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	s := &Sender{config: config, host: target.Host, now: time.Now}
	if config.Client != nil {
		s.client = *config.Client
	}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s, nil
}

// CheckURL refuses an endpoint that is neither https nor http on this machine.
func CheckURL(text string) error {
	target, err := weborigin.ParseURL(text)
	if err != nil || target.Host == "" || !isConfidential(target) {
		return errors.New("webhook: the URL must be https, or http on this machine, because what is posted would be readable in transit, with a port up to 65535 if any")
	}
	return nil
}

// isConfidential reports whether requests to target cannot be read in transit.
func isConfidential(target *url.URL) bool {
	host := target.Hostname()
	ip := net.ParseIP(host)
	thisMachine := host == "localhost" || ip != nil && ip.IsLoopback()
	return target.Scheme == "https" || target.Scheme == "http" && thisMachine
}

// Send implements otp.Sender.
func (s *Sender) Send(ctx context.Context, message otp.Message) error {
	body, err := json.Marshal(Body{
		OTPID: message.OTPID, OrganizationID: message.OrganizationID, Channel: message.Type.Channel(), To: message.To,
		Subject: message.Subject, Text: message.Text, HTML: message.HTML,
		FromName: message.FromName, FromAddress: message.FromAddress, ReplyTo: message.ReplyTo,
	})
	if err != nil {
		return err
	}
	pause := s.config.Backoff
	for attempt := 1; ; attempt++ {
		retry, err := s.post(ctx, message.OTPID, body)
		if err == nil || !retry || attempt == s.config.Attempts {
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// maxAnswer bounds how much of an answer is read, in bytes, so that the connection
// can be reused.
const maxAnswer = 64 << 10

// post posts the body once, and reports whether an error is worth a retry.
func (s *Sender) post(ctx context.Context, id string, body []byte) (retry bool, err error) {
	attempt, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(attempt, http.MethodPost, s.config.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", id)
	request.Header.Set(SignatureHeader, sign(s.config.Secret, strconv.FormatInt(s.now().Unix(), 10), body))
	answer, err := s.client.Do(request)
	if err != nil {
		return ctx.Err() == nil, fmt.Errorf("webhook: %s cannot be reached: %w", s.host, Unnamed(err))
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	retry = answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout
	return retry, fmt.Errorf("webhook: %s answered with status %d", s.host, answer.StatusCode)
}

// Unnamed strips the URL from an error of package net/http, since it may contain a password.
func Unnamed(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}
