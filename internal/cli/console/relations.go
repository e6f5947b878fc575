package console

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Exclusive declares flags that do not go together. The reason, or the cure, completes the
// error; it may be empty.
func Exclusive(cmd *cobra.Command, reason string, flags ...string) {
	cmd.MarkFlagsMutuallyExclusive(flags...)
	explain(cmd, flags, reason)
}

// Needs declares flags that are of use with another one only, of which any is enough.
func Needs(cmd *cobra.Command, flags, others []string) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		for _, name := range flags {
			if cmd.Flags().Changed(name) && !slices.ContainsFunc(others, cmd.Flags().Changed) {
				return Usagef("--%s goes with --%s", name, strings.Join(others, " or --"))
			}
		}
		if before == nil {
			return nil
		}
		return before(cmd, args)
	}
}

const reasons = "reason of --"

// explain keeps the reason of a relation with the command.
func explain(cmd *cobra.Command, flags []string, reason string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[reasons+strings.Join(flags, " ")] = reason
}

// groupError matches the errors of cobra's groups of flags: the group, and the flags of it that were given.
var groupError = regexp.MustCompile(`^if any flags in the group \[([^]]*)\] are set .*; \[([^]]*)\] were all set$`)

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
	parts := groupError.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	set := strings.Fields(parts[2])
	given := slices.DeleteFunc(strings.Fields(parts[1]), func(name string) bool { return !slices.Contains(set, name) })
	text := "--" + strings.Join(given, " does not go with --")
	if reason := cmd.Annotations[reasons+parts[1]]; reason != "" {
		text += ": " + reason
	}
	return Usagef("%s", text)
}
