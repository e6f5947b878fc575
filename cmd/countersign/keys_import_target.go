package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// importTarget is a keystore that takes secrets in.
type importTarget interface {
	keystore.Keystore

	// add adds keys: infos[i] is safe if errs[i] is nil. The error of a key that
	// is there already is keystore.ErrKeyExists, together with what there is.
	add(ctx context.Context, organizationID string, keys []file.Key) (infos []keystore.KeyInfo, errs []error)
}

// directoryTarget is a file keystore.
type directoryTarget struct{ *file.Store }

func (t directoryTarget) add(_ context.Context, organizationID string, keys []file.Key) ([]keystore.KeyInfo, []error) {
	return t.AddBatch(organizationID, keys)
}

// tokenTarget is an HSM, which takes one key after the other.
type tokenTarget struct{ *pkcs11.Store }

func (t tokenTarget) add(ctx context.Context, organizationID string, keys []file.Key) (infos []keystore.KeyInfo, errs []error) {
	for _, key := range keys {
		info, err := t.Import(ctx, organizationID, pkcs11.Key{ID: key.ID, Name: key.Name, Curve: key.Curve, Secret: key.Secret})
		infos, errs = append(infos, info), append(errs, err)
	}
	return infos, errs
}

// open opens the keystore that the keys go to.
func (c *importCommand) open(cmd *cobra.Command) (importTarget, error) {
	if !c.at.isHSM() {
		keys, err := c.at.openOrCreate(cmd)
		if err != nil {
			return nil, err
		}
		return directoryTarget{keys}, nil
	}
	if err := c.confirmToken(cmd); err != nil {
		return nil, err
	}
	keys, err := c.at.openHSM(cmd)
	if err != nil {
		return nil, err
	}
	return tokenTarget{keys}, nil
}

// errNotImported: the person said no.
var errNotImported = errors.New("not imported: the answer was not yes")

// confirmToken warns that the key existed outside of the HSM and asks for
// confirmation.
func (c *importCommand) confirmToken(cmd *cobra.Command) error {
	fmt.Fprintln(cmd.ErrOrStderr(), "What is imported existed outside of the HSM (CKA_LOCAL is false), which cannot know who has a copy: 'countersign keys generate' makes a key that was never outside.")
	return confirmed(c.yes, func(tty *terminal.Terminal) error {
		yes, err := tty.Confirm(cmd.Context(), "Import into the HSM? Whoever has a copy can still take what it holds.")
		if err == nil && !yes {
			err = errNotImported
		}
		return err
	})
}
