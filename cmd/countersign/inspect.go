package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
)

// inspectCommand holds the flags of one call of inspect.
type inspectCommand struct {
	kind       string
	message    string // kind of message to inspect instead of a transaction
	configFile string
	about      messageFlags
	network    networkFlag
	output     outputFlag
}

func newInspectCommand() *cobra.Command {
	var c inspectCommand
	command := &cobra.Command{
		Use:   "inspect [FILE]",
		Short: "Show what a transaction does; no key is needed",
		Long: paragraphs(`
Read a transaction from FILE or standard input, in hex (a PSBT also in base64 or
binary, a Solana transaction or its message also in base64 or base58), as strictly as
sign does, and show what it does and its hazards, except those
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
		Args: namedArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	flags := command.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	flags.StringVar(&c.message, "message", "", "read a message of this `KIND` instead, as sign does: "+messageKinds())
	c.about.register(flags)
	c.network.register(command)
	flags.StringVar(&c.configFile, "config", "", "`FILE` with descriptors, tokens and labels: countersign.yaml")
	c.output.registerReading(command)
	return command
}

func (c *inspectCommand) run(cmd *cobra.Command, file string) error {
	switch {
	case c.message != "" && file != "":
		return usagef("--message reads standard input: 'countersign inspect --message %s < %s'", c.message, file)
	case c.message != "" && c.kind != "":
		return usagef("--message does not go with --type: a message has no transaction type")
	}
	if err := c.about.check(c.message); err != nil {
		return err
	}
	asText, err := c.output.isText(cmd)
	if err != nil {
		return err
	}
	limits, err := c.network.limits()
	if err != nil {
		return err
	}
	known, err := knowledgeOf(c.configFile)
	if err != nil {
		return err
	}
	var seen inspected
	var about inspectedAs
	if c.message != "" {
		seen.Inspection, err = c.inspectMessage(cmd, limits)
	} else {
		seen, about, err = c.inspectTransaction(cmd, file, limits)
	}
	if err != nil {
		return err
	}
	inspection := seen.ReadWith(known.reader())
	if asText {
		return view{summary: inspection.Summary, effects: inspection.Effects, signer: networkFields(&inspection.Summary, limits),
			reading: inspection.Readings, hazards: inspection.Hazards, names: known.names(), message: c.message != ""}.render(cmd.OutOrStdout())
	}
	return printInspection(cmd, inspection, about)
}

func (c *inspectCommand) inspectTransaction(cmd *cobra.Command, file string, limits all.Limits) (seen inspected, about inspectedAs, err error) {
	read, err := readTransactionAs(cmd, c.kind, file, limits)
	if err != nil {
		return seen, about, err
	}
	if seen, err = inspectEither(read.kind, read.text, limits); err != nil {
		return seen, about, err
	}
	if seen.signed {
		fmt.Fprintln(cmd.ErrOrStderr(), seen.signedBy())
	}
	about = inspectedAs{Signed: seen.signed, Signers: seen.signers}
	if read.guessed {
		about.Type = read.kind
	}
	return seen, about, nil
}

func (c *inspectCommand) inspectMessage(cmd *cobra.Command, limits all.Limits) (inspection all.Inspection, err error) {
	if c.message == bip322 {
		packet, err := c.about.read(cmd)
		if err != nil {
			return inspection, err
		}
		return all.Inspect(activity.TransactionTypeBitcoin, packet, limits)
	}
	intent, err := readMessageOf(cmd, c.message, c.about)
	if err != nil {
		return inspection, err
	}
	return all.InspectIntent(intent, limits)
}

// inspectedAs is what inspect found out about a transaction besides its effects.
type inspectedAs struct {
	Type    activity.TransactionType `json:"type,omitempty"`
	Signed  bool                     `json:"signed,omitempty"`
	Signers []string                 `json:"signers,omitempty"`
}

// printInspection prints an inspection as JSON.
func printInspection(cmd *cobra.Command, inspection all.Inspection, about inspectedAs) error {
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
