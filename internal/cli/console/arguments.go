// Package console is what the commands share at the terminal: arguments, exit codes,
// secrets, progress, listings and QR codes.
package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// CommandOnly refuses arguments of a command that only has subcommands, and suggests the
// subcommand that may have been meant.
func CommandOnly(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		return fmt.Errorf("%w: did you mean %s?", err, strings.Join(names, " or "))
	}
	return err
}

// NamedArgs refuses arguments other than those that Use names, of which [NAME] is
// optional.
func NamedArgs(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	switch {
	case len(args) > len(names):
		return Usagef("unexpected argument %q: write '%s'", args[len(names)], cmd.UseLine())
	case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
		return Usagef("%s is missing: write '%s'", names[len(args)], cmd.UseLine())
	}
	return nil
}

// StdinArgs refuses all arguments of a command that reads standard input. It does not
// repeat them: one may be a secret.
func StdinArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef("unexpected argument: the %s comes from standard input, as in '< FILE'", what)
		}
		return nil
	}
}

// Group returns a command that only has subcommands. Its help may begin with a line break.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Long: Paragraphs(long), Args: CommandOnly, RunE: ChooseCommand}
	group.AddCommand(commands...)
	return group
}

// ChooseCommand runs a command that only has subcommands.
func ChooseCommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return Usagef("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// Paragraphs returns help text without the line break that begins it in the source.
func Paragraphs(text string) string { return strings.TrimPrefix(text, "\n") }

// ParseDays parses a Go duration, or a number of days such as 90d.
func ParseDays(text string) (time.Duration, error) {
	const longest = 100 * 365 // days
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= longest {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if after, err := time.ParseDuration(text); err == nil && after > 0 {
		return after, nil
	}
	return 0, Usagef("--expires %q: expected a time such as 90d or 12h", text)
}

// ParseSince parses a time, or how long ago it was. No text is the zero time.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := ParseDays(text)
	if err != nil {
		return time.Time{}, Usagef("--since %q: use a time such as 24h, 7d or 2026-11-23T09:00:00Z", text)
	}
	return now.Add(-ago), nil
}
