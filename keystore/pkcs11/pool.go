//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// pool lends sessions. A session is used by one goroutine at a time; otherwise modules
// crash. A session in which anything failed is not used again, because it may be dead or
// have an operation in progress.
type pool struct {
	connection *connection
	permits    chan struct{} // one for each session that may be in use
	idle       chan session
	closed     chan struct{}
	closing    sync.Once
	closeError error

	mu   sync.Mutex
	last uint64
	// owner is the number of the session that was last given a handle. A module may reuse the
	// handle of a session that it has dropped: then the old session must never be used or closed.
	owner map[pkcs11.SessionHandle]uint64
}

// session is a handle with a unique number.
type session struct {
	handle pkcs11.SessionHandle
	number uint64
}

func newPool(connection *connection, size int) *pool {
	p := &pool{
		connection: connection,
		permits:    make(chan struct{}, size),
		idle:       make(chan session, size),
		closed:     make(chan struct{}),
		owner:      map[pkcs11.SessionHandle]uint64{},
	}
	for range size {
		p.permits <- struct{}{}
	}
	return p
}

// openPool logs in to the token.
func openPool(ctx context.Context, settings settings, options Options) (*pool, error) {
	pin, source, err := readPIN(settings.uri, options)
	if err != nil {
		return nil, err
	}
	with := credentials{pin: pin, source: source}
	if settings.uri.RetryPIN {
		with.trust = pinForced
	}
	connection, err := connect(ctx, settings.uri, with)
	if err != nil {
		return nil, err
	}
	return newPool(connection, settings.sessions), nil
}

// operation is run in a session. again is true if it failed in another session, and means
// that object handles have to be looked up again.
type operation func(lent session, again bool) error

// do runs an operation in a session. If the session, the login or the handle of an object
// is gone, it runs the operation once more in a new session, with again set. If the context
// ends first, do returns its error; an operation that has begun continues, and its session
// is returned when it is done.
func (p *pool) do(ctx context.Context, run operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-p.closed:
		return keystore.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-p.permits:
	}
	if p.isClosed() { // select chooses at random if both are ready
		p.permits <- struct{}{}
		return keystore.ErrClosed
	}
	if ctx.Done() == nil {
		return p.inSession(ctx, run)
	}
	// A call into a module cannot be interrupted, so it gets its own goroutine. That costs
	// two goroutine switches; a long-lived worker would cost as much.
	done := make(chan error, 1)
	go func() { done <- p.inSession(ctx, run) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inSession takes a session and runs the operation, twice if necessary, for a caller with a permit,
// which it returns.
func (p *pool) inSession(ctx context.Context, run operation) error {
	defer func() { p.permits <- struct{}{} }()
	lent, err := p.take(ctx)
	if err == nil {
		err = p.use(lent, run, false)
	}
	if !retryable(err) || ctx.Err() != nil {
		return err
	}
	if lent, err = p.open(ctx); err != nil {
		return err
	}
	if err = p.use(lent, run, true); err != nil {
		return fmt.Errorf("tried twice: %w", err)
	}
	return nil
}

// use runs the operation, and returns the session to the pool or discards it.
func (p *pool) use(lent session, run operation, again bool) error {
	err := run(lent, again)
	if err != nil {
		p.discard(lent, err)
		return err
	}
	p.idle <- lent
	return nil
}

// inWritable calls run once in a session that may change the token. It holds a permit
// meanwhile, so that Close waits for it.
//
// Before run hands over objects, it must call awaited, which reports whether the caller is
// still waiting. If so, the caller can no longer give up.
func (p *pool) inWritable(ctx context.Context, run func(in pkcs11.SessionHandle,
	awaited func() bool) ([]pkcs11.ObjectHandle, error)) ([]pkcs11.ObjectHandle, error) {
	type outcome struct {
		objects []pkcs11.ObjectHandle
		err     error
	}
	result := make(chan outcome, 1)
	var decided atomic.Bool // the objects are handed over, or the caller has given up
	err := p.do(ctx, func(session, bool) error {
		handle, err := p.connection.newSession(pkcs11.CKF_RW_SESSION)
		if err != nil {
			return err
		}
		defer func() { _ = p.connection.module.CloseSession(handle) }()
		objects, err := run(handle, func() bool { return decided.CompareAndSwap(false, true) })
		result <- outcome{objects, err}
		return nil
	})
	if err != nil && decided.CompareAndSwap(false, true) {
		return nil, explain("opening a writable session", err)
	}
	changed := <-result
	return changed.objects, explain("changing the token", changed.err)
}

// take returns an idle session, or a new one.
func (p *pool) take(ctx context.Context) (session, error) {
	for {
		select {
		case idle := <-p.idle:
			if p.owns(idle) {
				return idle, nil
			}
		default:
			return p.open(ctx)
		}
	}
}

// The first and the longest wait before asking a token for a session again that had none
// free. A session that returns to the pool is taken immediately.
const (
	firstWait   = 2 * time.Millisecond
	longestWait = 100 * time.Millisecond
)

// open opens a session. If the token has no more, open waits until one returns to the pool
// or another program closes one of its own.
func (p *pool) open(ctx context.Context) (session, error) {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		handle, err := p.connection.newSession(0)
		if err == nil {
			return p.own(handle), nil
		}
		if !returned(err, pkcs11.CKR_SESSION_COUNT) {
			return session{}, err
		}
		select {
		case idle := <-p.idle:
			if p.owns(idle) {
				return idle, nil
			}
		case <-time.After(wait):
		case <-p.closed:
			return session{}, keystore.ErrClosed
		case <-ctx.Done():
			return session{}, errors.Join(ctx.Err(), explain("waiting for a session", err))
		}
	}
}

func (p *pool) own(handle pkcs11.SessionHandle) session {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.owner[handle] = p.last
	return session{handle, p.last}
}

func (p *pool) owns(s session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owner[s.handle] == s.number
}

// discard drops a session after an error, and closes it unless it is gone or its handle has
// been reused.
func (p *pool) discard(s session, cause error) {
	p.mu.Lock()
	owned := p.owner[s.handle] == s.number
	if owned {
		delete(p.owner, s.handle)
	}
	p.mu.Unlock()
	if owned && !isOneOf(cause, sessionGone) {
		_ = p.connection.module.CloseSession(s.handle)
	}
}

// isClosed reports whether close was called.
func (p *pool) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// close closes the pool and its connection: no new operation begins. It waits for those in
// progress. If that takes longer than the timeout, it returns an error and completes the rest
// in the background: the module must not be finalized while operations are in progress.
// Closing again returns the same error.
func (p *pool) close(timeout time.Duration) error {
	p.closing.Do(func() {
		close(p.closed)
		done := make(chan error, 1)
		go func() {
			for range cap(p.permits) {
				<-p.permits
			}
			close(p.idle)
			for idle := range p.idle {
				p.discard(idle, nil)
			}
			done <- p.connection.close()
		}()
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case p.closeError = <-done:
		case <-timer.C:
			p.closeError = fmt.Errorf("%w: the token has not answered for %v; its sessions stay open until it does",
				keystore.ErrUnavailable, timeout)
		}
	})
	return p.closeError
}
