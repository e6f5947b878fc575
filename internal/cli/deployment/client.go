package deployment

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/stamp"
)

// Client has the flags that name a server and an API key, and posts stamped requests.
type Client struct {
	Base   string
	Key    APIKeyFlag
	By     *api.Key
	CAFile string
	http   *http.Client // nil: the client's own
}

// Register adds the flags of a client to a command.
func (c *Client) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.Base, "url", "", "base `URL` of the server, such as http://127.0.0.1:8080")
	cmd.Flags().StringVar(&c.CAFile, "ca-file", "", "`FILE` with the certificates, in PEM, of the authorities that may have signed the server's (default: those of the system)")
	c.Key.Register(cmd)
}

// Open checks the URL and reads the API key.
func (c *Client) Open(ctx context.Context) (err error) {
	if err := c.OpenWithoutKey(); err != nil {
		return err
	}
	c.By, err = c.Key.Open(ctx)
	return err
}

// OpenWithoutKey checks the URL, for requests that are stamped already.
func (c *Client) OpenWithoutKey() error {
	if c.Base == "" {
		return console.Usagef("--url is missing: the base URL of the server, such as http://127.0.0.1:8080")
	}
	if err := checkURL(c.Base); err != nil {
		return err
	}
	return c.trust()
}

// trust reads the authorities of --ca-file.
func (c *Client) trust() error {
	if c.CAFile == "" {
		return nil
	}
	content, err := console.ReadText(c.CAFile, maxPEM)
	if err != nil {
		return fmt.Errorf("--ca-file: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(content) {
		return fmt.Errorf("--ca-file: %s has no certificate in PEM", c.CAFile)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	c.http = &http.Client{
		Transport: transport, Timeout: api.DefaultTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a stamp is meant for one server
	}
	return nil
}

// checkURL refuses a --url that is not the base URL of a server.
func checkURL(base string) error {
	if _, err := api.New(api.Config{URL: base, OrganizationID: "any", Stamper: new(stamp.Signer)}); err != nil {
		return console.Usagef("--url %q: write it as http://HOST:PORT or https://HOST", base)
	}
	return nil
}

// Retrying returns a client that sends a body again when an answer is lost.
func (c *Client) Retrying() (*api.Client, error) {
	return api.New(api.Config{URL: c.Base, Key: c.By, HTTP: c.http})
}

// Post stamps a body and posts it once. If the server refuses it, both the answer and
// a *RefusedError are returned.
func (c *Client) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	header, err := c.By.Stamp(body)
	if err != nil {
		return nil, err
	}
	return c.PostStamped(ctx, path, header, body)
}

// PostStamped is Post with a given stamp. It needs no API key.
func (c *Client) PostStamped(ctx context.Context, path string, header stamp.Header, body []byte) (answer []byte, err error) {
	to, err := api.New(api.Config{URL: c.Base, OrganizationID: "any", Stamper: new(stamp.Signer), HTTP: c.http, Retries: -1}) // neither is used
	if err != nil {
		return nil, err
	}
	answer, err = to.PostStamped(ctx, path, header, body)
	if err == nil && !json.Valid(answer) {
		return nil, fmt.Errorf("the answer is not JSON: is --url %s the address of the API?", c.Base)
	}
	return answer, WithReason(err)
}

// WithReason turns a server's refusal into a *RefusedError, and returns other errors
// unchanged.
func WithReason(err error) error {
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return &RefusedError{refused}
	}
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		return fmt.Errorf("%w: if an authority of your own signed it, name its certificate with --ca-file", err)
	}
	return err
}

// RefusedError is a server's refusal. Its text includes the reason.
type RefusedError struct{ refused *activity.Error }

func (e *RefusedError) Error() string {
	return e.refused.Message + " (" + string(e.refused.Reason) + ")"
}

// Unwrap returns the refusal.
func (e *RefusedError) Unwrap() error { return e.refused }

// MaxNote is the longest proof or checkpoint that is read, in bytes.
const MaxNote = 64 << 10

// GetAdmin gets a path below the admin URL of a server. The answer is at most MaxNote
// bytes long; unless its status is 200, it is a text that is safe to print.
func GetAdmin(ctx context.Context, base, path string, timeout time.Duration) (response *http.Response, answer []byte, err error) {
	if err := checkURL(base); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path, http.NoBody)
	if err != nil {
		return nil, nil, console.Usagef("--url: %v", err)
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
		answer, err = io.ReadAll(io.LimitReader(response.Body, MaxNote))
		return response, answer, err
	}
	const maxCause = 4096
	cause, _ := io.ReadAll(io.LimitReader(response.Body, maxCause)) // as much as arrived
	return response, []byte(console.CleanText(strings.TrimSpace(string(cause)))), nil
}
