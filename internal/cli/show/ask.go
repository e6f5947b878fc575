package show

import (
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
)

// ConfirmShown shows a transaction or a message on standard error, and asks a question
// about it on the terminal. If the answer is no, it returns an error that begins with
// outcome, such as "not signed".
func ConfirmShown(cmd *cobra.Command, yes bool, shown View, question, outcome string) error {
	if err := shown.Render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	return console.Confirmed(yes, func(tty *terminal.Terminal) error {
		// If standard error goes elsewhere, show it on the terminal too: the person
		// who is asked must have seen it.
		if !terminal.Is(cmd.ErrOrStderr()) {
			if err := shown.Render(tty); err != nil {
				return err
			}
		}
		return console.Ask(cmd.Context(), tty, question, outcome)
	})
}
