//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// pool lends sessions. A session is used by one goroutine at a time: modules
// crash if it is not. A session with which anything failed is not used again:
// it may be dead, or have an operation begun in it.
type pool struct {
	connection *connection
	permits    chan struct{} // one for each session that may be in use
	idle       chan session
	closed     chan struct{}

	mu   sync.Mutex
	last uint64
	// Who was given a handle last. A module may give the handle of a session
	// that it has dropped to a new one: then the old one must never be used, nor
	// closed.
	owner map[pkcs11.SessionHandle]uint64
}

// session is a handle, and a number that no other session has.
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

// operation is what is done in a session; again tells that it failed in another
// one, and that handles of objects are to be looked up anew.
type operation func(held session, again bool) error

// do runs an operation in a session. If the session, the login or the handle of
// an object turns out to be gone, the operation is run once more in a new
// session, with again set. If the context ends first, do returns; an operation
// that has begun goes on, and the session is given back when it is done.
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
	if p.isClosed() { // both were ready: select takes either
		p.permits <- struct{}{}
		return keystore.ErrClosed
	}
	if ctx.Done() == nil {
		return p.permitted(ctx, run)
	}
	return p.behind(ctx, run)
}

// behind runs an operation in a goroutine of its own, as a call into a module cannot
// be interrupted. That costs two changes of
// goroutine; a worker that lives as long as the pool would cost as much.
func (p *pool) behind(ctx context.Context, run operation) error {
	done := make(chan error, 1)
	go func() { done <- p.permitted(ctx, run) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// permitted is do for who has a permit, which it gives back.
func (p *pool) permitted(ctx context.Context, run operation) error {
	defer func() { p.permits <- struct{}{} }()
	return p.inSession(ctx, run)
}

// inSession takes a session and runs the operation, twice if need be.
func (p *pool) inSession(ctx context.Context, run operation) error {
	held, err := p.take(ctx)
	if err == nil {
		err = p.use(held, run, false)
	}
	if !retryable(err) || ctx.Err() != nil {
		return err
	}
	if held, err = p.open(ctx); err != nil {
		return err
	}
	if err = p.use(held, run, true); err != nil {
		return fmt.Errorf("tried twice: %w", err)
	}
	return nil
}

// use runs the operation and puts the session back, or away.
func (p *pool) use(held session, run operation, again bool) error {
	err := run(held, again)
	if err != nil {
		p.discard(held, err)
		return err
	}
	p.idle <- held
	return nil
}

// take returns an idle session, or a new one.
func (p *pool) take(ctx context.Context) (session, error) {
	for {
		select {
		case held := <-p.idle:
			if p.owns(held) {
				return held, nil
			}
		default:
			return p.open(ctx)
		}
	}
}

// How long who found the token without free sessions waits before asking again,
// at first and at most. A session that one of us gives back is taken at once.
const (
	firstWait   = 2 * time.Millisecond
	longestWait = 100 * time.Millisecond
)

// open opens a session. If the token has no more of them it waits, until one of
// ours comes back or another program has closed one of its own.
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
		case held := <-p.idle:
			if p.owns(held) {
				return held, nil
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

func (p *pool) owns(held session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owner[held.handle] == held.number
}

// discard puts a session away, and closes it unless it is closed, or not ours
// any more.
func (p *pool) discard(held session, why error) {
	p.mu.Lock()
	ours := p.owner[held.handle] == held.number
	if ours {
		delete(p.owner, held.handle)
	}
	p.mu.Unlock()
	if ours && !isOneOf(why, sessionGone) {
		_ = p.connection.module.CloseSession(held.handle)
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

// close ends the pool: no operation begins any more. It waits for those that have
// begun, closes the sessions and calls afterwards, and returns true. If they take
// longer than the timeout it returns false, and does the rest when they are done:
// the module must not be finalized under them.
func (p *pool) close(timeout time.Duration, afterwards func()) (inTime bool) {
	close(p.closed)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range cap(p.permits) {
			<-p.permits
		}
		close(p.idle)
		for held := range p.idle {
			p.discard(held, nil)
		}
		afterwards()
	}()
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}
