package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/stamp"
)

// Queries are the queries that submit can send.
var Queries = []string{"get_activity", "whoami"}

type submitCommand struct {
	to          deployment.Client
	query, save string
	field       show.ActivityFieldFlag
}

// NewSubmitCommand returns the command submit.
func NewSubmitCommand() *cobra.Command {
	var c submitCommand
	command := &cobra.Command{
		Use:   "submit",
		Short: "Stamp a request and send it to a server",
		Long: console.Paragraphs(`
Stamp the request body on standard input, post it to the path of its type, and print
the answer. A refusal is printed too, with exit status 1. A missing timestampMs or
organizationId is filled in with the current time and the organization of the API key;
nothing else in the body is changed.

A request file, as 'countersign request' and 'countersign stamp' print it, is sent as it
is, with the stamp that it has; it needs no --api-key.

Sending the same bytes again returns the recorded answer. --save-body writes the
completed body to a file before it is sent: if no answer arrives, submit that file.

--query sends a query instead. Its body has no type and no time.`),
		Example: console.Paragraphs(`
  countersign submit --url http://127.0.0.1:8080 --api-key api-key.json < body.json
  countersign submit --url http://127.0.0.1:8080 --api-key api-key.json --field status < body.json
  countersign submit --save-body sent --url http://127.0.0.1:8080 --api-key api-key.json < body.json
  countersign submit --url http://127.0.0.1:8080 < request.json
  echo '{}' | countersign submit --query whoami --url http://127.0.0.1:8080 --api-key api-key.json`),
		Args: console.StdinArgs("request body"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.to.Register(command)
	c.field.Register(command)
	command.Flags().StringVar(&c.save, "save-body", "", "new `FILE` to write the body to before it is sent")
	command.Flags().StringVar(&c.query, "query", "", "`QUERY` to send: "+strings.Join(Queries, ", "))
	console.Exclusive(command, "'countersign activities show' takes it", "field", "query")
	return command
}

func (c *submitCommand) run(cmd *cobra.Command) error {
	if c.query != "" && !slices.Contains(Queries, c.query) {
		return console.Usagef("--query: unknown query %q: use %s", c.query, strings.Join(Queries, ", "))
	}
	err := c.to.OpenWithoutKey()
	if err == nil && c.to.Key.Path != "" { // a request file needs none
		c.to.By, err = c.to.Key.Open(cmd.Context())
	}
	if err != nil {
		return err
	}
	what := "request body"
	if c.query != "" {
		what = "query ({} at least)"
	}
	content, err := console.ReadStandardInput(cmd, what, show.MaxRequestFile)
	if err != nil && c.to.By == nil {
		_, err = c.to.Key.Open(cmd.Context()) // what is wrong with the call comes first
	}
	if err != nil {
		return err
	}
	asked, err := c.outgoing(cmd, content)
	if err != nil {
		return err
	}
	if c.save != "" {
		if err := console.WriteNew(c.save, asked.body); err != nil {
			return fmt.Errorf("--save-body: %w: nothing was sent", err)
		}
	}
	answer, err := c.to.PostStamped(cmd.Context(), asked.path, asked.stamp, asked.body)
	if c.field.Name != "" && err == nil {
		return c.field.Print(cmd, answer)
	}
	if len(answer) > 0 {
		err = errors.Join(err, console.PrintLine(cmd, answer))
	}
	return err
}

type outgoing struct {
	path  string
	body  []byte
	stamp stamp.Header
}

// outgoing returns the request in a request file, or completes and stamps a body.
func (c *submitCommand) outgoing(cmd *cobra.Command, content []byte) (asked outgoing, err error) {
	if show.IsRequestFile(content) {
		return c.stamped(cmd, content)
	}
	if c.to.By == nil {
		_, err := c.to.Key.Open(cmd.Context())
		return asked, err // it is missing
	}
	if len(content) > httpapi.DefaultMaxBody {
		return asked, fmt.Errorf("the request body is longer than %d bytes", httpapi.DefaultMaxBody)
	}
	if asked.path, asked.body, err = Completed(content, c.query, c.to.By.OrganizationID, time.Now()); err != nil {
		return asked, err
	}
	asked.stamp, err = c.to.By.Stamp(asked.body)
	return asked, err
}

func (c *submitCommand) stamped(cmd *cobra.Command, content []byte) (asked outgoing, err error) {
	sent, err := show.ParseRequestFile("standard input", content)
	if err != nil {
		return asked, err
	}
	asked = outgoing{"query/" + c.query, sent.Body, sent.Stamps[0]}
	if c.to.By != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "The request file has a stamp: --api-key is not used.")
	}
	if c.query != "" {
		return asked, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(sent.Body, &members); err != nil {
		return asked, fmt.Errorf("the body in the request file is not a JSON object: %w", err)
	}
	asked.path, err = submitPath(members["type"])
	return asked, err
}

// Completed returns the path to post a body to, and the body with missing members
// inserted at the front. Members that are present stay unchanged, byte for byte.
func Completed(body []byte, query, organizationID string, now time.Time) (path string, whole []byte, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return "", nil, fmt.Errorf("the request body is not a JSON object: %w: 'countersign request' makes one", err)
	}
	if members == nil {
		return "", nil, errors.New("the request body is null: expected a JSON object")
	}
	path = "query/" + query
	if query == "" {
		if path, err = submitPath(members["type"]); err != nil {
			return "", nil, err
		}
	}
	var added []string
	if _, has := members["organizationId"]; !has {
		added = append(added, `"organizationId":`+string(console.JSONLine(organizationID)))
	}
	if _, has := members["timestampMs"]; !has && query == "" {
		added = append(added, `"timestampMs":"`+strconv.FormatInt(now.UnixMilli(), 10)+`"`)
	}
	if len(added) == 0 {
		return path, body, nil
	}
	front := "{" + strings.Join(added, ",")
	if len(members) > 0 {
		front += ","
	}
	_, rest, _ := bytes.Cut(body, []byte("{"))
	return path, append([]byte(front), rest...), nil
}

// submitPath returns the path of the type that a body's member holds.
func submitPath(member json.RawMessage) (string, error) {
	var kind activity.Type
	if err := json.Unmarshal(member, &kind); err != nil {
		return "", fmt.Errorf("the body has no type: use one of %v, or send it as a --query", activity.Types())
	}
	return api.Path(kind)
}
