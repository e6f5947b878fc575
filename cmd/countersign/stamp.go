package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/stamp"
)

// requestFile is a stamped request on its way to a machine without a network.
type requestFile struct {
	Body  string       `json:"body"`
	Stamp stamp.Header `json:"stamp"`
}

func newStampCommand() *cobra.Command {
	var keyFile string
	var headerOnly bool
	command := &cobra.Command{
		Use:   "stamp",
		Short: "Stamp a request's body",
		Long: paragraphs(`
Sign the body of a request with an API key. The body comes from standard input
and is taken exactly as it is, to the last byte: the stamp covers that and
nothing else.

The output is a request file, {"body":"…","stamp":{"header":"X-Stamp","value":"…"}},
to be carried to a machine that has no network; with --header it is the value of
the header X-Stamp alone, for curl and its like.`),
		Example: paragraphs(`
  countersign stamp --api-key api-key.json < body.json > request.json
  curl --data-binary @body.json -H "X-Stamp: $(countersign stamp --api-key api-key.json --header < body.json)" …`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStamp(cmd, keyFile, headerOnly) },
	}
	registerAPIKey(command, &keyFile)
	command.Flags().BoolVar(&headerOnly, "header", false, "print the header's value only")
	return command
}

func runStamp(cmd *cobra.Command, keyFile string, headerOnly bool) error {
	key, err := readAPIKey(cmd.Context(), keyFile)
	if err != nil {
		return err
	}
	body, err := readBody(cmd)
	if err != nil {
		return err
	}
	header, err := key.signer.Stamp(body)
	if err != nil {
		return err
	}
	if headerOnly {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), header.Value)
		return err
	}
	return printJSON(cmd.OutOrStdout(), requestFile{Body: string(body), Stamp: header})
}
