package main

import (
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
		yes, err := tty.Confirm(cmd.Context(), "Import into the HSM? Whoever has a copy can still take what it holds.")
		if err == nil && !yes {
			err = errNotImported
		}
		return err
	})
}
