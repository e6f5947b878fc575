package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// importTarget is a keystore that takes secrets in.
type importTarget interface {
	keystore.Keystore
	keystore.Importer
}

// open opens the keystore that the keys go to, and asks before they go where they cannot
// be got out again.
func (c *importCommand) open(cmd *cobra.Command) (importTarget, error) {
	if !can[keystore.Exporter](&c.at) {
		if err := c.confirmToken(cmd); err != nil {
			return nil, err
		}
	}
	c.warnings = cmd.ErrOrStderr()
	var err error
	c.into, err = createFor[importTarget](&c.at, cmd, "this keystore takes no secrets in")
	return c.into, err
}

// errNotImported: the person said no.
var errNotImported = errors.New("not imported: the answer was not yes")

// confirmToken warns that the key existed outside of the HSM and asks for
// confirmation.
func (c *importCommand) confirmToken(cmd *cobra.Command) error {
	fmt.Fprintln(cmd.ErrOrStderr(), "What is imported existed outside of the HSM (CKA_LOCAL is false), which cannot know who has a copy: 'countersign keys generate' makes a key that was never outside.")
	return confirmed(c.yes, func(tty *terminal.Terminal) error {
		yes, err := tty.Confirm(cmd.Context(), "Import into the HSM? Anyone who has a copy can still take what it holds.")
		if err == nil && !yes {
			err = errNotImported
		}
		return err
	})
}

// addBatch adds keys, and warns of secrets that can be guessed.
func (c *importCommand) addBatch(ctx context.Context, to importTarget, fresh []keystore.NewKey) ([]keystore.KeyInfo, []error) {
	infos, errs := to.AddBatch(ctx, c.at.organization, fresh)
	for i := range fresh {
		if errs[i] == nil && isGuessable(fresh[i].Secret) {
			fmt.Fprintf(c.warnings, "Warning: the secret of key %s can be guessed: it is a small number or a pattern, and what is sent to its addresses is lost to those who look for such keys.\n", infos[i].ID)
		}
	}
	return infos, errs
}

// leastVariety is how many different bytes a random secret of 32 bytes has at least: with
// eight or fewer the odds are below 2⁻¹¹⁰.
const leastVariety = 9

// isGuessable reports whether a secret is a small number, one byte over and over, or a
// series such as 00 01 02 …: such keys are watched, and emptied at once.
func isGuessable(secret []byte) bool {
	seen := map[byte]bool{}
	steps := map[byte]bool{}
	for i, b := range secret {
		seen[b] = true
		if i > 0 {
			steps[b-secret[i-1]] = true
		}
	}
	return len(seen) < leastVariety || len(steps) < leastVariety
}
