package sign

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

type inspectCommand struct {
	kind       string
	message    show.MessageFlags // to inspect instead of a transaction
	configFile string
	network    show.NetworkFlag
	output     console.OutputFlag
}

// NewInspectCommand returns the command inspect.
func NewInspectCommand() *cobra.Command {
	var c inspectCommand
	command := &cobra.Command{
		Use:   "inspect [FILE]",
		Short: "Show what a transaction does; no key is needed",
		Long: console.Paragraphs(`
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
		Example: console.Paragraphs(`
  countersign inspect --type ethereum < unsigned.hex
  countersign inspect signed.hex`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	flags := command.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+show.TypeNames())
	c.message.Register(command, "read a message of this `KIND` instead, as sign does")
	c.network.Register(command)
	flags.StringVar(&c.configFile, "config", "", "`FILE` with descriptors, tokens and labels: countersign.yaml")
	c.output.RegisterReading(command)
	return command
}

func (c *inspectCommand) run(cmd *cobra.Command, file string) error {
	if c.message.Kind != "" && file != "" {
		return console.Usagef("--message reads standard input: 'countersign inspect --message %s < %s'", c.message.Kind, file)
	}
	limits := c.network.Limits()
	knowledge, err := deployment.KnowledgeOf(c.configFile)
	if err != nil {
		return err
	}
	var seen show.Inspected
	var about inspectedAs
	if c.message.Kind != "" {
		var intent activity.Intent
		if intent, err = c.message.Read(cmd, ""); err == nil {
			seen.Inspection, err = all.InspectIntent(intent, limits)
		}
	} else {
		seen, about, err = c.inspectTransaction(cmd, file, limits)
	}
	if err != nil {
		return err
	}
	inspection := seen.ReadWith(knowledge.Reader())
	if _, template := show.UnknownIn(inspection); template != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "to know such texts, pin a file with their template (docs/messages.md):", template)
	}
	if c.output.IsText() {
		return show.View{Summary: inspection.Summary, Effects: inspection.Effects, Signer: show.NetworkFields(&inspection.Summary, limits),
			Reading: inspection.Readings, Hazards: inspection.Hazards, Names: knowledge.Names(),
			Message: c.message.Kind != ""}.Render(cmd.OutOrStdout())
	}
	return printInspection(cmd, inspection, about)
}

func (c *inspectCommand) inspectTransaction(cmd *cobra.Command, file string, limits all.Limits) (seen show.Inspected,
	about inspectedAs, err error) {
	read, err := show.ReadTransactionAs(cmd, c.kind, file, limits)
	if err != nil {
		return seen, about, err
	}
	if seen, err = show.InspectEither(read.Kind, read.Text, limits); err != nil {
		return seen, about, err
	}
	if seen.Signed {
		fmt.Fprintln(cmd.ErrOrStderr(), seen.SignedBy())
	}
	about = inspectedAs{Signed: seen.Signed, Signers: seen.Signers}
	if read.Guessed {
		about.Type = read.Kind
	}
	return seen, about, nil
}

// inspectedAs is what inspect found out about a transaction besides its effects.
type inspectedAs struct {
	Type    activity.TransactionType `json:"type,omitempty"`
	Signed  bool                     `json:"signed,omitempty"`
	Signers []string                 `json:"signers,omitempty"`
}

func printInspection(cmd *cobra.Command, inspection all.Inspection, about inspectedAs) error {
	digest := inspection.Summary.Digest()
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		Summary        chains.Summary  `json:"summary"`
		Effects        []chains.Effect `json:"effects"`
		Hazards        []chains.Hazard `json:"hazards"`
		SummaryDigest  string          `json:"summaryDigest"`
		Readings       chains.Readings `json:"readings,omitempty"`
		ReadingsDigest string          `json:"readingsDigest,omitempty"`
		inspectedAs
	}{inspection.Summary, console.OrEmpty(inspection.Effects), console.OrEmpty(inspection.Hazards), hex.EncodeToString(digest[:]),
		inspection.Readings, inspection.Readings.DigestText(), about})
}
