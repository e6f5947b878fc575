// Command countersign signs transactions with keys that it keeps encrypted, on
// this machine and without a network.
//
// Machine output goes to standard output as JSON, talk and progress to standard
// error. The exit status is 0 on success, 1 if something was refused or failed,
// and 2 if the command was called wrongly. Secrets come from a file, standard
// input or the terminal: never from an argument or the environment.
//
// Each command is in a file of its own name.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the command and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// Without this, writing to a closed pipe would kill the process silently
	// instead of failing.
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
		fmt.Fprintf(stderr, "countersign: %s\n", shown(err))
	}
	if code == exitUsage {
		fmt.Fprintf(stderr, "Run '%s --help' for how to use it.\n", command.CommandPath())
	}
	return code
}

func newRoot() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "countersign",
		Short: "Sign transactions with keys kept on this machine",
		Long: paragraphs(`
Countersign reads a transaction strictly, shows what it does, refuses what is
malformed or dangerous, and signs the very bytes that it read.

To see it work, with nothing set up:

  countersign demo

To use it, make a key, look at a transaction, sign it:

  countersign keys generate --keystore file:keys --curve CURVE_SECP256K1
  countersign inspect --type TRANSACTION_TYPE_ETHEREUM < transaction.hex
  countersign sign --keystore file:keys --type TRANSACTION_TYPE_ETHEREUM \
      --sign-with 0x… < transaction.hex > signed.hex

Machine output goes to standard output as JSON, talk to standard error. The exit
status is 0 on success, 1 if something was refused or failed, 2 if the command
was called wrongly. Secrets come from a file, standard input or the terminal,
never from an argument or the environment.`),
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
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version, as 'countersign version' does")
	root.AddCommand(
		newDemoCommand(),
		newInitCommand(),
		newServeCommand(),
		newHealthCommand(),
		newServerBackupCommand(),
		newServerRestoreCommand(),
		newAPIKeyCommand(),
		newPasskeyCommand(),
		newStampCommand(),
		newRequestCommand(),
		newScanCommand(),
		newSubmitCommand(),
		newActivitiesCommand(),
		newApproveCommand(),
		newRejectCommand(),
		newOTPCommand(),
		newKeysCommand(),
		newSignCommand(),
		newInspectCommand(),
		newVerifyCommand(),
		newPolicyCommand(),
		newDescriptorsCommand(),
		newLogCommand(),
		newWitnessCommand(),
		newVersionCommand(),
	)
	addCompletions(root, completions())
	return root
}

// onStart calls back when a command's own code begins: what fails before is
// the fault of the call.
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

// commandOnly refuses what is no command below this one, with the one that may have been
// meant.
func commandOnly(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		return fmt.Errorf("%w: did you mean %s?", err, strings.Join(meant, " or "))
	}
	return err
}

// chooseCommand is the body of a command that only has commands below it.
func chooseCommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return usagef("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// paragraphs is help text without the line break that begins it in the source.
func paragraphs(text string) string { return strings.TrimPrefix(text, "\n") }
