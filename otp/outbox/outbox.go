// Package outbox writes messages to a folder instead of sending them: for trials, for
// tests, and for machines without a network, where something else delivers them.
// Anyone who can read the folder can read the codes.
package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/otp"
)

// Sender is an otp.Sender. Use New to create one.
type Sender struct {
	folder string
}

var _ otp.Sender = (*Sender)(nil)

// File is the JSON content of one message's file, <otpId>.json with mode 0600.
type File struct {
	OTPID   string `json:"otpId"`
	Channel string `json:"channel"` // "email" or "sms"
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// New returns a Sender for a folder, which it creates with mode 0700 if it does not exist.
func New(folder string) (*Sender, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return &Sender{folder: folder}, nil
}

// Send implements otp.Sender. It creates the file atomically.
func (s *Sender) Send(ctx context.Context, message otp.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if uuid.Validate(message.OTPID) != nil {
		return fmt.Errorf("outbox: the id %q of the one-time password is not a UUID: it would be used as a file name", message.OTPID)
	}
	content, err := json.MarshalIndent(File{
		OTPID:   message.OTPID,
		Channel: message.Type.Channel(),
		To:      message.To,
		Subject: message.Subject,
		Text:    message.Text,
		HTML:    message.HTML,
	}, "", "  ")
	if err == nil {
		err = trust.Replace(filepath.Join(s.folder, message.OTPID+".json"), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}
