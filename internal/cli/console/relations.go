package console

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

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
	return err
}
