package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp/signer"
)

// Post stamps a body, posts it to a path below /public/v1/, and returns the answer. It
// retries as configured, with the same stamp and body. If the server refuses the request,
// the error is an *activity.Error, and the answer is returned too.
func (c *Client) Post(ctx context.Context, path string, body []byte) (answer []byte, err error) {
	header, err := c.config.Stamper.Stamp(body)
	if err != nil {
		return nil, err
	}
	return c.PostStamped(ctx, path, header, body)
}

// PostStamped is Post for a body that is already stamped.
func (c *Client) PostStamped(ctx context.Context, path string, header signer.Header, body []byte) (answer []byte, err error) {
	for attempt := 0; ; attempt++ {
		answer, err = c.postOnce(ctx, path, header, body)
		if attempt >= c.config.Retries || !retryable(ctx, err) {
			return answer, err
		}
		delay := c.config.Backoff << attempt
		if refused, ok := errors.AsType[*activity.Error](err); ok {
			delay = max(delay, refused.RetryAfter)
		}
		if pause(ctx, delay) != nil {
			return answer, err
		}
	}
}

// retryable reports whether sending the same body again may succeed: the server could not
// be reached, did not answer, or answered 5xx.
func retryable(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return refused.Code == activity.CodeUnavailable || refused.Code == activity.CodeInternal
	}
	_, broken := errors.AsType[*transportError](err)
	return broken
}

// transportError reports an answer that did not arrive, or was not one of the API.
type transportError struct{ error }

func (e *transportError) Unwrap() error { return e.error }

func (c *Client) postOnce(ctx context.Context, path string, header signer.Header, body []byte) (answer []byte, err error) {
	target := c.base + "/public/v1/" + path
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set(header.Name, header.Value)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.config.HTTP.Do(request)
	if errors.Is(err, http.ErrSchemeMismatch) {
		return nil, fmt.Errorf("%w: this server speaks http: the URL must begin with http://", err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, &transportError{fmt.Errorf("%w: no server is listening there: start 'countersign serve', or correct the URL", err)}
	}
	if err != nil {
		return nil, &transportError{err}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusBadRequest && response.Proto == "HTTP/1.0" && request.URL.Scheme == "http" {
		return nil, errors.New("the server answers as one that speaks https does: the URL must begin with https://")
	}
	answer, err = io.ReadAll(io.LimitReader(response.Body, MaxAnswer+1))
	if err != nil || len(answer) > MaxAnswer {
		return nil, &transportError{errors.Join(fmt.Errorf("the answer of %s was cut off, or is longer than %d bytes",
			target, MaxAnswer), err)}
	}
	return answer, refusalOf(response, answer)
}

// refusalOf returns the error that an answer reports, or nil.
func refusalOf(response *http.Response, answer []byte) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var refused struct {
		Code             activity.Code
		Message          string
		TurnkeyErrorCode activity.Reason
		Details          []struct {
			FieldViolations []struct{ Field string }
		}
	}
	if json.Unmarshal(answer, &refused) != nil || refused.Message == "" {
		foreign := fmt.Errorf("HTTP %d without a reason: does the URL name the API of a countersign server, not "+
			"its admin address or another server?", response.StatusCode)
		if response.StatusCode >= http.StatusInternalServerError {
			return &transportError{foreign} // from a proxy while the server restarts, for example
		}
		return foreign
	}
	refusal := &activity.Error{Code: refused.Code, Reason: refused.TurnkeyErrorCode, Message: refused.Message}
	for _, detail := range refused.Details {
		if len(detail.FieldViolations) > 0 {
			refusal.Field = detail.FieldViolations[0].Field
		}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		refusal.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refusal
}
