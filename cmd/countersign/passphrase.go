package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// maxPassphrase is the longest passphrase in bytes.
const maxPassphrase = 1024

// minPassphrase is the least number of characters in a passphrase chosen at the terminal.
const minPassphrase = 8

// readPassphraseFile reads the passphrase or password in the file that a flag names. The
// caller wipes it.
func readPassphraseFile(ctx context.Context, flag, path string) ([]byte, error) {
	return readFlagSecret(ctx, flag, path, maxPassphrase, checkPassphrase)
}

func checkPassphrase(passphrase []byte) error {
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

// checkNewPassphrase also refuses a passphrase that is short enough to be guessed.
func checkNewPassphrase(passphrase []byte) error {
	if n := utf8.RuneCount(passphrase); n > 0 && n < minPassphrase {
		return fmt.Errorf("the passphrase has %d characters: at least %d are needed, because anyone with a copy of the files can try millions", n, minPassphrase)
	}
	return checkPassphrase(passphrase)
}

// askSecret asks for a secret on the terminal. The error is terminal.ErrNone if there is
// no terminal. The caller wipes the secret.
func askSecret(ctx context.Context, prompt string) ([]byte, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	return tty.Secret(ctx, prompt)
}

// askTwice asks for a new secret that passes a check, and then for the same again. The
// error is terminal.ErrNone if there is no terminal. The caller wipes the secret.
func askTwice(ctx context.Context, prompt, promptAgain string, check func([]byte) error) ([]byte, error) {
	secret, err := askSecret(ctx, prompt)
	if err != nil {
		return nil, err
	}
	err = check(secret)
	if err == nil {
		var again []byte
		again, err = askSecret(ctx, promptAgain)
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
