package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// confirmShown shows a transaction or a message on standard error, and asks a question
// about it on the terminal. If the answer is no, it returns an error that begins with
// outcome, such as "not signed".
func confirmShown(cmd *cobra.Command, yes bool, shown view, question, outcome string) error {
	if err := shown.render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	return confirmed(yes, func(tty *terminal.Terminal) error {
		// If standard error goes elsewhere, show it on the terminal too: the person
		// who is asked must have seen it.
		if !terminal.Is(cmd.ErrOrStderr()) {
			if err := shown.render(tty); err != nil {
				return err
			}
		}
		agreed, err := tty.Confirm(cmd.Context(), question)
		if err == nil && !agreed {
			err = errors.New(outcome + ": the answer was not yes")
		}
		return err
	})
}
