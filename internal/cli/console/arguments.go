// Package console is what the commands share at the terminal: arguments, exit codes,
// secrets, progress, listings and QR codes.
package console

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/plaintext"
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

// NamedArgs refuses arguments other than those that Use names, of which [NAME] is optional.
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

// Check has a command check its flags before it runs, in the order of the calls.
func Check(cmd *cobra.Command, check func() error) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		return check()
	}
}

// Require declares a flag that must have a value. The reason says what to give.
func Require(cmd *cobra.Command, flag, reason string) {
	Check(cmd, func() error {
		if cmd.Flags().Lookup(flag).Value.String() == "" {
			return Usagef("--%s is missing: %s", flag, reason)
		}
		return nil
	})
}

// Exclusive declares flags that do not go together. The reason, or the cure, completes the
// error; it may be empty.
func Exclusive(cmd *cobra.Command, reason string, flags ...string) {
	Check(cmd, func() error {
		given := given(cmd, flags)
		if len(given) < 2 {
			return nil
		}
		text := "--" + strings.Join(given, " does not go with --")
		if reason != "" {
			text += ": " + reason
		}
		return Usagef("%s", text)
	})
}

// Needs declares flags that are of use with another one only, of which any is enough.
func Needs(cmd *cobra.Command, flags, others []string) {
	Check(cmd, func() error {
		if without := given(cmd, flags); len(without) > 0 && len(given(cmd, others)) == 0 {
			return Usagef("--%s goes with --%s", without[0], strings.Join(others, " or --"))
		}
		return nil
	})
}

func given(cmd *cobra.Command, flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !cmd.Flags().Changed(name) })
}

// maxShort is the length of a short name of a flag, without its dashes.
const maxShort = 4

// Rephrased returns an error of flags in the words of the other errors: the flags first, then the
// reason or the cure.
func Rephrased(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if len(name) > maxShort || strings.HasPrefix(flag.Name, name) { // too many are close to a short one
				names = append(names, flag.Name)
			}
		})
		return Usagef("%s", strings.Replace(plaintext.Meant(err.Error(), name, names, ""), "mean ", "mean --", 1))
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Value.Type() == "duration" {
		return Usagef("--%s %s: expected a duration with its unit, such as 5s, 10m or 24h",
			invalid.GetFlag().Name, invalid.GetValue())
	}
	of := cmd.Flags().Lookup("org")
	if err == nil || of == nil || of.Changed {
		return err
	}
	unnamed := fmt.Sprintf("organization %q has", of.DefValue) // which was not typed, and need not be known
	if before, after, found := strings.Cut(err.Error(), unnamed); found {
		return &reworded{err, before + "the keystore has" + after}
	}
	return err
}

// reworded is an error in other words.
type reworded struct {
	error
	text string
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.error }
