package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/ur"
)

// requestCommand is one call of request.
type requestCommand struct {
	kind         string
	signWith     string
	organization string
	proofs       bool
	key          apiKeyFlag
	body         string
	qr           qrFlags
}

func newRequestCommand() *cobra.Command {
	var c requestCommand
	command := &cobra.Command{
		Use:   "request",
		Short: "Write the request for a signature",
		Long: paragraphs(`
Write the request body that asks for a signature on the transaction that comes
from standard input, in hex (a PSBT also in base64 or binary). With --api-key the
request is stamped, and printed as a request file for 'countersign sign --request'
on a machine without a network:

  {"body":"<exact text>","stamp":{"header":"X-Stamp","value":"…"}}

--body FILE keeps the body, against which 'countersign verify' checks the answer.
--qr draws the request as QR codes instead of printing it.`),
		Example: paragraphs(`
  countersign request --type ethereum --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 \
      --api-key api-key.json --body body.json < unsigned.hex > request.json
  countersign request --type ethereum --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 \
      --api-key api-key.json --body body.json --qr < unsigned.hex`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := command.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+typeNames())
	flags.StringVar(&c.signWith, "sign-with", "", "`ADDRESS` or id of the key")
	flags.StringVar(&c.organization, "org", "", "`ID` of the organization, without --api-key, which names it")
	flags.BoolVar(&c.proofs, "proofs", true, "ask for an app proof, which the answer is verified by")
	flags.StringVar(&c.body, "body", "", "new `FILE` for the body")
	c.key.register(command)
	c.qr.register(flags)
	return command
}

func (c *requestCommand) run(cmd *cobra.Command) error {
	kind, err := parseType(c.kind)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	organization := c.organization
	var by *stamper
	if c.key.path != "" {
		if by, err = c.key.open(cmd.Context()); err != nil {
			return err
		}
		organization = by.organizationID
	}
	unsigned, _, err := readTransactionOf(cmd, kind)
	if err != nil {
		return err
	}
	request, err := activity.NewRequest(
		activity.Envelope{OrganizationID: organization, Time: time.Now(), GenerateAppProofs: c.proofs},
		activity.SignTransactionIntent{Type: kind, SignWith: c.signWith, UnsignedTransaction: unsigned})
	if err != nil {
		return err
	}
	if c.qr.wanted() { // before a file is written
		if err := fitsCodes(ur.Request{Body: request.Body}.Message()); err != nil {
			return err
		}
	}
	if c.body != "" {
		if err := writeNew(c.body, request.Body); err != nil {
			return fmt.Errorf("--body: %w", err)
		}
	}
	return c.print(cmd, by, request.Body)
}

// check refuses flags that do not fit together.
func (c *requestCommand) check() error {
	switch {
	case c.signWith == "":
		return usagef("--sign-with is missing: an address of the key, or its id")
	case c.key.path == "" && c.organization == "":
		return usagef("--api-key is missing, which stamps the request; or name the organization with --org for a body without a stamp")
	case c.key.path != "" && c.organization != "":
		return usagef("--org does not go with --api-key: the key names its organization")
	case c.key.path == "" && c.qr.wanted():
		return usagef("--api-key is missing: a request without a stamp is not carried out")
	}
	return c.qr.check()
}

// print writes the request, with its stamp if there is one.
func (c *requestCommand) print(cmd *cobra.Command, by *stamper, body []byte) error {
	if by == nil {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), string(body))
		return err
	}
	stamped, err := newRequestFile(by, body)
	if err != nil {
		return err
	}
	if c.qr.wanted() {
		return c.qr.show(cmd, stamped.message())
	}
	return printJSON(cmd.OutOrStdout(), stamped)
}
