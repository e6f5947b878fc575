package deployment

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/keystore"
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
	cmd.Flags().StringVar(&c.CAFile, "ca-file", "",
		"`FILE` with the certificates, in PEM, of the authorities that may have signed the server's (default: those of the system)")
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

// OpenWithoutKey checks the URL and reads the authorities of --ca-file, for requests that are stamped already.
func (c *Client) OpenWithoutKey() error {
	if c.Base == "" {
		return console.Usagef("--url is missing: the base URL of the server, such as http://127.0.0.1:8080")
	}
	if err := checkURL(c.Base); err != nil {
		return err
	}
	if c.CAFile == "" {
		return nil
	}
	authorities, err := readAuthorities(c.CAFile)
	if err != nil {
		return fmt.Errorf("--ca-file: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	c.http = &http.Client{
		Transport: transport, Timeout: api.DefaultTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a stamp is meant for one server
	}
	return nil
}

func readAuthorities(path string) (*x509.CertPool, error) {
	content, err := console.ReadText(path, maxPEM)
	authorities := x509.NewCertPool()
	if err == nil && !authorities.AppendCertsFromPEM(content) {
		err = fmt.Errorf("%s has no certificate in PEM", path)
	}
	return authorities, err
}

// checkURL refuses a --url that is not the base URL of a server.
func checkURL(base string) error {
	if _, err := api.New(api.Config{URL: base, OrganizationID: "any", Stamper: new(stamp.Signer)}); err != nil {
		return console.Usagef("--url %q: write it as http://HOST:PORT or https://HOST", base)
	}
	return nil
}

// OpenRetrying is Open, and returns a client that sends a body again when an answer is lost.
func (c *Client) OpenRetrying(ctx context.Context) (*api.Client, error) {
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
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
	to, err := api.New(api.Config{URL: c.Base, OrganizationID: "any", Stamper: new(stamp.Signer), HTTP: c.http,
		Retries: -1}) // neither is used
	if err != nil {
		return nil, err
	}
	answer, err = to.PostStamped(ctx, path, header, body)
	if err == nil && !json.Valid(answer) {
		return nil, fmt.Errorf("the answer is not JSON: is --url %s the address of the API?", c.Base)
	}
	return answer, WithReason(err)
}

// WithReason turns a server's refusal into a *RefusedError, and returns other errors unchanged.
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

// APIKey is the content of an API key file, which only the sender of requests has.
type APIKey struct {
	OrganizationID string      `json:"organizationId"`
	PublicKey      string      `json:"publicKey"`  // hex; compressed, or 32 bytes on Ed25519
	PrivateKey     string      `json:"privateKey"` // hex: the scalar, or the seed on Ed25519
	Curve          stamp.Curve `json:"curve"`
}

// NewAPIKey generates an API key.
func NewAPIKey(organizationID string, curve stamp.Curve) (APIKey, error) {
	secret := make([]byte, keystore.SecretSize)
	defer keystore.Wipe(secret)
	for {
		_, _ = rand.Read(secret) // never fails
		signer, err := stamp.NewSigner(curve, secret)
		switch {
		case err == nil:
			public := hex.EncodeToString(signer.PublicKey())
			return APIKey{organizationID, public, hex.EncodeToString(secret), curve}, nil
		case !slices.Contains(apiKeyCurves, curve): // else a secret of zero or not below the order: one in 2^32
			return APIKey{}, err
		}
	}
}

// apiKeyCurves are the curves of API keys, the default first.
var apiKeyCurves = []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519}

// ParseAPIKeyCurve parses the curve of an API key: "API_KEY_CURVE_P256", or "p256" for short.
func ParseAPIKeyCurve(name string) (stamp.Curve, error) {
	const prefix = "API_KEY_CURVE_"
	curve := stamp.Curve(prefix + strings.TrimPrefix(strings.ToUpper(name), prefix))
	if !slices.Contains(apiKeyCurves, curve) {
		return "", console.Usagef("--curve %q: use p256, secp256k1 or ed25519", name)
	}
	return curve, nil
}

// APIKeyFlag names the file of an API key.
type APIKeyFlag struct{ Path string }

// Register adds the flag to a command.
func (f *APIKeyFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Path, "api-key", "", "`FILE` with the API key, mode 0600, as init creates it")
}

// Open reads the API key. From here on the process leaves no core dump.
func (f *APIKeyFlag) Open(ctx context.Context) (*api.Key, error) {
	if f.Path == "" {
		return nil, console.Usagef("--api-key is missing: the file of an API key, as init creates it")
	}
	content, err := console.ReadSecretFile(ctx, f.Path)
	if err != nil {
		return nil, fmt.Errorf("--api-key: %w", err)
	}
	defer keystore.Wipe(content)
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	key, err := api.ParseKeyWith(content, stamp.NewSigner)
	if err != nil {
		return nil, fmt.Errorf("--api-key %s: %w: expected a file as 'countersign init' and 'apikey new' write it", f.Path, err)
	}
	return key, nil
}
