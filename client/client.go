package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

// Stamper makes the stamp over a body: a [Key], a *stamp.Signer, or a passkey.
type Stamper interface {
	Stamp(body []byte) (stamp.Header, error)
}

// Config is what a client is made of. URL is required, and Key or both of
// OrganizationID and Stamper.
type Config struct {
	// URL is the base of the server's URLs, such as "https://signer.example.com".
	URL string

	// Key stamps, in its organization.
	Key *Key

	// OrganizationID and Stamper take the place of Key.
	OrganizationID string
	Stamper        Stamper

	// HTTP sends. Default: a client with DefaultTimeout, which follows no
	// redirects: a stamp is for one server.
	HTTP *http.Client

	// Retries is how often a body is sent again after an answer of 5xx or none;
	// negative: never. Default: DefaultRetries.
	Retries int

	// Backoff is the pause before the first retry; each further one is twice as
	// long. A Retry-After of the server that is longer goes first.
	// Default: DefaultBackoff.
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

// MaxAnswer is the longest answer that is read, in bytes: a body stands in its
// answer four times.
const MaxAnswer = 64 << 20

// Client submits requests. It is safe for concurrent use.
type Client struct {
	config Config
	base   string // without a slash at the end
}

// New makes a client. It does not connect.
func New(config Config) (*Client, error) {
	base, err := url.Parse(config.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("client: Config.URL %q: http://HOST:PORT or https://HOST is expected", config.URL)
	}
	if config.Key != nil {
		config.OrganizationID, config.Stamper = config.Key.OrganizationID, config.Key
	}
	if config.OrganizationID == "" || config.Stamper == nil {
		return nil, errors.New("client: Config.Key is missing, or OrganizationID and Stamper in its place")
	}
	if config.HTTP == nil {
		config.HTTP = &http.Client{
			Timeout:       DefaultTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if config.Retries == 0 {
		config.Retries = DefaultRetries
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Backoff = orDefault(config.Backoff, DefaultBackoff)
	config.Poll = orDefault(config.Poll, DefaultPoll)
	return &Client{config, strings.TrimRight(config.URL, "/")}, nil
}

func orDefault(value, other time.Duration) time.Duration {
	if value <= 0 {
		return other
	}
	return value
}

// NewRequest writes a request of this client's organization, as of now. Keep it
// to send the same request again after a crash.
func (c *Client) NewRequest(intent activity.Intent) (*activity.Request, error) {
	return activity.NewRequest(activity.Envelope{OrganizationID: c.config.OrganizationID, Time: c.config.Now()}, intent)
}

// Submit stamps and sends a request. The activity that is returned may still
// wait for approvals: see Wait. A refusal is an *activity.Error.
func (c *Client) Submit(ctx context.Context, request *activity.Request) (*Activity, error) {
	path, err := Path(request.Type)
	if err != nil {
		return nil, err
	}
	answer, err := c.Post(ctx, path, request.Body)
	if err != nil {
		return nil, err
	}
	done, err := parseActivity(answer)
	if err != nil {
		return nil, err
	}
	asked := request.Fingerprint
	if vote, ok := request.Intent.(activity.VoteIntent); ok {
		asked = vote.Fingerprint // a vote is answered with the activity that it is on
	}
	if done.Fingerprint != asked.String() {
		return nil, fmt.Errorf("the server answered another request: %s, and not %s", done.Fingerprint, asked)
	}
	return done, nil
}

// SignTransaction signs a transaction, waiting for approvals as long as the
// context allows. It returns the signed transaction in hex.
func (c *Client) SignTransaction(ctx context.Context, intent activity.SignTransactionIntent) (string, error) {
	request, err := c.NewRequest(intent)
	if err != nil {
		return "", err
	}
	done, err := c.Submit(ctx, request)
	if err != nil {
		return "", err
	}
	if done, err = c.Wait(ctx, done); err != nil {
		return "", err
	}
	if done.Result.SignTransaction == nil {
		return "", fmt.Errorf("activity %s has no signed transaction", done.ID)
	}
	return done.Result.SignTransaction.SignedTransaction, nil
}

// GetActivity returns an activity by its id.
func (c *Client) GetActivity(ctx context.Context, id string) (*Activity, error) {
	body, err := json.Marshal(struct {
		OrganizationID string `json:"organizationId"`
		ActivityID     string `json:"activityId"`
	}{c.config.OrganizationID, id})
	if err != nil {
		return nil, err
	}
	answer, err := c.Post(ctx, "query/get_activity", body)
	if err != nil {
		return nil, err
	}
	return parseActivity(answer)
}

// WhoAmI returns whose key the client stamps with.
func (c *Client) WhoAmI(ctx context.Context) (who activity.WhoAmI, err error) {
	body, err := json.Marshal(struct {
		OrganizationID string `json:"organizationId"`
	}{c.config.OrganizationID})
	if err != nil {
		return who, err
	}
	answer, err := c.Post(ctx, "query/whoami", body)
	if err != nil {
		return who, err
	}
	return who, unmarshal(answer, &who)
}

// Wait polls for an activity until it is completed, and returns it. One that was
// rejected, or failed, is a *StatusError, with the activity. When the context
// ends, the activity is returned as it was last seen, with the context's error:
// it may be waited for again.
func (c *Client) Wait(ctx context.Context, waiting *Activity) (*Activity, error) {
	for {
		switch waiting.Status {
		case activity.StatusCompleted:
			return waiting, nil
		case activity.StatusRejected, activity.StatusFailed:
			return waiting, &StatusError{waiting}
		}
		if err := pause(ctx, c.config.Poll); err != nil {
			return waiting, fmt.Errorf("activity %s is %s: %w", waiting.ID, waiting.Status, err)
		}
		seen, err := c.GetActivity(ctx, waiting.ID)
		if err != nil {
			return waiting, err
		}
		waiting = seen
	}
}

// pause waits, or returns the context's error when it ends first.
func pause(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
