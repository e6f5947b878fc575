package main

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

func newInspectCommand() *cobra.Command {
	var kind, message string
	var output outputFlag
	var configFile string
	var network networkFlag
	var ofBitcoin bitcoinMessageFlags
	command := &cobra.Command{
		Use:   "inspect [FILE]",
		Short: "Show what a transaction does; no key is needed",
		Long: paragraphs(`
Read a transaction from FILE or standard input, in hex (a PSBT also in base64 or
binary), as strictly as sign does, and show what it does and its hazards, except those
that depend on the signer. Hazards are not failures here: the exit status is 0 if the
transaction can be read. Without --type, the chain is recognized by the bytes, and
reported.

A signed transaction is shown together with its signers: the address that the
signature recovers to, or those whose signatures verify. For Bitcoin pass a PSBT: a
network transaction does not contain the values of its inputs.

--json prints one line:

  {"summary":{…},"effects":[…],"hazards":[{"name","detail","effect"}],"summaryDigest":"…"}

with "signed" and "signers" added for a signed transaction, and "type" if --type was
not given. A hazard's "effect" is the index of the effect that carries it. The digest
is the SHA-256 of the bytes of "summary" as printed.

--config names a configuration whose descriptors read the calls, and whose tokens and
labels name what is shown; "readings" and "readingsDigest" are then added.`),
		Example: paragraphs(`
  countersign inspect --type ethereum < unsigned.hex
  countersign inspect signed.hex`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) > 0 {
				file = args[0]
			}
			if message != "" && file != "" {
				return usagef("--message reads standard input: 'countersign inspect --message %s < %s'", message, file)
			}
			if err := ofBitcoin.check(message); err != nil {
				return err
			}
			asText, err := output.isText(cmd)
			if err != nil {
				return err
			}
			if message != "" {
				return inspectMessage(cmd, message, kind, &ofBitcoin, network, !asText, configFile)
			}
			return inspect(cmd, kind, file, network, !asText, configFile)
		},
	}
	command.Flags().StringVar(&kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	command.Flags().StringVar(&message, "message", "", "read a message of this `KIND` instead, as sign does: "+messageKinds())
	ofBitcoin.register(command.Flags())
	network.register(command)
	command.Flags().StringVar(&configFile, "config", "", "`FILE` with descriptors, tokens and labels: countersign.yaml")
	output.registerReading(command)
	return command
}

func inspect(cmd *cobra.Command, kind, file string, network networkFlag, asJSON bool, configFile string) error {
	limits, err := network.limits()
	if err != nil {
		return err
	}
	read, err := readTransactionAs(cmd, kind, file, limits)
	if err != nil {
		return err
	}
	known, err := knowledgeOf(configFile)
	if err != nil {
		return err
	}
	seen, err := inspectEither(read.kind, read.text, limits)
	if err != nil {
		return err
	}
	if seen.signed {
		fmt.Fprintln(cmd.ErrOrStderr(), seen.signedBy())
	}
	about := inspectedAs{Signed: seen.signed, Signers: seen.signers}
	if read.guessed {
		about.Type = read.kind
	}
	return printInspection(cmd, &seen.Inspection, known, false, asJSON, about)
}

// inspectedAs is what inspect found out about a transaction besides its effects.
type inspectedAs struct {
	Type    activity.TransactionType `json:"type,omitempty"`
	Signed  bool                     `json:"signed,omitempty"`
	Signers []string                 `json:"signers,omitempty"`
}

// printInspection prints an inspection as text or as JSON.
func printInspection(cmd *cobra.Command, inspection *countersign.Inspection, known *knowledge, message, asJSON bool, about inspectedAs) error {
	*inspection = inspection.ReadWith(known.reader())
	if !asJSON {
		return view{summary: inspection.Summary, effects: inspection.Effects, reading: inspection.Readings, hazards: inspection.Hazards,
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
		inspectedAs
	}{inspection.Summary, orEmpty(inspection.Effects), orEmpty(inspection.Hazards), hex.EncodeToString(digest[:]),
		inspection.Readings, inspection.Readings.DigestText(), about})
}

// orEmpty returns list, or an empty list if it is nil: JSON has [] for it rather than
// null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
