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
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

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
