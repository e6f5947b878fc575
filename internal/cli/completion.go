package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/internal/cli/requests"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

// completions returns how the shell completes the values of flags, by the value's name in
// the help: --type TYPE, --config FILE. Other values are free text.
func completions(backends Backends) map[string]cobra.CompletionFunc {
	one := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	return map[string]cobra.CompletionFunc{
		"FILE":    cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"DIR":     completeDirectory,
		"URI":     completeKeystore(backends),
		"TYPE":    one(strings.Split(show.TypeNames(), ", ")...),
		"HAZARD":  one(append(all.HazardNames(), countersign.AllHazards)...),
		"KIND":    one("p256", "secp256k1", "ed25519"),
		"CURVE":   one("secp256k1\tEthereum, Tron, Bitcoin, Tempo", "ed25519\tSolana"),
		"FORMAT":  one(keys.ImportFormats...),
		"NETWORK": one("mainnet", "testnet", "signet", "regtest"),
		"QUERY":   one(requests.Queries...),
		"STATUS":  one("waiting", "signed", "completed", "rejected", "failed"),
		"OUTPUT":  one(console.OutputJSON, console.OutputText),
		"LEVEL":   one("debug", "info", "warn", "error"),
	}
}

// addCompletions completes the flags and arguments of a command and its subcommands. Of
// the arguments, DIR and FILE can be completed.
func addCompletions(command *cobra.Command, byValue map[string]cobra.CompletionFunc) {
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(flag)
		complete, ok := byValue[value]
		if !ok {
			complete = cobra.NoFileCompletions
		}
		if err := command.RegisterFlagCompletionFunc(flag.Name, complete); err != nil {
			panic("countersign: register completion: " + err.Error())
		}
	})
	command.ValidArgsFunction = cobra.NoFileCompletions
	switch {
	case strings.HasSuffix(command.Use, "DIR"):
		command.ValidArgsFunction = completeDirectory
	case strings.HasSuffix(command.Use, "FILE"):
		command.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	for _, child := range command.Commands() {
		addCompletions(child, byValue)
	}
}

func completeDirectory(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeKeystore completes the scheme only: shells cannot complete a path behind it.
func completeKeystore(backends Backends) cobra.CompletionFunc {
	schemes := []cobra.Completion{"file:\ta directory", "pkcs11:\tan HSM"}
	for _, scheme := range backends.Schemes() {
		schemes = append(schemes, scheme+":")
	}
	return cobra.FixedCompletions(schemes, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
}
