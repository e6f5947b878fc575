package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// Confirmed asks on the controlling terminal, unless --yes answered in advance. Without
// a terminal and without --yes it refuses. Every question of this command goes through
// it or through ConfirmedWith.
func Confirmed(yes bool, ask func(tty *terminal.Terminal) error) error {
	return ConfirmedWith(yes, "pass --yes to confirm in advance", ask)
}

// ConfirmedWith is Confirmed for questions that --yes does not answer. instead says what does.
func ConfirmedWith(answered bool, instead string, ask func(tty *terminal.Terminal) error) error {
	if answered {
		return nil
	}
	tty, err := terminal.Open()
	if errors.Is(err, terminal.ErrNone) {
		return Usagef("this asks for confirmation, and there is no terminal to ask on: %s", instead)
	}
	if err != nil {
		return err
	}
	defer func() { _ = tty.Close() }()
	return ask(tty)
}

// Ask asks a question. If the answer is no, the error says what was not done, such as "not signed".
func Ask(ctx context.Context, tty *terminal.Terminal, question, notDone string) error {
	agreed, err := tty.Confirm(ctx, question)
	if err == nil && !agreed {
		err = errors.New(notDone + ": the answer was not yes")
	}
	return err
}

// maxPassphrase is the longest passphrase in bytes.
const maxPassphrase = 1024

// minPassphrase is the least number of characters in a passphrase chosen at the terminal.
const minPassphrase = 8

// ReadPassphraseFile reads the passphrase or password in the file that a flag names. The
// caller wipes it.
func ReadPassphraseFile(ctx context.Context, flag, path string) ([]byte, error) {
	return ReadFlagSecret(ctx, flag, path, maxPassphrase, CheckPassphrase)
}

// ReadPasswordFile reads the password of a foreign file from the file that a flag names. It may
// be empty, as it may be on the terminal: it protects nothing here. The caller wipes it.
func ReadPasswordFile(ctx context.Context, flag, path string) ([]byte, error) {
	return ReadFlagSecret(ctx, flag, path, maxPassphrase, func(password []byte) error {
		if len(password) == 0 {
			return nil
		}
		return CheckPassphrase(password)
	})
}

// CheckPassphrase refuses a passphrase that protects nothing.
func CheckPassphrase(passphrase []byte) error {
	switch {
	case len(passphrase) == 0:
		return errors.New("the passphrase is empty")
	case len(passphrase) > maxPassphrase:
		return fmt.Errorf("the passphrase is longer than %d bytes", maxPassphrase)
	case bytes.ContainsAny(passphrase, "\r\n\x00"):
		return errors.New("the passphrase has more than one line, or contains a zero byte")
	}
	return nil
}

// CheckNewPassphrase also refuses a passphrase that is short enough to be guessed.
func CheckNewPassphrase(passphrase []byte) error {
	if n := utf8.RuneCount(passphrase); n > 0 && n < minPassphrase {
		return fmt.Errorf("the passphrase has %d characters: at least %d are needed, because anyone with a copy of "+
			"the files can try millions", n, minPassphrase)
	}
	return CheckPassphrase(passphrase)
}

// AskSecret asks for a secret on the terminal. The error is terminal.ErrNone if there is
// no terminal. The caller wipes the secret.
func AskSecret(ctx context.Context, prompt string) ([]byte, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	return tty.Secret(ctx, prompt)
}

// AskTwice asks for a new secret that passes a check, and then for the same again. The
// error is terminal.ErrNone if there is no terminal. The caller wipes the secret.
func AskTwice(ctx context.Context, prompt, promptAgain string, check func([]byte) error) ([]byte, error) {
	secret, err := AskSecret(ctx, prompt)
	if err != nil {
		return nil, err
	}
	err = check(secret)
	if err == nil {
		var again []byte
		again, err = AskSecret(ctx, promptAgain)
		defer keystore.Wipe(again)
		if err == nil && !bytes.Equal(secret, again) {
			err = errors.New("the two entries differ: nothing was changed")
		}
	}
	if err != nil {
		keystore.Wipe(secret)
		return nil, err
	}
	return secret, nil
}
