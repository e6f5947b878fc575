// Package requests is the commands that make requests and send them: request, stamp and submit.
package requests

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/ur"
)

type requestCommand struct {
	kind         string
	message      show.MessageFlags // to ask for instead of a transaction
	signWith     string
	organization string
	proofs       bool
	key          deployment.APIKeyFlag
	body         string
	qr           console.QRFlags
}

// NewRequestCommand returns the command request.
func NewRequestCommand() *cobra.Command {
	var c requestCommand
	command := &cobra.Command{
		Use:   "request",
		Short: "Write a request to sign a transaction or a message",
		Long: console.Paragraphs(`
Write the request body that asks for a signature on the transaction on standard
input, in hex (a PSBT also in base64 or binary, a Solana transaction or its message also
in base64 or base58). With --api-key the request is stamped, and printed as a request
file for 'countersign sign --request' on a machine without a network, or for
'countersign submit':

  {"body":"<exact text>","stamp":{"header":"X-Stamp","value":"…"}}

--message KIND asks for a signature on the message on standard input instead, which is
written as for 'countersign sign --message'.

--body FILE keeps the body: 'countersign verify' checks the answer against it.
--qr draws the request as QR codes instead of printing it.`),
		Example: console.Paragraphs(`
  countersign request --type ethereum --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 \
      --api-key api-key.json --body body.json < unsigned.hex > request.json
  countersign request --type ethereum --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 \
      --api-key api-key.json --body body.json --qr < unsigned.hex
  countersign request --message eip712 --sign-with 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56 \
      --api-key api-key.json --body body.json < permit.json > request.json`),
		Args: console.StdinArgs("transaction or message"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	flags := command.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the transaction: "+show.TypeNames())
	c.message.Register(command, "ask for a message of `KIND` to be signed")
	flags.StringVar(&c.signWith, "sign-with", "", "`ADDRESS` or id of the key")
	flags.StringVar(&c.organization, "org", "", "`ID` of the organization, if there is no --api-key to name it")
	flags.BoolVar(&c.proofs, "proofs", true, "request an app proof, with which the answer can be verified")
	flags.StringVar(&c.body, "body", "", "new `FILE` to write the body to")
	c.key.Register(command)
	c.qr.Register(command)
	console.Exclusive(command, "the key names its organization", "org", "api-key")
	return command
}

func (c *requestCommand) run(cmd *cobra.Command) error {
	if err := c.check(); err != nil {
		return err
	}
	organization := c.organization
	var by *api.Key
	var err error
	if c.key.Path != "" {
		if by, err = c.key.Open(cmd.Context()); err != nil {
			return err
		}
		organization = by.OrganizationID
	}
	intent, err := c.intent(cmd)
	if err != nil {
		return err
	}
	request, err := activity.NewRequest(
		activity.Envelope{OrganizationID: organization, Time: time.Now(), GenerateAppProofs: c.proofs}, intent)
	if err != nil {
		return err
	}
	if c.qr.Wanted() { // before a file is written
		if err := console.FitsCodes(ur.Request{Body: request.Body}.Message()); err != nil {
			return err
		}
	}
	if c.body != "" {
		if err := console.WriteNew(c.body, request.Body); err != nil {
			return fmt.Errorf("--body: %w", err)
		}
	}
	if by == nil {
		return console.PrintLine(cmd, request.Body)
	}
	stamped, err := show.NewRequestFile(by, request.Body)
	if err != nil {
		return err
	}
	return stamped.Print(cmd, &c.qr)
}

func (c *requestCommand) intent(cmd *cobra.Command) (activity.Intent, error) {
	if c.message.Kind != "" {
		return c.message.Read(cmd, c.signWith)
	}
	kind, err := show.ParseType(c.kind)
	if err != nil {
		return nil, err
	}
	content, err := show.ReadTransaction(cmd)
	if err != nil {
		return nil, err
	}
	unsigned, err := show.DecodeAs(kind, content)
	return activity.SignTransactionIntent{Type: kind, SignWith: c.signWith, UnsignedTransaction: unsigned.Text}, err
}

// check refuses flags that do not go together, or do not say what is to be signed, and by whom.
func (c *requestCommand) check() error {
	if c.message.Kind == "" && c.kind == "" {
		return console.Usagef("--type is missing, or --message for a message: use %s", show.TypeNames())
	}
	if c.message.Kind == "" {
		if _, err := show.ParseType(c.kind); err != nil {
			return err
		}
	}
	switch err := c.message.CheckSigner(c.signWith); {
	case err != nil:
		return err
	case c.key.Path == "" && c.organization == "":
		return console.Usagef("--api-key is missing, which stamps the request: pass it, or --org to name the " +
			"organization of a body without a stamp")
	case c.key.Path == "" && c.qr.Wanted():
		return console.Usagef("--api-key is missing: a request without a stamp is not carried out")
	}
	return nil
}

// NewStampCommand returns the command stamp.
func NewStampCommand() *cobra.Command {
	var key deployment.APIKeyFlag
	var onlyHeader bool
	var qr console.QRFlags
	command := &cobra.Command{
		Use:   "stamp",
		Short: "Stamp a request",
		Long: console.Paragraphs(`
Stamp the request body on standard input, and print a request file for 'countersign
sign --request' on a machine without a network:

  {"body":"<exact text>","stamp":{"header":"X-Stamp","value":"…"}}

--qr draws it as QR codes instead. --header prints only the value of the X-Stamp
header, for clients that post the body themselves. The stamp covers every byte of the
body, including a final newline.`),
		Example: console.Paragraphs(`
  countersign stamp --api-key api-key.json < body.json > request.json
  curl -H "X-Stamp: $(countersign stamp --api-key api-key.json --header < body.json)" \
      --data-binary @body.json http://127.0.0.1:8080/public/v1/submit/sign_transaction`),
		Args: console.StdinArgs("request body"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			by, err := key.Open(cmd.Context())
			if err != nil {
				return err
			}
			body, err := console.ReadStandardInput(cmd, "request body", httpapi.DefaultMaxBody)
			if err != nil {
				return err
			}
			stamped, err := show.NewRequestFile(by, body)
			if err != nil {
				return err
			}
			if onlyHeader {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), stamped.Stamp.Value)
				return err
			}
			return stamped.Print(cmd, &qr)
		},
	}
	key.Register(command)
	qr.Register(command)
	command.Flags().BoolVar(&onlyHeader, "header", false, "print only the value of the header")
	for _, codes := range []string{"qr", "qr-png"} {
		console.Exclusive(command, "the codes hold both the body and the stamp", "header", codes)
	}
	return command
}
