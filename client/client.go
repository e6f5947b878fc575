package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp/signer"
)

// Stamper stamps bodies. A [Key] and a *signer.Signer are Stampers.
type Stamper interface {
	Stamp(body []byte) (signer.Header, error)
}

// Config configures a client. URL or Handler is required, and either Key, or
// OrganizationID and Stamper.
type Config struct {
	// URL is the base URL of the server, such as "https://signer.example.com".
	URL string

	// Handler answers in this process, without a listener, instead of the server at URL:
	// httpapi.New(engine, httpapi.Options{}).
	Handler http.Handler

	// Key stamps requests for its organization.
	Key *Key

	// OrganizationID and Stamper are used instead of Key.
	OrganizationID string
	Stamper        Stamper

	// HTTP sends the requests. Default: a client with DefaultTimeout that follows no
	// redirects, because a stamp is meant for one server.
	HTTP *http.Client

	// Retries is how often a body is sent again after a 5xx answer or none.
	// Negative means never. Default: DefaultRetries.
	Retries int

	// Backoff is the pause before the first retry. Each further pause is twice as
	// long, and at least the server's Retry-After. Default: DefaultBackoff.
	Backoff time.Duration

	// Poll is the pause between two polls of Wait. Default: DefaultPoll.
	Poll time.Duration

	// Now is the clock of timestamps. Default: time.Now.
	Now func() time.Time
}

// Defaults of Config.
const (
	DefaultTimeout = 2 * time.Minute
	DefaultRetries = 4
	DefaultBackoff = 200 * time.Millisecond
	DefaultPoll    = 2 * time.Second
)

// MaxAnswer is the longest answer that is read, in bytes. An answer contains the request's
// body four times.
const MaxAnswer = 64 << 20

// Client submits requests. It is safe for concurrent use.
type Client struct {
	config Config
	base   string // without a slash at the end
}

