package main

import (
	"encoding/hex"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

func newInspectCommand() *cobra.Command {
	var kind, message string
	var asJSON bool
	var configFile string
	var network networkFlag
	var ofBitcoin bitcoinMessageFlags
	command := &cobra.Command{
		Use:   "inspect",
		Short: "Show what a transaction does, without any key",
		Long: paragraphs(`
Read a transaction from standard input in hex (a PSBT also in base64 or binary), as
strictly as sign does, and show
what it does and its hazards (those that do not depend on who signs). Hazards are
no failure here: the exit status is 0 if the transaction can be read.

--json prints one line: {"summary":{…},"effects":[…],"hazards":[{"name","detail","effect"}],
"summaryDigest":"…"}. A hazard's "effect" is the index of the effect that carries it.
The digest is the SHA-256 of the bytes of "summary" as they are printed.

--config names a configuration whose descriptors read the calls, and whose tokens
and labels name what is shown; "readings" and "readingsDigest" are added then.`),
		Example: "  countersign inspect --type TRANSACTION_TYPE_ETHEREUM < transaction.hex",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ofBitcoin.check(message); err != nil {
				return err
			}
			if message != "" {
				return inspectMessage(cmd, message, kind, &ofBitcoin, network, asJSON, configFile)
			}
			return inspect(cmd, kind, network, asJSON, configFile)
		},
	}
	command.Flags().StringVar(&kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	command.Flags().StringVar(&message, "message", "", "read a message of `KIND`, as sign does: "+messageKinds())
	ofBitcoin.register(command.Flags())
	network.register(command)
	command.Flags().StringVar(&configFile, "config", "", "`FILE` with descriptors, tokens and labels: countersign.yaml")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func inspect(cmd *cobra.Command, kind string, network networkFlag, asJSON bool, configFile string) error {
	ofType, err := parseType(kind)
	if err != nil {
		return err
	}
	limits, err := network.limits()
	if err != nil {
		return err
	}
	unsigned, _, err := readTransactionOf(cmd, ofType)
	if err != nil {
		return err
	}
	known, err := knowledgeOf(configFile)
	if err != nil {
		return err
	}
	inspection, err := countersign.Inspect(ofType, unsigned, limits)
	if err != nil {
		return err
	}
	return printInspection(cmd, &inspection, known, false, asJSON)
}

// printInspection prints what was read, for a person or as JSON.
func printInspection(cmd *cobra.Command, inspection *countersign.Inspection, known *knowledge, message, asJSON bool) error {
	*inspection = inspection.ReadWith(known.reader())
	if !asJSON {
		return view{summary: inspection.Summary, reading: inspection.Readings, hazards: inspection.Hazards,
			names: known.names(), message: message}.render(cmd.OutOrStdout())
	}
	digest := inspection.Summary.Digest()
	return printJSON(cmd.OutOrStdout(), struct {
		Summary        chains.Summary  `json:"summary"`
		Effects        []chains.Effect `json:"effects"`
		Hazards        []chains.Hazard `json:"hazards"`
		SummaryDigest  string          `json:"summaryDigest"`
		Readings       chains.Readings `json:"readings,omitempty"`
		ReadingsDigest string          `json:"readingsDigest,omitempty"`
	}{inspection.Summary, orEmpty(inspection.Summary.Effects), orEmpty(inspection.Hazards), hex.EncodeToString(digest[:]),
		inspection.Readings, inspection.Readings.DigestText()})
}

// orEmpty returns the list, so that no list is written as [] and not as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
