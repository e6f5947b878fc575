package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// errDeclined: the person said no.
var errDeclined = errors.New("not signed: the answer was not yes")

// confirm shows the transaction and asks for confirmation.
func (c *signCommand) confirm(cmd *cobra.Command, shown view) error {
	if err := shown.render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	return confirmed(c.yes, func(tty *terminal.Terminal) error {
		return ask(cmd.Context(), tty, cmd.ErrOrStderr(), shown)
	})
}

// confirmed asks on the controlling terminal, unless the answer was given with
// --yes. Without a terminal and without --yes it refuses: the rule of every
// question that this command asks.
func confirmed(yes bool, ask func(tty *terminal.Terminal) error) error {
	if yes {
		return nil
	}
	tty, err := terminal.Open()
	if errors.Is(err, terminal.ErrNone) {
		return usagef("this asks for confirmation, and there is no terminal to ask on: pass --yes to confirm in advance")
	}
	if err != nil {
		return err
	}
	defer func() { _ = tty.Close() }()
	return ask(tty)
}

// ask asks on the terminal. If standard error goes elsewhere, the transaction
// is shown there too: the person asked must have seen it.
func ask(ctx context.Context, tty *terminal.Terminal, stderr io.Writer, shown view) error {
	return askAbout(ctx, tty, stderr, shown, "Sign this "+shown.what()+"?")
}

// askAbout asks a question about what is shown.
func askAbout(ctx context.Context, tty *terminal.Terminal, stderr io.Writer, shown view, question string) error {
	if !terminal.Is(stderr) {
		if err := shown.render(tty); err != nil {
			return err
		}
	}
	yes, err := tty.Confirm(ctx, question)
	if err != nil {
		return err
	}
	if !yes {
		return errDeclined
	}
	return nil
}
