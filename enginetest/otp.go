package enginetest

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/store/memory"
)

// Outbox is an otp.Sender that keeps messages for the test to read.
type Outbox struct {
	mu   sync.Mutex
	sent []otp.Message
	Fail bool // Send fails and keeps nothing

	// Service is that of WithOTP, for calls without an activity.
	Service *operations.Service
}

// Send implements otp.Sender.
func (o *Outbox) Send(_ context.Context, message otp.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Fail {
		return errors.New("mail.internal: connection refused")
	}
	o.sent = append(o.sent, message)
	return nil
}

// Sent returns how many messages were sent.
func (o *Outbox) Sent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent)
}

var nineDigits = regexp.MustCompile(`\b[0-9]{9}\b`)

// Message returns the message that carries a one-time password.
func (o *Outbox) Message(t testing.TB, otpID string) otp.Message {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, message := range o.sent {
		if message.OTPID == otpID {
			return message
		}
	}
	t.Fatalf("no message for %q", otpID)
	return otp.Message{}
}

// Code returns the nine-digit code in the message for a one-time password.
func (o *Outbox) Code(t testing.TB, otpID string) string {
	t.Helper()
	return nineDigits.FindString(o.Message(t, otpID).Text)
}

// WithOTP is a change for New. It adds a service that delivers one-time passwords to the
// outbox, with a store in memory unless the configuration has one. The changes are
// applied to the configuration of the service.
func WithOTP(t testing.TB, outbox *Outbox, changes ...func(*otp.Config)) func(*countersign.Config) {
	return func(c *countersign.Config) {
		t.Helper()
		if c.Store == nil {
			c.Store = memory.New(0)
		}
		config := otp.Config{
			Store: c.Store, Secret: keystore.NewSecret(make([]byte, otp.MinSecretSize)), Email: outbox, SMS: outbox, Clock: c.Now,
		}
		for _, change := range changes {
			change(&config)
		}
		service, err := otp.New(config)
		if err != nil {
			t.Fatal(err)
		}
		outbox.Service = operations.New(service, c.ProofSigner)
		c.Operations = append(c.Operations, outbox.Service.Operations()...)
	}
}
