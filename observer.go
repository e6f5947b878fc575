package countersign

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/otp"
)

// Observer counts and times what the engine does. It is called while requests
// wait and must not block.
type Observer interface {
	// Observe is called once for each request that was submitted or asked, and for
	// each call to sign where there is a Policy or a Submitter.
	Observe(seen Observation)
}

// Observation is one request.
type Observation struct {
	Operation string          // path of the operation, such as "sign_transaction"; empty if the body did not say
	Reason    activity.Reason // why it was refused; empty if it was not
	Repeated  bool            // the answer was recorded before
	Duration  time.Duration   // of all of it
	Performed time.Duration   // of signing, or of issuing and delivering a password; 0 if it did not come to that

	trail *trail // for the log
}

type requestIDKey struct{}

// WithRequestID returns a context whose requests are logged with this id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// observed notes one request for the observer and the log.
func (e *Engine) observed(ctx context.Context, seen *Observation, organizationID string, started time.Time, err error) {
	seen.Duration = time.Since(started)
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		seen.Reason = refused.Reason
	}
	if e.config.Observer != nil {
		shown := *seen
		shown.trail = nil
		e.config.Observer.Observe(shown)
	}
	e.log(ctx, seen, organizationID, err)
}

// log writes the line of one request. What was wrong with a stamp is told to the log
// only.
func (e *Engine) log(ctx context.Context, seen *Observation, organizationID string, err error) {
	refused, _ := errors.AsType[*activity.Error](err)
	level := slog.LevelInfo
	if err != nil && (refused == nil || refused.Code == activity.CodeInternal || refused.Code == activity.CodeUnavailable) {
		level = slog.LevelError
	}
	if !e.config.Logger.Enabled(ctx, level) {
		return
	}
	e.config.Logger.LogAttrs(ctx, level, "request", requestAttributes(ctx, seen, organizationID, refused)...)
}

func requestAttributes(ctx context.Context, seen *Observation, organizationID string, refused *activity.Error) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("operation", seen.Operation),
		slog.String("organization", organizationID),
		slog.Duration("duration", seen.Duration),
	}
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		attributes = append(attributes, slog.String("request", id))
	}
	if remote, ok := ctx.Value(remoteKey{}).(string); ok {
		attributes = append(attributes, slog.String("remote", remote))
	}
	attributes = append(attributes, seen.trail.attributes()...)
	if refused == nil {
		return append(attributes, slog.Bool("repeated", seen.Repeated))
	}
	attributes = append(attributes, slog.String("reason", string(refused.Reason)), slog.String("message", seen.trail.withoutContents(refused.Message, refused)))
	if cause := causeOf(refused); cause != "" && cause != refused.Message {
		attributes = append(attributes, slog.String("cause", seen.trail.withoutContents(cause, refused)))
	}
	return attributes
}

// causeOf is what the log says behind the message. Of a one-time password it is
// what the error's own text withholds from the client.
func causeOf(refused *activity.Error) string {
	var code *otp.CodeError
	switch cause := errors.Unwrap(refused); {
	case errors.As(cause, &code):
		return code.Why.Error()
	case cause != nil:
		return cause.Error()
	}
	return ""
}
