// Package cli is the command countersign: it assembles the commands, each of which is in a
// room of its own. console has what all share, show what people read before they agree, and
// deployment opens what a configuration names.
//
// Machine-readable output goes to standard output as JSON, messages and progress to
// standard error. The exit status is 0 on success, 1 if something was refused or failed,
// and 2 for wrong usage. Secrets are read from a file, standard input or the terminal,
// never from an argument or the environment.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/cli/approvals"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/demo"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/descriptors"
	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/internal/cli/logs"
	"github.com/countersign-dev/countersign/internal/cli/otp"
	"github.com/countersign-dev/countersign/internal/cli/policy"
	"github.com/countersign-dev/countersign/internal/cli/requests"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/cli/sign"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	sharedwallets "github.com/countersign-dev/countersign/internal/cli/wallets"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Main runs the command and returns its exit status. A program that links key
// services passes them.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, services remote.Services) int {
	// Writing to a closed pipe fails with an error instead of killing the process silently.
	signal.Ignore(syscall.SIGPIPE)
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	context.AfterFunc(ctx, release) // a second interrupt kills

	root := newRoot(services)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := false
	onStart(root, func() { started = true })
	command, err := root.ExecuteContextC(deployment.WithServices(ctx, services))
	code := console.ExitCode(err, started)
	if err != nil {
		err = console.Rephrased(command, err)
		fmt.Fprintf(stderr, "countersign: %s\n", console.CleanText(err.Error()))
	}
	if code == console.ExitUsage {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", command.CommandPath())
	}
	return code
}

// helpColumns is the width of help that no terminal shows.
const helpColumns = 100

func newRoot(services remote.Services) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "countersign",
		Short: "Sign transactions with keys kept on this machine",
		Long: console.Paragraphs(`
Countersign reads a transaction strictly, says what signing it would do, refuses what
is malformed or dangerous, and signs exactly the bytes it read.

To see it work, without any setup:

  countersign demo

To use it, create a key, inspect a transaction, and sign it:

  countersign keys generate --keystore file:keys --curve secp256k1
  countersign inspect < transaction.hex
  countersign sign --keystore file:keys --type ethereum --sign-with 0x… \
      < transaction.hex > signed.hex

Machine-readable output goes to standard output as JSON, messages to standard error.
The exit status is 0 on success, 1 if something was refused or failed, and 2 for wrong
usage. Secrets are read from a file, standard input or the terminal, never from an
argument or the environment.`),
		Args:          console.CommandOnly,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return console.PrintVersion(cmd, terminal.Is(cmd.OutOrStdout()), slices.Sorted(maps.Keys(services)))
			}
			return console.ChooseCommand(cmd, args)
		},
	}
	addWrapped()
	root.SetUsageTemplate(strings.NewReplacer(".LocalFlags.FlagUsages", "wrapped . .LocalFlags",
		".InheritedFlags.FlagUsages", "wrapped . .InheritedFlags").Replace(root.UsageTemplate()))
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version, like 'countersign version'")
	addGroup(root, "Sign on this machine:", demo.NewCommand(), keys.NewCommand(), sharedwallets.NewCommand(),
		sign.NewInspectCommand(), sign.NewCommand(), sign.NewScanCommand(), sign.NewHWICommand())
	addGroup(root, "Run a server:", setup.NewInitCommand(), setup.NewSchemaCommand(), serve.NewCommand(),
		serve.NewHealthCommand(), serve.NewServerBackupCommand(), serve.NewServerRestoreCommand(),
		serve.NewStoreCommand(), serve.NewEventsCommand(), setup.NewAPIKeyCommand(), setup.NewPasskeyCommand(),
		policy.NewCommand(), descriptors.NewCommand())
	addGroup(root, "Send requests and votes:", requests.NewRequestCommand(), requests.NewStampCommand(),
		requests.NewSubmitCommand(), approvals.NewActivitiesCommand(),
		approvals.NewApproveCommand(), approvals.NewRejectCommand(), approvals.NewHaltCommand(),
		approvals.NewResumeCommand(), otp.NewCommand())
	addGroup(root, "Verify answers and the log:", logs.NewVerifyCommand(), logs.NewCommand(), logs.NewWitnessCommand())
	root.AddCommand(console.NewVersionCommand(slices.Sorted(maps.Keys(services))))
	addCompletions(root, completions())
	takeNamed(root)
	return root
}

// addWrapped has help explain flags in the columns that there are: for all commands of the process,
// since cobra keeps such functions in a map that it does not guard.
var addWrapped = sync.OnceFunc(func() {
	cobra.AddTemplateFunc("wrapped", func(cmd *cobra.Command, flags *pflag.FlagSet) string {
		return flags.FlagUsagesWrapped(cmp.Or(terminal.Columns(cmd.OutOrStdout()), helpColumns))
	})
})

// takeNamed has commands take the arguments that their Use names, unless they say otherwise.
func takeNamed(command *cobra.Command) {
	if command.Args == nil {
		command.Args = console.NamedArgs
	}
	for _, child := range command.Commands() {
		takeNamed(child)
	}
}

func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		command.GroupID = title
	}
	root.AddCommand(commands...)
}

// onStart arranges for started to be called when a command's own code begins: errors
// before that are wrong usage.
func onStart(command *cobra.Command, started func()) {
	if body := command.RunE; body != nil {
		command.RunE = func(cmd *cobra.Command, args []string) error {
			started()
			return body(cmd, args)
		}
	}
	for _, child := range command.Commands() {
		onStart(child, started)
	}
}
