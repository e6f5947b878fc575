package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

func newSubmitCommand() *cobra.Command {
	var keyFile, url string
	command := &cobra.Command{
		Use:   "submit",
		Short: "Send a request to a server",
		Long: paragraphs(`
Stamp the body of a request and post it to the path of its type. The body comes
from standard input; timestampMs and organizationId are filled in if they are
absent. The server's answer goes to standard output, a refusal too: the exit
status is 1 then.`),
		Example: paragraphs(`
  countersign submit --url https://sign.example.com --api-key api-key.json <<'EOF'
  {"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","parameters":{"signWith":"0x…",
   "unsignedTransaction":"02…","type":"TRANSACTION_TYPE_ETHEREUM"}}
  EOF`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSubmit(cmd, keyFile, url) },
	}
	registerAPIKey(command, &keyFile)
	registerURL(command, &url)
	return command
}

func registerURL(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "url", "", "`BASE` URL of the server, before /public")
}

func runSubmit(cmd *cobra.Command, keyFile, url string) error {
	if url == "" {
		return usagef("--url is missing: the base URL of the server")
	}
	key, err := readAPIKey(cmd.Context(), keyFile)
	if err != nil {
		return err
	}
	body, err := readBody(cmd)
	if err != nil {
		return err
	}
	if body, err = fillIn(body, key.organizationID, time.Now()); err != nil {
		return err
	}
	answer, refused := key.submit(cmd, url, body)
	if len(answer) > 0 {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", answer); err != nil {
			return err
		}
	}
	return refused
}

// submit posts a body to the path of its type. What the server would refuse as
// malformed is refused here.
func (k *apiKey) submit(cmd *cobra.Command, url string, body []byte) ([]byte, error) {
	request, err := activity.Decode(body)
	if err != nil {
		return nil, err
	}
	for _, operation := range activity.Operations() {
		if operation.Type == request.Type {
			return k.post(cmd.Context(), url, "/public/v1/submit/"+operation.Path, body)
		}
	}
	return nil, errors.New("no path for type " + string(request.Type))
}

// fillIn puts the members that are absent in front of those that are there,
// and leaves these as they are.
func fillIn(body []byte, organizationID string, now time.Time) ([]byte, error) {
	if err := strictjson.Check(body, "body"); err != nil {
		return nil, err
	}
	var present map[string]json.RawMessage
	if err := json.Unmarshal(body, &present); err != nil {
		return nil, err
	}
	var filled []byte
	for name, value := range map[string]string{"timestampMs": fmt.Sprint(now.UnixMilli()), "organizationId": organizationID} {
		if _, ok := present[name]; !ok {
			filled = fmt.Appendf(filled, "%s:%s,", jsonLine(name), jsonLine(value))
		}
	}
	if len(present) == 0 {
		filled = bytes.TrimSuffix(filled, []byte(","))
	}
	at := bytes.IndexByte(body, '{') + 1
	return bytes.Join([][]byte{body[:at], filled, body[at:]}, nil), nil
}
