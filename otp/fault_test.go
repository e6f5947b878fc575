package otp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

var errFault = errors.New("the disk is on fire")

// fuse fails one step.
type fuse struct {
	left  int // steps until it blows; negative: never
	steps int // taken so far
}

func (f *fuse) step() error {
	f.steps++
	if f.left--; f.left == 0 {
		return errFault
	}
	return nil
}

// faultyStore is a store whose ledger fails when the fuse blows.
type faultyStore struct {
	otp.Store
	fuse *fuse
}

func (s faultyStore) Change(ctx context.Context, organizationID string, change store.Change) error {
	return s.Store.Change(ctx, organizationID, faultyChange{change, s.fuse})
}

type faultyChange struct {
	change store.Change
	fuse   *fuse
}

func (c faultyChange) Apply(ledger store.Ledger) (refusal, err error) {
	return c.change.Apply(faultyLedger{ledger, c.fuse})
}

type faultyLedger struct {
	store.Ledger
	fuse *fuse
}

func (l faultyLedger) Lock(keys ...store.Key) ([]store.Entry, error) {
	if err := l.fuse.step(); err != nil {
		return nil, err
	}
	return l.Ledger.Lock(keys...)
}

func (l faultyLedger) Read(key store.Key) (store.Entry, error) {
	if err := l.fuse.step(); err != nil {
		return store.Entry{}, err
	}
	return l.Ledger.Read(key)
}

func (l faultyLedger) Write(key store.Key, entry store.Entry) error {
	if err := l.fuse.step(); err != nil {
		return err
	}
	return l.Ledger.Write(key, entry)
}

// faultySecret is a secret that cannot be read when the fuse blows.
type faultySecret struct {
	secret
	fuse *fuse
}

func (s faultySecret) Reveal(use func([]byte) error) error {
	if err := s.fuse.step(); err != nil {
		return err
	}
	return s.secret.Reveal(use)
}

// TestStoreFaults fails each access to the store and the secret in turn, and checks that
// the caller gets the error: no code counts as sent, tried or correct unless that was
// stored.
func TestStoreFaults(t *testing.T) {
	for name, scenario := range map[string]func(g *game, arm func()) error{
		"issue": func(g *game, arm func()) error {
			arm()
			_, _, err := g.issue("user", phone)
			return err
		},
		"issue one too many": func(g *game, arm func()) error {
			g.mustIssue("user", phone)
			arm()
			_, _, err := g.issue("user", phone)
			return err
		},
		"issue to another contact": func(g *game, arm func()) error {
			g.mustIssue("user", phone)
			arm()
			_, _, err := g.issue("user", "+4915112345679")
			return err
		},
		"delivery fails": func(g *game, arm func()) error {
			g.box.fail = errors.New("mailbox on fire")
			arm()
			_, _, err := g.issue("user", phone)
			return err
		},
		"right code": func(g *game, arm func()) error {
			id, code := g.mustIssue("user", phone)
			arm()
			return g.verify(id, code)
		},
		"unknown code": func(g *game, arm func()) error {
			arm()
			return g.verify("0fcd14f5-dae7-4331-82ca-ebaddd849534", "AAAAAA")
		},
		"last wrong code": func(g *game, arm func()) error {
			id, code := g.mustIssue("user", phone)
			g.expect(g.verify(id, wrong(code)), otp.ErrWrong)
			arm()
			return g.verify(id, wrong(code))
		},
	} {
		t.Run(name, func(t *testing.T) {
			steps := withFuse(t, -1, scenario)
			if steps < 4 {
				t.Fatalf("%d steps, want at least 4", steps)
			}
			for step := range steps {
				t.Run(fmt.Sprint(step+1), func(t *testing.T) { withFuse(t, step+1, scenario) })
			}
		})
	}
}

// withFuse plays a scenario with a fuse that blows the given number of steps after it
// was armed, or never, and returns how many steps were taken since then.
func withFuse(t *testing.T, step int, scenario func(g *game, arm func()) error) int {
	blown := &fuse{left: -1}
	service, box := newService(t, func(c *otp.Config) {
		c.Store = faultyStore{memory.New(0), blown}
		c.Secret = faultySecret{c.Secret.(secret), blown}
		c.Limits = otp.Limits{LiveCodes: 1, TriesPerCode: 2}
	})
	err := scenario(&game{t, service, box}, func() { *blown = fuse{left: step} })
	if step > 0 && !errors.Is(err, errFault) {
		t.Errorf("error %v, want the fault", err)
	}
	return blown.steps
}

// TestConsumeBeforeAttempt checks that a verification that has not tried its code
// proves nothing and uses nothing up.
func TestConsumeBeforeAttempt(t *testing.T) {
	service, box := newService(t, nil)
	g := &game{t, service, box}
	id, code := g.mustIssue("user", phone)
	verification, err := service.PrepareVerification(org, id, code, store.Fingerprint{})
	testenv.Must(t, err)
	if verified, err := verification.Verified(); err == nil || verified != (otp.Verified{}) {
		t.Errorf("before the attempt: verified %+v", verified)
	}
	if err := memory.New(0).Change(t.Context(), org, verification.Consume()); !errors.Is(err, otp.ErrUsed) {
		t.Errorf("consumed before the attempt: %v", err)
	}
	g.expect(g.verify(id, code), nil)
}
