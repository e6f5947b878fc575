package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestBetween lets something happen before each single statement of a call.
func TestBetween(t *testing.T) {
	server := testenv.Postgres(t)
	dsn := schema(t, server)
	p, address := through(t, dsn)
	s := open(t, address)
	t.Run("broken", func(t *testing.T) { brokenBetween(t, p, s, dsn) })
	t.Run("swept", func(t *testing.T) { sweptBetween(t, p, s, open(t, dsn+" lock_timeout=20ms")) })
}

// brokenBetween has connections break, contexts end and an administrator end
// sessions while a code is redeemed. The call says so, or nothing came of it;
// a repeated call finds the code tried and used once, and one record.
func brokenBetween(t *testing.T, p *proxy, s *postgres.Store, dsn string) {
	administrator := connect(t, dsn)
	run := func(statement string) {
		if _, err := administrator.Exec(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
	for name, test := range map[string]struct {
		verdict              verdict
		begin, commit, other error // what the call returns when it happens before these
	}{
		"statement lost": {isLost, nil, store.ErrUnavailable, store.ErrUnavailable},
		"answer lost":    {losesReply, nil, store.ErrUnavailable, store.ErrUnavailable},
		"context ended":  {isHeld, context.Canceled, context.Canceled, context.Canceled},
		"session ended":  {passes, nil, store.ErrUnavailable, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				r := redemption{id: fmt.Sprint(name, " ", n)}
				r.insert(t, s)
				ctx, cancel := context.WithCancel(t.Context())
				want := test.other
				met := p.at(n, func(statement string) verdict {
					switch {
					case strings.HasPrefix(statement, "begin;"):
						want = test.begin
					case statement == "commit":
						want = test.commit
					}
					switch test.verdict {
					case isHeld:
						cancel()
					case passes:
						run(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
							WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
					}
					return test.verdict
				})
				err := r.carryOut(ctx, s)
				cancel()
				if !met() {
					if n < 8 || err != nil {
						t.Errorf("with %d statements: %v", n-1, err)
					}
					return
				}
				if !errors.Is(err, want) || errors.Is(err, store.ErrUnavailable) != (want == store.ErrUnavailable) {
					t.Errorf("before statement %d: %v, want %v", n, err, want)
				}
				if err != nil {
					err = r.carryOut(t.Context(), s)
				}
				if errors.Is(err, errBusy) {
					run(`UPDATE countersign_activities SET lease_until = '-infinity' WHERE id IS NULL`)
					err = r.carryOut(t.Context(), s)
				}
				if err != nil {
					t.Errorf("asked again after statement %d: %v", n, err)
				}
				r.once(t, s)
			}
		})
	}
}

// redemption is a request that redeems a code.
type redemption struct {
	id string // of everything there is
}

func (r redemption) insert(t *testing.T, s *postgres.Store) {
	t.Helper()
	if err := s.Change(t.Context(), "org", without(func(ledger otpledger.Ledger) error {
		return ledger.Insert(codeOf(r.id, otpledger.StateLive))
	})); err != nil {
		t.Fatal(err)
	}
}

func (r redemption) meter() (key otpledger.MeterKey) {
	copy(key[:], r.id)
	return key
}

var errBusy = errors.New("somebody has the lease")

// carryOut does what an engine does with the request, once.
func (r redemption) carryOut(ctx context.Context, s *postgres.Store) error {
	begun, err := s.Begin(ctx, claimOf(r.id), without(r.attempt))
	switch {
	case err != nil:
		return err
	case begun.Wait != nil:
		return errBusy
	case begun.Recorded != nil:
		return nil
	}
	return s.Complete(ctx, *begun.Lease, activityOf(r.id), without(func(ledger otpledger.Ledger) error {
		moved, err := ledger.Move(r.id, otpledger.StateLive, otpledger.StateUsed)
		if err == nil && !moved {
			err = errors.New("the code was used before")
		}
		return err
	}))
}

func (r redemption) attempt(ledger otpledger.Ledger) error {
	meters, err := ledger.Meters(r.meter())
	if err != nil {
		return err
	}
	_, try, err := ledger.Try(r.id, claimOf(r.id).Fingerprint, 1, time.Now())
	if err != nil {
		return err
	}
	switch try {
	case otpledger.TryRefused:
		return errors.New("the code was tried too often")
	case otpledger.TryCounted:
		meters[0].Tried = append(meters[0].Tried, otpledger.Event{At: 1, N: 1})
	}
	return ledger.SetMeter(r.meter(), meters[0])
}

// once expects that the code was tried once, and used, and all is recorded.
func (r redemption) once(t *testing.T, s *postgres.Store) {
	t.Helper()
	if got, err := s.Get(t.Context(), "org", r.id); err != nil || string(got.Data) != string(activityOf(r.id).Data) {
		t.Errorf("the record is %q, %v", got.Data, err)
	}
	if err := s.Change(t.Context(), "org", without(func(ledger otpledger.Ledger) error {
		meters, err := ledger.Meters(r.meter())
		if err != nil {
			return err
		}
		code, err := ledger.Code(r.id)
		if code.State != otpledger.StateUsed || !reflect.DeepEqual(code.Tried, []store.Fingerprint{claimOf(r.id).Fingerprint}) || len(meters[0].Tried) != 1 {
			t.Errorf("the code is in state %d, tried by %x, and counted %d times", code.State, code.Tried, len(meters[0].Tried))
		}
		return err
	})); err != nil {
		t.Error(err)
	}
}

// sweptBetween sweeps while a meter is counted up that has run out: the count is
// not lost with it.
func sweptBetween(t *testing.T, p *proxy, s, sweeper *postgres.Store) {
	count := func(at time.Time) error {
		return s.Change(t.Context(), "org", without(func(ledger otpledger.Ledger) error {
			meters, err := ledger.Meters(meterKey)
			if err != nil {
				return err
			}
			meters[0].Sent = append(meters[0].Sent, otpledger.Event{At: at.UnixMilli(), N: 1})
			meters[0].Until = at.UnixMilli()
			return ledger.SetMeter(meterKey, meters[0])
		}))
	}
	for n := 1; ; n++ {
		testenv.Must(t, count(time.UnixMilli(1)))
		met := p.at(n, func(string) verdict {
			if _, err := sweeper.Sweep(t.Context(), time.UnixMilli(2)); err != nil && !strings.Contains(err.Error(), "lock timeout") {
				t.Error(err)
			}
			return passes
		})
		err := count(time.UnixMilli(3))
		if !met() {
			if n < 4 {
				t.Errorf("there were %d statements", n-1)
			}
			return
		}
		meter := otpledger.Meter{}
		if err := errors.Join(err, s.Change(t.Context(), "org", without(func(ledger otpledger.Ledger) error {
			meters, err := ledger.Meters(meterKey)
			if err == nil {
				meter = meters[0]
			}
			return err
		}))); err != nil || len(meter.Sent) == 0 || meter.Sent[len(meter.Sent)-1].At != 3 {
			t.Errorf("swept before statement %d: %+v, %v", n, meter, err)
		}
		if _, err := sweeper.Sweep(t.Context(), time.UnixMilli(4)); err != nil {
			t.Error(err)
		}
	}
}
