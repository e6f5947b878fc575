package otp

import "context"

// Sender delivers messages. It is all that an embedder has to bring to send
// them by other ways than otp/smtp, otp/webhook and otp/outbox.
type Sender interface {
	// Send returns nil if the message was handed on to who delivers it. With an
	// error it may or may not arrive; its code is dead then. Send keeps to the
	// context, and puts no part of the message into its error.
	Send(ctx context.Context, message Message) error
}
