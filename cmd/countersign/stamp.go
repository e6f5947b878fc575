package main

import (
	"errors"
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
Stamp the request body that comes from standard input, and print a request file
for 'countersign sign --request' on a machine without a network:

  {"body":"<exact text>","stamp":{"header":"X-Stamp","value":"…"}}

--qr draws it as QR codes instead. --header prints only the value of the header X-Stamp, for a client that posts the body
themselves. The stamp covers every byte, the end of a last line included.`),
		Example: paragraphs(`
  countersign stamp --api-key api-key.json < body.json > request.json
  curl -H "X-Stamp: $(countersign stamp --api-key api-key.json --header < body.json)" \
      --data-binary @body.json http://127.0.0.1:8080/public/v1/submit/sign_transaction`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := qr.check(); err != nil {
				return err
			}
			if onlyHeader && qr.wanted() {
				return usagef("--header does not go with --qr: the codes have body and stamp")
			}
			by, err := key.open(cmd.Context())
			if err != nil {
				return err
			}
			body, err := readBody(cmd)
			if err != nil {
				return err
			}
			made, err := newRequestFile(by, body)
			if err != nil {
				return err
			}
			if onlyHeader {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), made.Stamp.Value)
				return err
			}
			if qr.wanted() {
				return qr.show(cmd, made.message())
			}
			return printJSON(cmd.OutOrStdout(), made)
		},
	}
	key.register(command)
	qr.register(command.Flags())
	command.Flags().BoolVar(&onlyHeader, "header", false, "print only the value of the header")
	return command
}

// readBody reads the body of a request from standard input: exactly.
func readBody(cmd *cobra.Command) ([]byte, error) {
	body, err := readAll(cmd.Context(), cmd.InOrStdin(), httpapi.DefaultMaxBody)
	if err != nil {
		return nil, fmt.Errorf("read the body from standard input: %w", err)
	}
	if len(body) == 0 {
		return nil, errors.New("standard input is empty: the body of the request is expected there")
	}
	return body, nil
}
