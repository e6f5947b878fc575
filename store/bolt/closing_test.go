package bolt_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// closing is a context that closes the store when it is asked whether it has
// ended: just after a call has found the store open.
type closing struct {
	context.Context
	store *bolt.Store
}

func (c closing) Err() error { return c.store.Close() }

// TestClosedAtThatInstant: a call that finds the store open, and closed one step
// later, says that it is closed.
func TestClosedAtThatInstant(t *testing.T) {
	nothing := without(func(otpledger.Ledger) error { return nil })
	for name, call := range map[string]func(ctx context.Context, s *bolt.Store, lease store.Lease) error{
		"Begin": func(ctx context.Context, s *bolt.Store, _ store.Lease) error {
			_, err := s.Begin(ctx, claimOf("another"), nil)
			return err
		},
		"Renew": func(ctx context.Context, s *bolt.Store, lease store.Lease) error {
			_, err := s.Renew(ctx, lease, time.Minute, time.Now())
			return err
		},
		"Complete": func(ctx context.Context, s *bolt.Store, lease store.Lease) error {
			return s.Complete(ctx, lease, activityOf("new"), nil)
		},
		"Release": func(ctx context.Context, s *bolt.Store, lease store.Lease) error {
			return s.Release(ctx, lease, nothing)
		},
		"Get": func(ctx context.Context, s *bolt.Store, _ store.Lease) error {
			_, err := s.Get(ctx, "org", activityID)
			return err
		},
		"ChangeOTP": func(ctx context.Context, s *bolt.Store, _ store.Lease) error {
			return s.Change(ctx, "org", nothing)
		},
		"Sweep": func(ctx context.Context, s *bolt.Store, _ store.Lease) error {
			_, err := s.Sweep(ctx, time.Now())
			return err
		},
		"Ping": func(ctx context.Context, s *bolt.Store, _ store.Lease) error { return s.Ping(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, filled(t))
			begun, err := s.Begin(t.Context(), claimOf("new"), nil)
			testenv.Must(t, err)
			if err := call(closing{t.Context(), s}, s, *begun.Lease); !errors.Is(err, store.ErrClosed) {
				t.Errorf("%v, want ErrClosed", err)
			}
		})
	}
}
