package console

import (
	"errors"

	"github.com/countersign-dev/countersign/internal/cli/terminal"
)

// Confirmed asks on the controlling terminal, unless --yes answered in advance. Without
// a terminal and without --yes it refuses. Every question of this command goes through
// it.
func Confirmed(yes bool, ask func(tty *terminal.Terminal) error) error {
	if yes {
		return nil
	}
	tty, err := terminal.Open()
	if errors.Is(err, terminal.ErrNone) {
		return Usagef("this asks for confirmation, and there is no terminal to ask on: pass --yes to confirm in advance")
	}
	if err != nil {
		return err
	}
	defer func() { _ = tty.Close() }()
	return ask(tty)
}
