package otp

import "context"

// Sender delivers messages. Packages otp/smtp, otp/webhook and otp/outbox implement
// it.
type Sender interface {
	// Send returns nil once the message has been handed over for delivery. After
	// an error the message may still arrive, but its code is dead. Send must
	// respect ctx, and its error must not contain any part of the message.
	Send(ctx context.Context, message Message) error
}
