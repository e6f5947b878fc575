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
	"github.com/countersign-dev/countersign/stamp"
)

// Post stamps a body, posts it to a path behind /public/v1/, and returns the
// answer. It retries as Config says, with the same stamp and body. A refusal is
// an *activity.Error; the answer is returned with it.
func (c *Client) Post(ctx context.Context, path string, body []byte) (answer []byte, err error) {
	made, err := c.config.Stamper.Stamp(body)
	if err != nil {
		return nil, err
	}
	return c.PostStamped(ctx, path, made, body)
}

// PostStamped is Post of a body that was stamped already.
func (c *Client) PostStamped(ctx context.Context, path string, made stamp.Header, body []byte) (answer []byte, err error) {
	for tried := 0; ; tried++ {
		answer, err = c.postOnce(ctx, path, made, body)
		if tried >= c.config.Retries || !retryable(ctx, err) {
			return answer, err
		}
		long := c.config.Backoff << tried
		if refused, ok := errors.AsType[*activity.Error](err); ok {
			long = max(long, refused.RetryAfter)
		}
		if pause(ctx, long) != nil {
			return answer, err
		}
	}
}

// retryable reports whether the same body may fare better: the server could not
// be reached, did not answer, or answered with 5xx.
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

// transportError is an answer that did not arrive, or was not of the API.
type transportError struct{ error }

func (e *transportError) Unwrap() error { return e.error }

func (c *Client) postOnce(ctx context.Context, path string, made stamp.Header, body []byte) (answer []byte, err error) {
	target := c.base + "/public/v1/" + path
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set(made.Name, made.Value)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.config.HTTP.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, &transportError{fmt.Errorf("%w: no server listens there: start 'countersign serve', or correct the URL", err)}
	}
	if err != nil {
		return nil, &transportError{err}
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, MaxAnswer+1))
	if err != nil || len(answer) > MaxAnswer {
		return nil, &transportError{errors.Join(fmt.Errorf("the answer of %s broke off, or is longer than %d bytes", target, MaxAnswer), err)}
	}
	return answer, refusalOf(response, answer)
}

// refusalOf is the error that an answer tells of.
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
		foreign := fmt.Errorf("HTTP %d without a reason: does the URL name the API of a countersign server, not its admin address or another server?", response.StatusCode)
		if response.StatusCode >= http.StatusInternalServerError {
			return &transportError{foreign} // a proxy's, while the server restarts
		}
		return foreign
	}
	made := &activity.Error{Code: refused.Code, Reason: refused.TurnkeyErrorCode, Message: refused.Message}
	for _, detail := range refused.Details {
		if len(detail.FieldViolations) > 0 {
			made.Field = detail.FieldViolations[0].Field
		}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		made.RetryAfter = time.Duration(seconds) * time.Second
	}
	return made
}
