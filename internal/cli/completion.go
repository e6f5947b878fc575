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
func completions() map[string]cobra.CompletionFunc {
	fixed := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	keystores := []cobra.Completion{"file:\ta directory", "pkcs11:\tan HSM"} // shells complete no path behind a scheme
	return map[string]cobra.CompletionFunc{
		"FILE":    cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"DIR":     completeDirectory,
		"URI":     cobra.FixedCompletions(keystores, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
		"TYPE":    fixed(show.ShortTypes()...),
		"HAZARD":  fixed(append(all.HazardNames(), countersign.AllHazards)...),
		"KIND":    fixed("p256", "secp256k1", "ed25519"),
		"CURVE":   fixed("secp256k1\tEthereum, Tron, Bitcoin, Tempo", "ed25519\tSolana"),
		"FORMAT":  fixed(keys.ImportFormats...),
		"NETWORK": fixed("mainnet", "testnet", "signet", "regtest"),
		"QUERY":   fixed(requests.Queries...),
		"STATUS":  fixed("waiting", "signed", "completed", "rejected", "failed"),
		"OUTPUT":  fixed(console.OutputJSON, console.OutputText),
		"LEVEL":   fixed("debug", "info", "warn", "error"),
	}
}

// addCompletions completes the flags and arguments of a command and its subcommands. Of
// the arguments, DIR and FILE can be completed.
func addCompletions(command *cobra.Command, byValue map[string]cobra.CompletionFunc) {
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
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
