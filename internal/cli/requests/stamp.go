package requests

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

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