// New returns a client. It does not connect.
func New(config Config) (*Client, error) {
	if config.Handler != nil {
		if config.URL != "" || config.HTTP != nil {
			return nil, errors.New("client: Config has Handler as well as URL or HTTP: set one or the other")
		}
		config.URL = inProcess
		config.HTTP = &http.Client{Transport: handlerTransport{config.Handler}, Timeout: DefaultTimeout}
	}
	base, err := url.Parse(config.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("client: Config.URL %q: expected http://HOST:PORT or https://HOST", config.URL)
	}
	if err := config.setStamper(); err != nil {
		return nil, err
	}
	if config.HTTP == nil {
		config.HTTP = &http.Client{
			Timeout:       DefaultTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Retries = cmp.Or(config.Retries, DefaultRetries)
	config.Backoff = cmp.Or(max(config.Backoff, 0), DefaultBackoff)
	config.Poll = cmp.Or(max(config.Poll, 0), DefaultPoll)
	return &Client{config, strings.TrimRight(config.URL, "/")}, nil
}

// setStamper sets OrganizationID and Stamper from Key.
func (c *Config) setStamper() error {
	switch {
	case c.Key != nil && (c.OrganizationID != "" || c.Stamper != nil):
		return errors.New("client: Config has Key as well as OrganizationID or Stamper: set one or the other")
	case c.Key != nil && (c.Key.Signer == nil || c.Key.OrganizationID == ""):
		return errors.New("client: Config.Key needs a Signer and an OrganizationID: see ReadKey")
	case c.Key != nil:
		c.OrganizationID, c.Stamper = c.Key.OrganizationID, c.Key
	case c.OrganizationID == "" || c.Stamper == nil:
		return errors.New("client: Config.Key is missing, or OrganizationID and Stamper in its place")
	}
	return nil
}

// NewRequest returns a request for this client's organization, with the current time. Keep
// its body to send the same request again after a crash.
func (c *Client) NewRequest(intent activity.Intent) (*activity.Request, error) {
	return activity.NewRequest(activity.Envelope{OrganizationID: c.config.OrganizationID, Time: c.config.Now()}, intent)
}

// Submit stamps and sends a request. The returned activity may still wait for approvals:
// see Wait. A refusal is an *activity.Error.
func (c *Client) Submit(ctx context.Context, request *activity.Request) (*Activity, error) {
	path, err := Path(request.Type)
	if err != nil {
		return nil, err
	}
	answer, err := c.Post(ctx, path, request.Body)
	if err != nil {
		return nil, err
	}
	done, err := ParseActivity(answer)
	if err != nil {
		return nil, err
	}
	want := request.Fingerprint
	if vote, ok := request.Intent.(activity.VoteIntent); ok {
		want = vote.Fingerprint // the answer to a vote is the activity voted on
	}
	if done.Fingerprint != want.String() {
		return nil, fmt.Errorf("the server answered another request: %s instead of %s", done.Fingerprint, want)
	}
	return done, nil
}

// SignTransaction signs a transaction and returns it in hex. It waits for approvals as long
// as the context allows.
func (c *Client) SignTransaction(ctx context.Context, intent activity.SignTransactionIntent) (string, error) {
	done, err := c.complete(ctx, intent)
	if err != nil {
		return "", err
	}
	if done.Result.SignTransaction == nil {
		return "", fmt.Errorf("activity %s has no signed transaction", done.ID)
	}
	return done.Result.SignTransaction.SignedTransaction, nil
}

// SignMessage signs a message and returns its signature. It waits for approvals as long as
// the context allows.
func (c *Client) SignMessage(ctx context.Context, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	done, err := c.complete(ctx, intent)
	if err != nil {
		return activity.SignRawPayloadResult{}, err
	}
	if done.Result.SignRawPayload == nil {
		return activity.SignRawPayloadResult{}, fmt.Errorf("activity %s has no signature", done.ID)
	}
	return *done.Result.SignRawPayload, nil
}

// complete submits a new request and waits until it is completed.
func (c *Client) complete(ctx context.Context, intent activity.Intent) (*Activity, error) {
	request, err := c.NewRequest(intent)
	if err != nil {
		return nil, err
	}
	submitted, err := c.Submit(ctx, request)
	if err != nil {
		return nil, err
	}
	return c.wait(ctx, submitted, c.config.Poll)
}

// GetActivity returns an activity by its id.
func (c *Client) GetActivity(ctx context.Context, id string) (*Activity, error) {
	answer, err := c.query(ctx, "get_activity", struct {
		OrganizationID string `json:"organizationId"`
		ActivityID     string `json:"activityId"`
	}{c.config.OrganizationID, id})
	if err != nil {
		return nil, err
	}
	return ParseActivity(answer)
}

// WhoAmI returns the owner of the key that the client stamps with.
func (c *Client) WhoAmI(ctx context.Context) (who activity.WhoAmI, err error) {
	answer, err := c.query(ctx, "whoami", struct {
		OrganizationID string `json:"organizationId"`
	}{c.config.OrganizationID})
	if err != nil {
		return who, err
	}
	return who, unmarshal(answer, &who)
}

// query stamps and sends a query.
func (c *Client) query(ctx context.Context, name string, content any) (answer []byte, err error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return c.Post(ctx, "query/"+name, body)
}

// Wait polls for an activity, at once and then every Config.Poll, until it is completed, and
// returns it. If it was rejected or failed, the error is a *StatusError. If the context ends first,
// Wait returns the activity as last seen and the context's error; it may be called again.
func (c *Client) Wait(ctx context.Context, waiting *Activity) (*Activity, error) {
	return c.wait(ctx, waiting, 0)
}

// wait is Wait with another first pause.
func (c *Client) wait(ctx context.Context, waiting *Activity, delay time.Duration) (*Activity, error) {
	for ; ; delay = c.config.Poll {
		switch waiting.Status {
		case activity.StatusCompleted:
			return waiting, nil
		case activity.StatusRejected, activity.StatusFailed:
			return waiting, &StatusError{waiting}
		}
		if err := pause(ctx, delay); err != nil {
			return waiting, fmt.Errorf("activity %s is %s: %w", waiting.ID, waiting.Status, err)
		}
		seen, err := c.GetActivity(ctx, waiting.ID)
		if err != nil {
			return waiting, err
		}
		waiting = seen
	}
}

// pause waits for d. If the context ends first, it returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
