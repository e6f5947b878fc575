package console

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/internal/cli/terminal"
)

// Confirmed asks on the controlling terminal, unless --yes answered in advance. Without
// a terminal and without --yes it refuses. Every question of this command goes through
// it or through ConfirmedWith.
func Confirmed(yes bool, ask func(tty *terminal.Terminal) error) error {
	return ConfirmedWith(yes, "pass --yes to confirm in advance", ask)
}

// ConfirmedWith is Confirmed for questions that --yes does not answer. instead says what does.
func ConfirmedWith(answered bool, instead string, ask func(tty *terminal.Terminal) error) error {
	if answered {
		return nil
	}
	tty, err := terminal.Open()
	if errors.Is(err, terminal.ErrNone) {
		return Usagef("this asks for confirmation, and there is no terminal to ask on: %s", instead)
	}
	if err != nil {
		return err
	}
	defer func() { _ = tty.Close() }()
	return ask(tty)
}

// Ask asks a question. If the answer is no, the error says what was not done, such as "not signed".
func Ask(ctx context.Context, tty *terminal.Terminal, question, notDone string) error {
	agreed, err := tty.Confirm(ctx, question)
	if err == nil && !agreed {
		err = errors.New(notDone + ": the answer was not yes")
	}
	return err
}
