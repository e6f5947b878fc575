package records

import (
	"context"
	"sync"
	"time"
)

// lateContext is a context that makes its channel and its timer when Done is first called.
// Most work never calls Done: it only checks Err.
type lateContext struct {
	parent   context.Context
	detached bool      // it outlives the parent, and only takes its values
	deadline time.Time // zero if it only has the parent's

	mu    sync.Mutex
	made  context.Context // nil until Done is called
	stop  context.CancelCauseFunc
	cause error // not nil once it was cancelled
}

var _ context.Context = (*lateContext)(nil)

// cancel ends the context and frees what it has. Only the first cause counts.
func (c *lateContext) cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
	if c.made != nil {
		c.stop(cause)
	}
}

// cancelled returns the cause with which the context was cancelled, or nil.
func (c *lateContext) cancelled() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *lateContext) Deadline() (deadline time.Time, ok bool) {
	if !c.detached {
		deadline, ok = c.parent.Deadline()
	}
	if !c.deadline.IsZero() && (!ok || c.deadline.Before(deadline)) {
		return c.deadline, true
	}
	return deadline, ok
}

func (c *lateContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.made != nil:
		return c.made.Err()
	case c.cause != nil:
		return context.Canceled
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		return context.DeadlineExceeded
	case c.detached:
		return nil
	}
	return c.parent.Err()
}

func (c *lateContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil {
		return c.made.Done()
	}
	parent := c.parent
	if c.detached {
		parent = context.WithoutCancel(parent)
	}
	made, stop := context.WithCancelCause(parent)
	c.made, c.stop = made, stop
	if !c.deadline.IsZero() {
		within, free := context.WithDeadline(made, c.deadline)
		c.made, c.stop = within, func(cause error) { stop(cause); free() }
	}
	if c.cause != nil {
		c.stop(c.cause)
	}
	return c.made.Done()
}

func (c *lateContext) Value(key any) any {
	c.mu.Lock()
	made := c.made
	c.mu.Unlock()
	if made != nil {
		return made.Value(key)
	}
	if c.detached {
		return context.WithoutCancel(c.parent).Value(key)
	}
	return c.parent.Value(key)
}
