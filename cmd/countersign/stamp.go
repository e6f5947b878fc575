package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/httpapi"
)

func newStampCommand() *cobra.Command {
	var key apiKeyFlag
	var onlyHeader bool
	var qr qrFlags
	command := &cobra.Command{
		Use:   "stamp",
		Short: "Stamp a request",
		Long: paragraphs(`
Stamp the request body on standard input, and print a request file for 'countersign
sign --request' on a machine without a network:

  {"body":"<exact text>","stamp":{"header":"X-Stamp","value":"…"}}

--qr draws it as QR codes instead. --header prints only the value of the X-Stamp
header, for clients that post the body themselves. The stamp covers every byte of the
body, including a final newline.`),
		Example: paragraphs(`
  countersign stamp --api-key api-key.json < body.json > request.json
  curl -H "X-Stamp: $(countersign stamp --api-key api-key.json --header < body.json)" \
      --data-binary @body.json http://127.0.0.1:8080/public/v1/submit/sign_transaction`),
		Args: stdinArgs("request body"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := qr.check(); err != nil {
				return err
			}
			if onlyHeader && qr.wanted() {
				return usagef("--header does not go with --qr: the codes hold both the body and the stamp")
			}
			by, err := key.open(cmd.Context())
			if err != nil {
				return err
			}
			body, err := readStandardInput(cmd, "request body", httpapi.DefaultMaxBody)
			if err != nil {
				return err
			}
			stamped, err := newRequestFile(by, body)
			if err != nil {
				return err
			}
			if onlyHeader {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), stamped.Stamp.Value)
				return err
			}
			return stamped.print(cmd, &qr)
		},
	}
	key.register(command)
	qr.register(command.Flags())
	command.Flags().BoolVar(&onlyHeader, "header", false, "print only the value of the header")
	return command
}
