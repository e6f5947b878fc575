package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/stamp"
)

// client has the flags that name a server and an API key, and posts stamped requests.
type client struct {
	base string
	key  apiKeyFlag
	by   *api.Key
}

func (c *client) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.base, "url", "", "base `URL` of the server, such as http://127.0.0.1:8080")
	c.key.register(cmd)
}

// open checks the URL and reads the API key.
func (c *client) open(ctx context.Context) (err error) {
	if c.base == "" {
		return usagef("--url is missing: the base URL of the server, such as http://127.0.0.1:8080")
	}
	if err := checkURL(c.base); err != nil {
		return err
	}
	c.by, err = c.key.open(ctx)
	return err
}

// checkURL refuses a --url that is not the base URL of a server.
func checkURL(base string) error {
	if _, err := api.New(api.Config{URL: base, OrganizationID: "any", Stamper: new(stamp.Signer)}); err != nil {
		return usagef("--url %q: write it as http://HOST:PORT or https://HOST", base)
	}
	return nil
}

// retrying returns a client that sends a body again when an answer is lost.
func (c *client) retrying() (*api.Client, error) {
	return api.New(api.Config{URL: c.base, Key: c.by})
}

// post stamps a body and posts it once. If the server refuses it, both the answer and
// a *refusedError are returned.
func (c *client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	header, err := c.by.Stamp(body)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, path, header, body)
}

// send is post with a given stamp.
func (c *client) send(ctx context.Context, path string, header stamp.Header, body []byte) (answer []byte, err error) {
	to, err := api.New(api.Config{URL: c.base, Key: c.by, Retries: -1})
	if err != nil {
		return nil, err
	}
	answer, err = to.PostStamped(ctx, path, header, body)
	if err == nil && !json.Valid(answer) {
		return nil, fmt.Errorf("the answer is not JSON: is --url %s the address of the API?", c.base)
	}
	return answer, withReason(err)
}

// withReason turns a server's refusal into a *refusedError, and returns other errors
// unchanged.
func withReason(err error) error {
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return &refusedError{refused}
	}
	return err
}

// refusedError is a server's refusal. Its text includes the reason.
type refusedError struct{ refused *activity.Error }

func (e *refusedError) Error() string {
	return e.refused.Message + " (" + string(e.refused.Reason) + ")"
}

// Unwrap returns the refusal.
func (e *refusedError) Unwrap() error { return e.refused }

// maxNote is the longest proof or checkpoint that is read, in bytes.
const maxNote = 64 << 10

// getAdmin gets a path below the admin URL of a server. The answer is at most maxNote
// bytes long; unless its status is 200, it is a text that is safe to print.
func getAdmin(ctx context.Context, base, path string, timeout time.Duration) (response *http.Response, answer []byte, err error) {
	if err := checkURL(base); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path, http.NoBody)
	if err != nil {
		return nil, nil, usagef("--url: %v", err)
	}
	response, err = http.DefaultClient.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w: no server is listening there: start 'countersign serve', or pass its admin address with --url", err)
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		answer, err = io.ReadAll(io.LimitReader(response.Body, maxNote))
		return response, answer, err
	}
	const maxCause = 4096
	cause, _ := io.ReadAll(io.LimitReader(response.Body, maxCause)) // as much as arrived
	return response, []byte(cleanText(strings.TrimSpace(string(cause)))), nil
}
