package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Outcome is how a call to a service ended.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Throttled   Outcome = "throttled"
	Denied      Outcome = "denied"
	Missing     Outcome = "missing"     // the service has no such key
	Unavailable Outcome = "unavailable" // no answer, or the report of a failure
	Wrong       Outcome = "wrong"       // an answer that is not the one asked for
	Refused     Outcome = "refused"     // the service does not sign such a thing
	Abandoned   Outcome = "abandoned"   // the caller gave up; the service may have signed
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OK, Throttled, Denied, Missing, Unavailable, Wrong, Refused, Abandoned}
}

// Observation is a call to a service that has ended.
type Observation struct {
	Service   string // the scheme of its URIs
	Operation string // "sign" or "check"
	Outcome   Outcome
	Duration  time.Duration // without the wait for a place
}

func outcomeOf(err error) Outcome {
	_, throttled := errors.AsType[*keystore.ThrottledError](err)
	switch {
	case err == nil:
		return OK
	case throttled:
		return Throttled
	case errors.Is(err, keystore.ErrDenied):
		return Denied
	case errors.Is(err, keystore.ErrKeyNotFound):
		return Missing
	case errors.Is(err, keystore.ErrSignatureCheck):
		return Wrong
	case errors.Is(err, keystore.ErrUnsupported):
		return Refused
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, keystore.ErrClosed):
		return Abandoned
	}
	return Unavailable
}

// call makes a call to the key's service, when there is a place for it. It ends with ctx, after
// the time-out, or when the store was closed.
func (k *key) call(ctx context.Context, operation string, do func(context.Context, Key) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k.store.mu.RLock()
	closed, slots := k.store.closed, k.store.slots[k.site]
	if !closed {
		k.store.calls.Add(1) // Close waits for it
		defer k.store.calls.Done()
	}
	k.store.mu.RUnlock()
	if closed {
		return keystore.ErrClosed
	}
	bounded, cancel := context.WithTimeout(ctx, k.store.options.Timeout)
	defer cancel()
	defer context.AfterFunc(k.store.base, cancel)()
	select {
	case slots <- struct{}{}: // a place among the calls of the site
		defer func() { <-slots }()
	case <-bounded.Done():
		return k.explain(ctx, bounded, bounded.Err())
	}
	start := time.Now()
	remote, err := k.remote(bounded)
	if err == nil {
		err = do(bounded, remote)
	}
	err = k.explain(ctx, bounded, err)
	k.store.options.Observe(Observation{k.site.scheme, operation, outcomeOf(err), time.Since(start)})
	return err
}

// remote opens the key at its service, once.
func (k *key) remote(ctx context.Context) (Key, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if k.opened == nil {
		opened, err := k.service.Open(ctx, k.pin.URI)
		if err != nil {
			return nil, err
		}
		k.opened = opened
	}
	return k.opened, nil
}

// explain names the key in an error of a service, and puts those that are of no class, such as a
// broken connection, into ErrUnavailable. If the caller gave up, its own error is returned.
func (k *key) explain(caller, bounded context.Context, err error) error {
	callers, limited := caller.Deadline()
	earliest, _ := bounded.Deadline()
	switch {
	case err == nil:
		return nil
	case caller.Err() != nil:
		return caller.Err()
	case k.store.base.Err() != nil:
		return keystore.ErrClosed
	case errors.Is(err, context.DeadlineExceeded) && limited && callers.Equal(earliest):
		return context.DeadlineExceeded // a client may notice before the context does
	case bounded.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %v: no answer within %v: %w", keystore.ErrUnavailable, k, k.store.options.Timeout, errNoAnswer)
	}
	for _, class := range []error{
		keystore.ErrUnavailable, keystore.ErrKeyNotFound, keystore.ErrSignatureCheck, keystore.ErrUnsupported,
	} {
		if errors.Is(err, class) {
			return fmt.Errorf("%v: %w", k, err)
		}
	}
	return fmt.Errorf("%w: %v: %w", keystore.ErrUnavailable, k, err)
}

// errNoAnswer stands for the error of a context that was ours and not the caller's.
var errNoAnswer = errors.New("the service is too slow or cannot be reached")

// MaxAnswer bounds the body of a service's answer, in bytes. Public keys and signatures have a
// few hundred.
const MaxAnswer = 1 << 20

// Bounded returns a transport for a service's client. It follows no redirect, which would take
// the client's credentials to another address, and fails to read an answer beyond MaxAnswer.
func Bounded(over http.RoundTripper) http.RoundTripper { return bounded{over} }

type bounded struct{ over http.RoundTripper }

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.over.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 3 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("the service redirects (%d), which is not followed: configure the address that it names", answer.StatusCode)
	}
	answer.Body = &boundedBody{answer.Body, MaxAnswer}
	return answer, nil
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("an answer of more than %d bytes", MaxAnswer)
	}
	return n, err
}
