package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/weborigin"
)

// Endpoint takes signed requests. Use NewEndpoint to create one.
type Endpoint struct {
	url     string
	secrets Secrets
	client  http.Client
	timeout time.Duration // of a request
}

// ErrAnswered is the cause of a failure if the endpoint answered, with another status than 2xx.
var ErrAnswered = errors.New("the endpoint answered")

// NewEndpoint returns the endpoint at a URL, or an error that names the invalid setting. Redirects
// are not followed. client may be nil: a new one is used.
func NewEndpoint(url string, secrets Secrets, client *http.Client, timeout time.Duration) (*Endpoint, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	if err := secrets.check(); err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	e := &Endpoint{url: url, timeout: timeout}
	for _, secret := range secrets {
		e.secrets = append(e.secrets, bytes.Clone(secret))
	}
	if client != nil {
		e.client = *client
	}
	e.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return e, nil
}

// CheckURL refuses an endpoint that is neither https nor http on this machine.
func CheckURL(text string) error {
	target, err := weborigin.ParseURL(text)
	if err != nil || target.Host == "" || !isConfidential(target) {
		return errors.New("webhook: the URL must be https, or http on this machine, because what is posted would be " +
			"readable in transit, with a port up to 65535 if any")
	}
	return nil
}

// isConfidential reports whether requests to target cannot be read in transit.
func isConfidential(target *url.URL) bool {
	host := target.Hostname()
	ip := net.ParseIP(host)
	thisMachine := host == "localhost" || ip != nil && ip.IsLoopback()
	return target.Scheme == "https" || target.Scheme == "http" && thisMachine
}

// maxAnswer bounds how much of an answer is read, in bytes, so that the connection
// can be reused.
const maxAnswer = 64 << 10

// Post makes one attempt to post JSON under an id. Errors name neither the body nor the URL.
func (e *Endpoint) Post(ctx context.Context, id string, at time.Time, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "countersign")
	request.Header.Set(IDHeader, id)
	request.Header.Set(TimestampHeader, strconv.FormatInt(at.Unix(), 10))
	request.Header.Set(SignatureHeader, e.secrets.Sign(id, at, body))
	answer, err := e.client.Do(request)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // the URL may contain a password
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%w with status %d", ErrAnswered, answer.StatusCode)
	}
	return nil
}
