package main

import (
	"context"
	"crypto"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// maxPIN is the longest PIN in bytes.
const maxPIN = 255

// token returns what --keystore pkcs11:… names.
func (f *keystoreFlags) token() (pkcs11.URI, error) {
	isSet := func(flag string) bool { return f.set != nil && f.set(flag) }
	switch {
	case f.organization == "":
		return pkcs11.URI{}, usagef("--org is empty: leave it out for %q", defaultOrganization)
	case isSet("passphrase-file"):
		return pkcs11.URI{}, usagef("--passphrase-file goes with file:DIR: an HSM has a PIN, in a file that --pin-file or the URI's pin-source names")
	case f.leaveOutBadFiles:
		return pkcs11.URI{}, usagef("--leave-out-bad-files goes with file:DIR")
	}
	uri, err := pkcs11.ParseURI(f.uri)
	if err != nil {
		return pkcs11.URI{}, usagef("--keystore: %v", err)
	}
	if of := uri.Organization; f.set != nil && f.configured == nil && of != "" && of != f.organization {
		return pkcs11.URI{}, usagef("the URI gives the token to organization %q, and --org is %q: add --org %s", of, f.organization, of)
	}
	return uri, nil
}

// openToken is openHSM as the command opens any keystore.
func (f *keystoreFlags) openToken(cmd *cobra.Command) (keystore.Keystore, error) {
	store, err := f.openHSM(cmd)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// openHSM logs in to a token. From here on the process leaves no core dump.
func (f *keystoreFlags) openHSM(cmd *cobra.Command) (*pkcs11.Store, error) {
	uri, err := f.token()
	if err != nil {
		return nil, err
	}
	pin, err := f.pin(cmd.Context(), uri)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(pin)
	store, err := pkcs11.Open(cmd.Context(), f.uri, pkcs11.Options{
		PIN: pin, PINFile: f.pinFile, RetryPIN: f.retryPIN, OnDemand: f.log == nil, Logger: f.log,
	})
	if errors.Is(err, context.Canceled) {
		return nil, terminal.ErrInterrupted
	}
	return store, err
}

// pin gets the PIN: from the file that --pin-file names, else, if the URI names
// none, from the person at the terminal. The caller wipes it. It is empty if
// opening the keystore is to read the file, or to say that there is none.
func (f *keystoreFlags) pin(ctx context.Context, uri pkcs11.URI) ([]byte, error) {
	if f.pinFile == "" {
		if err := harden.NoCoreDumps(); err != nil || uri.PINSource != "" {
			return nil, err
		}
		return askPIN(ctx)
	}
	file, err := openSecret(f.pinFile)
	if err != nil {
		return nil, fmt.Errorf("--pin-file: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	pin, err := readSecretFrom(ctx, file, maxPIN)
	if err == nil && len(pin) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("--pin-file %s: %w", f.pinFile, err)
	}
	return pin, nil
}

func askPIN(ctx context.Context) ([]byte, error) {
	tty, err := terminal.Open()
	if errors.Is(err, terminal.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	return tty.Secret(ctx, "PIN of the token")
}

// openHSMProofKey opens the app-proof key on a token. It stays open until the
// process ends.
func openHSMProofKey(ctx context.Context, uri string) (crypto.Signer, error) {
	signer, err := pkcs11.OpenProofSigner(ctx, uri, pkcs11.Options{})
	if err != nil {
		return nil, err
	}
	return signer, nil
}
