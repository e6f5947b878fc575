package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
)

// completions returns how the shell completes the values of flags, by the value's name in
// the help: --type TYPE, --config FILE. Other values are free text.
func completions() map[string]cobra.CompletionFunc {
	one := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	return map[string]cobra.CompletionFunc{
		"FILE":    cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"DIR":     completeDirectory,
		"URI":     completeKeystore,
		"TYPE":    one(strings.Split(typeNames(), ", ")...),
		"HAZARD":  one(append(all.HazardNames(), countersign.AllHazards)...),
		"KIND":    one("p256", "secp256k1", "ed25519"),
		"CURVE":   one("CURVE_SECP256K1\tEthereum, Tron, Bitcoin, Tempo", "CURVE_ED25519\tSolana"),
		"FORMAT":  one(importFormats...),
		"NETWORK": one("mainnet", "testnet", "signet", "regtest"),
		"QUERY":   one(queries...),
		"STATUS":  one("waiting", "completed", "rejected", "failed"),
		"OUTPUT":  one(outputJSON, outputText),
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
func completeKeystore(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"file:\ta directory", "pkcs11:\tan HSM"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
