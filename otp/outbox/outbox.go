// Package outbox puts messages into a folder instead of sending them: for trying
// out, for tests, and for machines without a network, from which something else
// carries them on. Read access to the folder gives the codes.
package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/otp"
)

// Sender is an otp.Sender.
type Sender struct {
	folder string
}

var _ otp.Sender = (*Sender)(nil)

// File is one message, as it is in the folder: JSON in a file named
// <otpId>.json with mode 0600.
type File struct {
	OTPID   string `json:"otpId"`
	Channel string `json:"channel"` // "email" or "sms"
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// New makes the folder, with mode 0700, if it is not there.
func New(folder string) (*Sender, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return &Sender{folder: folder}, nil
}

// Send implements otp.Sender. A file appears whole or not at all.
func (s *Sender) Send(ctx context.Context, message otp.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if uuid.Validate(message.OTPID) != nil {
		return fmt.Errorf("outbox: the id of a one-time password is a UUID, since it names the file; it is %q", message.OTPID)
	}
	content, err := json.MarshalIndent(File{
		OTPID:   message.OTPID,
		Channel: channel(message.Type),
		To:      message.To,
		Subject: message.Subject,
		Text:    message.Text,
		HTML:    message.HTML,
	}, "", "  ")
	if err != nil {
		return err
	}
	return s.write(message.OTPID+".json", append(content, '\n'))
}

func channel(kind otp.Type) string {
	if kind == otp.TypeSMS {
		return "sms"
	}
	return "email"
}

func (s *Sender) write(name string, content []byte) (err error) {
	file, err := os.CreateTemp(s.folder, ".unfinished-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(s.folder, name))
	}
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}
