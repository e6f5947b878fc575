package deployment

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// maxPIN is the longest PIN in bytes.
const maxPIN = 255

func (f *KeystoreFlags) checkToken() error {
	_, err := f.token()
	return err
}

// token returns the URI that --keystore pkcs11:… gives.
func (f *KeystoreFlags) token() (pkcs11.URI, error) {
	if f.Set != nil && f.Set("passphrase-file") {
		return pkcs11.URI{},
			console.Usagef("--passphrase-file goes with file:DIR: an HSM has a PIN, in the file that --pin-file or " +
				"the URI's pin-source names")
	}
	uri, err := pkcs11.ParseURI(f.uri)
	if err != nil {
		return pkcs11.URI{}, console.Usagef("%s: %v", f.named(), err)
	}
	if owner := uri.Organization; f.Set != nil && f.Configured == nil && owner != "" && owner != f.Organization {
		return pkcs11.URI{},
			console.Usagef("the URI gives the token to organization %q, and --org is %q: add --org %s", owner, f.Organization, owner)
	}
	return uri, nil
}

// openToken logs in to a token. From here on the process leaves no core dump.
func (f *KeystoreFlags) openToken(cmd *cobra.Command) (keystore.Keystore, error) {
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
		PIN: pin, PINFile: f.pinFile, OnDemand: f.Log == nil, Logger: f.Log,
	})
	if errors.Is(err, context.Canceled) {
		return nil, terminal.ErrInterrupted
	}
	if err != nil {
		return nil, err
	}
	return store, nil
}

// pin reads the PIN from the file that --pin-file names, or asks for it on the terminal
// if the URI has no pin-source. It returns an empty PIN if opening the keystore is to
// read the pin-source, or to report that there is no PIN. The caller wipes it.
func (f *KeystoreFlags) pin(ctx context.Context, uri pkcs11.URI) ([]byte, error) {
	if f.pinFile == "" {
		if err := harden.NoCoreDumps(); err != nil || uri.PINSource != "" {
			return nil, err
		}
		pin, err := console.AskSecret(ctx, "PIN of the token")
		if errors.Is(err, terminal.ErrNone) {
			err = nil
		}
		return pin, err
	}
	return console.ReadFlagSecret(ctx, "--pin-file", f.pinFile, maxPIN, func(pin []byte) error {
		if len(pin) == 0 {
			return errors.New("it is empty")
		}
		return nil
	})
}
