// Command countersign signs transactions with keys that it keeps encrypted on this
// machine.
//
// Machine-readable output goes to standard output as JSON, messages and progress to
// standard error. The exit status is 0 on success, 1 if something was refused or failed,
// and 2 for wrong usage. Secrets are read from a file, standard input or the terminal,
// never from an argument or the environment.
//
// Each command is in a file of its own name.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// Writing to a closed pipe fails with an error instead of killing the process silently.
	signal.Ignore(syscall.SIGPIPE)
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	context.AfterFunc(ctx, release) // a second interrupt kills

	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := false
	onStart(root, func() { started = true })
	command, err := root.ExecuteContextC(ctx)
	code := exitCode(err, started)
	if err != nil {
		fmt.Fprintf(stderr, "countersign: %s\n", cleanText(err.Error()))
	}
	if code == exitUsage {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", command.CommandPath())
	}
	return code
}

func newRoot() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "countersign",
		Short: "Sign transactions with keys kept on this machine",
		Long: paragraphs(`
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
		Args:          commandOnly,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return printVersion(cmd, terminal.Is(cmd.OutOrStdout()))
			}
			return chooseCommand(cmd, args)
		},
	}
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version, like 'countersign version'")
	addGroup(root, "Sign on this machine:", newDemoCommand(), newKeysCommand(), newInspectCommand(), newSignCommand(), newScanCommand())
	addGroup(root, "Run a server:", newInitCommand(), newServeCommand(), newHealthCommand(), newServerBackupCommand(), newServerRestoreCommand(),
		newAPIKeyCommand(), newPasskeyCommand(), newPolicyCommand(), newDescriptorsCommand())
	addGroup(root, "Send requests and votes:", newRequestCommand(), newStampCommand(), newSubmitCommand(), newActivitiesCommand(),
		newApproveCommand(), newRejectCommand(), newOTPCommand())
	addGroup(root, "Verify answers and the log:", newVerifyCommand(), newLogCommand(), newWitnessCommand())
	root.AddCommand(newVersionCommand())
	addCompletions(root, completions())
	return root
}

// addGroup adds commands under a title of the help.
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
