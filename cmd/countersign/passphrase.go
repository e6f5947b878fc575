package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// maxPassphrase is the longest passphrase in bytes.
const maxPassphrase = 1024

// passphrase gets the keystore's passphrase: from the file, if one is named,
// else from the person at the terminal, twice if it is a new one. The caller
// wipes it. From here on the process leaves no core dump.
func (f *keystoreFlags) passphrase(ctx context.Context, isNew bool) ([]byte, error) {
	if f.passphraseFile == "" {
		if err := harden.NoCoreDumps(); err != nil {
			return nil, err
		}
		return askPassphrase(ctx, isNew)
	}
	file, err := openSecret(f.passphraseFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.passphraseNamed, err)
	}
	defer func() { _ = file.Close() }()
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	passphrase, err := readPassphrase(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", f.passphraseNamed, f.passphraseFile, err)
	}
	return passphrase, nil
}

// readPassphrase reads a passphrase file: all of it, but for one line's end at
// its end.
func readPassphrase(ctx context.Context, file *os.File) ([]byte, error) {
	passphrase, err := readSecretFrom(ctx, file, maxPassphrase)
	if err != nil {
		return nil, err
	}
	return passphrase, checkPassphrase(passphrase)
}

func checkPassphrase(passphrase []byte) error {
	switch {
	case len(passphrase) == 0:
		return errors.New("the passphrase is empty")
	case len(passphrase) > maxPassphrase:
		return fmt.Errorf("the passphrase is longer than %d bytes", maxPassphrase)
	case bytes.ContainsAny(passphrase, "\r\n\x00"):
		return errors.New("the passphrase has more than one line, or a zero byte in it")
	}
	return nil
}

// leastPassphrase is how many characters a passphrase has that a person chooses here.
const leastPassphrase = 8

// checkNewPassphrase refuses a passphrase that is tried first by those who have the files.
func checkNewPassphrase(passphrase []byte) error {
	if n := utf8.RuneCount(passphrase); n > 0 && n < leastPassphrase {
		return fmt.Errorf("the passphrase has %d characters: %d or more are needed, as those who get hold of the files can try millions", n, leastPassphrase)
	}
	return checkPassphrase(passphrase)
}

func askPassphrase(ctx context.Context, isNew bool) ([]byte, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, usagef("no passphrase: name its file with --passphrase-file (%v)", err)
	}
	defer func() { _ = tty.Close() }()
	if !isNew {
		passphrase, err := tty.Secret(ctx, "Passphrase of the keystore")
		if err != nil {
			return nil, err
		}
		return passphrase, checkPassphrase(passphrase)
	}
	passphrase, err := tty.Secret(ctx, "Passphrase for the new keystore")
	if err != nil {
		return nil, err
	}
	if err := checkNewPassphrase(passphrase); err != nil {
		return nil, err
	}
	again, err := tty.Secret(ctx, "The same passphrase again")
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(again)
	if !bytes.Equal(passphrase, again) {
		keystore.Wipe(passphrase)
		return nil, errors.New("the two passphrases differ: nothing was made")
	}
	return passphrase, nil
}
