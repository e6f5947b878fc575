// Package webhook posts messages to an HTTP endpoint of yours, which delivers them:
// text messages through any provider, for example.
//
// It posts the JSON of [Body], signed as Standard Webhooks 1.0.0 says
// (https://www.standardwebhooks.com):
//
//	webhook-id: <the id of the one-time password>
//	webhook-timestamp: <seconds since the epoch>
//	webhook-signature: v1,<base64 of HMAC-SHA-256(secret, id ‖ "." ‖ timestamp ‖ "." ‖ body)>
//
// The endpoint checks the signature with [Secrets.Verify], or a library of Standard Webhooks, and
// answers with a 2xx status once it has accepted the message. A request may arrive more than once,
// with the same id. The events of 'countersign serve' are posted in the same way.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Config configures a Sender. URL and Secrets are required.
type Config struct {
	// URL is the endpoint: https, or http on this machine.
	URL string

	// Secrets are the HMAC keys for the body: one of 24 to 64 random bytes, or two while one is
	// being replaced. New copies them.
	Secrets Secrets

	// Attempts bounds how often a message is posted until the endpoint accepts it. Default:
	// DefaultAttempts.
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
	endpoint *Endpoint
	host     string
	attempts int
	backoff  time.Duration
}

var _ otp.Sender = (*Sender)(nil)

// New returns a Sender, or an error that names the invalid setting.
func New(config Config) (*Sender, error) {
	if config.Attempts <= 0 {
		config.Attempts = DefaultAttempts
	}
	if config.Backoff <= 0 {
		config.Backoff = DefaultBackoff
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	endpoint, err := NewEndpoint(config.URL, config.Secrets, config.Client, config.Timeout)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.URL)
	if err != nil {
		return nil, err
	}
	return &Sender{endpoint, target.Host, config.Attempts, config.Backoff}, nil
}

func (s *Sender) Send(ctx context.Context, message otp.Message) error {
	body, err := json.Marshal(Body{
		OTPID: message.OTPID, OrganizationID: message.OrganizationID, Channel: message.Type.Channel(), To: message.To,
		Subject: message.Subject, Text: message.Text, HTML: message.HTML,
		FromName: message.FromName, FromAddress: message.FromAddress, ReplyTo: message.ReplyTo,
	})
	if err != nil {
		return err
	}
	pause := s.backoff
	for attempt := 1; ; attempt++ {
		err := s.endpoint.Post(ctx, message.OTPID, time.Now(), body)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("webhook: %s: %w", s.host, err)
		if attempt == s.attempts {
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

// Endpoint takes signed requests. Use NewEndpoint to create one.
type Endpoint struct {
	url     string
	secrets Secrets
	client  http.Client
	timeout time.Duration // of a request
}

// ErrAnswered is the cause of a failure if the endpoint answered, with another status than 2xx.
var ErrAnswered = errors.New("the endpoint answered")

// NewEndpoint returns the endpoint at a URL, or an error that names the invalid setting. Redirects
// are not followed. client may be nil: a new one is used.
func NewEndpoint(url string, secrets Secrets, client *http.Client, timeout time.Duration) (*Endpoint, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	if err := secrets.check(); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	e := &Endpoint{url: url, timeout: timeout}
	for _, secret := range secrets {
		e.secrets = append(e.secrets, bytes.Clone(secret))
	}
	if client != nil {
		e.client = *client
	}
	e.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return e, nil
}

// CheckURL refuses an endpoint that is neither https nor http on this machine.
func CheckURL(text string) error {
	target, err := weborigin.ParseURL(text)
	if err != nil || target.Host == "" ||
		target.Scheme != "https" && (target.Scheme != "http" || !weborigin.IsLoopback(target.Hostname())) {
		return errors.New("webhook: the URL must be https, or http on this machine, because what is posted would be " +
			"readable in transit, with a port up to 65535 if any")
	}
	return nil
}

// maxAnswer bounds how much of an answer is read, in bytes, so that the connection can be reused.
const maxAnswer = 64 << 10

// Post makes one attempt to post JSON under an id. Errors name neither the body nor the URL.
func (e *Endpoint) Post(ctx context.Context, id string, at time.Time, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "countersign")
	request.Header.Set(IDHeader, id)
	request.Header.Set(TimestampHeader, strconv.FormatInt(at.Unix(), 10))
	request.Header.Set(SignatureHeader, e.secrets.Sign(id, at, body))
	answer, err := e.client.Do(request)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // the URL may contain a password
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%w with status %d", ErrAnswered, answer.StatusCode)
	}
	return nil
}
