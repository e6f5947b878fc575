package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

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
func (c *client) open(ctx context.Context) error {
	if c.base == "" {
		return usagef("--url is missing: the base of the server's URLs, such as http://127.0.0.1:8080")
	}
	parsed, err := url.Parse(c.base)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.RawQuery != "" || parsed.Fragment != "" {
		return usagef("--url %q: write it as http://HOST:PORT or https://HOST", c.base)
	}
	c.by, err = c.key.open(ctx)
	return err
}

// Bounds of a client.
const (
	clientTimeout = 2 * time.Minute
	maxAnswer     = 64 << 20 // the body stands in an answer four times
)

// post stamps a body and posts it. An answer that is a refusal comes with an
// error that has its message.
func (c *client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	made, err := c.by.Stamp(body)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, path, made, body)
}

// send posts a body with a stamp.
func (c *client) send(ctx context.Context, path string, made stamp.Header, body []byte) (answer []byte, err error) {
	target := strings.TrimRight(c.base, "/") + "/public/v1/" + path
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set(made.Name, made.Value)
	request.Header.Set("Content-Type", "application/json")
	sender := http.Client{
		Timeout:       clientTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := sender.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("%w: nobody listens there: start 'countersign serve', or mend --url", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil || len(answer) > maxAnswer {
		return nil, errors.Join(fmt.Errorf("the answer of %s broke off, or is longer than %d bytes", target, maxAnswer), err)
	}
	return answer, refusalOf(response, answer)
}

// refusedError is an answer that is a refusal.
type refusedError struct {
	status  int
	message string
}

func (e *refusedError) Error() string { return fmt.Sprintf("%s (HTTP %d)", e.message, e.status) }

// refusalOf is the error that an answer tells of.
func refusalOf(response *http.Response, answer []byte) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var refused struct{ Message string }
	if json.Unmarshal(answer, &refused) != nil || refused.Message == "" {
		refused.Message = "the server answered without saying why: does --url name the API of a countersign, not its admin address or another server?"
	}
	return &refusedError{response.StatusCode, refused.Message}
}
