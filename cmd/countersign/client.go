package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/stamp"
)

// client posts stamped requests to a server.
type client struct {
	base string
	key  apiKeyFlag
	by   *stamper
}

func (c *client) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.base, "url", "", "`BASE` of the server's URLs, such as http://127.0.0.1:8080")
	c.key.register(cmd)
}

// open checks the address and reads the API key.
func (c *client) open(ctx context.Context) (err error) {
	if c.base == "" {
		return usagef("--url is missing: the base of the server's URLs, such as http://127.0.0.1:8080")
	}
	if _, err := api.New(api.Config{URL: c.base, Key: new(api.Key{OrganizationID: "any"})}); err != nil {
		return usagef("--url %q: write it as http://HOST:PORT or https://HOST", c.base)
	}
	c.by, err = c.key.open(ctx)
	return err
}

// patient returns a client that sends a body again when an answer is lost.
func (c *client) patient() (*api.Client, error) {
	return api.New(api.Config{URL: c.base, OrganizationID: c.by.organizationID, Stamper: c.by.Signer})
}

// post stamps a body and posts it. An answer that is a refusal comes with an
// error that has its message.
func (c *client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	made, err := c.by.Stamp(body)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, path, made, body)
}

// send posts a body with a stamp, once.
func (c *client) send(ctx context.Context, path string, made stamp.Header, body []byte) (answer []byte, err error) {
	to, err := api.New(api.Config{URL: c.base, OrganizationID: c.by.organizationID, Stamper: c.by.Signer, Retries: -1})
	if err != nil {
		return nil, err
	}
	answer, err = to.PostStamped(ctx, path, made, body)
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return answer, &refusedError{refused}
	}
	return answer, err
}

// refusedError is an answer that is a refusal, shown with its reason.
type refusedError struct{ refused *activity.Error }

func (e *refusedError) Error() string {
	return e.refused.Message + " (" + string(e.refused.Reason) + ")"
}

// Unwrap returns the refusal.
func (e *refusedError) Unwrap() error { return e.refused }
