package records

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type valueKey struct{}

var errLost = errors.New("lost")

// lateCase is a context that ends in a way, as a lateContext and as package context makes it.
type lateCase struct {
	name string
	late *lateContext
	like context.Context
	end  func() // of both
}

// lateCases returns all ways in which a context ends, or does not.
func lateCases(parent context.Context, cancelParent context.CancelFunc) []lateCase {
	at := time.Now().Add(time.Second)
	later := func() { time.Sleep(2 * time.Second) } // virtual time
	detached, free := context.WithDeadline(context.WithoutCancel(parent), at)
	bounded, freeBounded := context.WithDeadline(parent, at)
	_ = context.AfterFunc(parent, func() { free(); freeBounded() })
	cancelled, cancel := context.WithCancelCause(parent)
	late := &lateContext{parent: parent}
	return []lateCase{
		{"nothing ends it", &lateContext{parent: parent}, parent, func() {}},
		{"it is cancelled", late, cancelled, func() { late.cancel(errLost); cancel(errLost) }},
		{"its time is over", &lateContext{parent: parent, deadline: at}, bounded, later},
		{"its time is over, detached", &lateContext{parent: parent, detached: true, deadline: at}, detached, later},
		{"its parent ends", &lateContext{parent: parent}, parent, cancelParent},
	}
}

func ended(ctx context.Context) bool {
	synctest.Wait()
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// TestLateContext: a lateContext is the context that package context makes, whether its channel
// is asked for before its end, after it, or not at all.
func TestLateContext(t *testing.T) {
	for i := range lateCases(context.WithCancel(t.Context())) {
		for _, waited := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "value"))
				defer cancel()
				c := lateCases(parent, cancel)[i]
				if waited && ended(c.late) {
					t.Fatalf("%s: it has ended before", c.name)
				}
				if c.late.Err() != nil || c.late.Value(valueKey{}) != "value" {
					t.Errorf("%s: %v before its end, with the value %v", c.name, c.late.Err(), c.late.Value(valueKey{}))
				}
				c.end()
				same := func(what string, got, want error) {
					if !errors.Is(got, want) || (got == nil) != (want == nil) {
						t.Errorf("%s, waited for: %v: %s is %v, want %v", c.name, waited, what, got, want)
					}
				}
				synctest.Wait()
				same("its error", c.late.Err(), c.like.Err())
				if ended(c.late) != ended(c.like) {
					t.Errorf("%s: its channel is closed: %v", c.name, ended(c.late))
				}
				same("its error afterwards", c.late.Err(), c.like.Err())
				same("its cause", context.Cause(c.late), context.Cause(c.like))
				below, stop := context.WithCancel(c.late)
				defer stop()
				same("that of a context below", below.Err(), c.like.Err())
			})
		}
	}
}

// TestLateContextDetached: the end of its parent is nothing to a detached context.
func TestLateContextDetached(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	cancel()
	late := &lateContext{parent: parent, detached: true, deadline: time.Now().Add(time.Hour)}
	defer late.cancel(context.Canceled)
	if deadline, ok := late.Deadline(); !ok || deadline != late.deadline {
		t.Errorf("its deadline is %v", deadline)
	}
	if err := late.Err(); err != nil {
		t.Errorf("it ended with its parent: %v", err)
	}
	if context.Cause(late) != nil {
		t.Errorf("it has a cause: %v", context.Cause(late))
	}
	select {
	case <-late.Done():
		t.Error("its channel is closed")
	default:
	}
}
