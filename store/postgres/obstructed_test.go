package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// changeFunc is an store.Change made of a function.
type changeFunc func(ledger otpledger.Ledger) (refusal, err error)

// Apply implements store.Change.
func (c changeFunc) Apply(ledger store.Ledger) (refusal, err error) { return c(otpledger.Over(ledger)) }

// without makes a change that never refuses.
func without(change func(ledger otpledger.Ledger) error) store.Change {
	return changeFunc(func(ledger otpledger.Ledger) (refusal, err error) { return nil, change(ledger) })
}

var meterKey = otpledger.MeterKey{1}

func codeOf(id string, state otpledger.State) otpledger.Code {
	now := time.Now().Truncate(time.Millisecond)
	return otpledger.Code{ID: id, Type: string(otp.TypeSMS), State: state, User: meterKey, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
}

// fill completes the activity "done", takes the lease on "held", and writes the
// codes "live" and "dead" and a meter.
func fill(t *testing.T, s *postgres.Store) (held store.Lease) {
	t.Helper()
	complete(t, s, "done")
	begun, err := s.Begin(t.Context(), claimOf("held"), without(func(ledger otpledger.Ledger) error {
		meters, err := ledger.Meters(meterKey)
		if err != nil {
			return err
		}
		meters[0].Sent = append(meters[0].Sent, otpledger.Event{At: 1, N: 1})
		return errors.Join(
			ledger.SetMeter(meterKey, meters[0]),
			ledger.Insert(codeOf("live", otpledger.StateLive)),
			ledger.Insert(codeOf("dead", otpledger.StateDead)))
	}))
	testenv.Must(t, err)
	return *begun.Lease
}

// call is something that a store is asked for.
type call func(ctx context.Context, s *postgres.Store) error

func begin(body string) call {
	return func(ctx context.Context, s *postgres.Store) error {
		begun, err := s.Begin(ctx, claimOf(body), nil)
		if begun.Lease == nil && begun.Recorded == nil && begun.Wait == nil && err == nil {
			return errors.New("Begin answers nothing at all")
		}
		return err
	}
}

func get(ctx context.Context, s *postgres.Store) error {
	_, err := s.Get(ctx, "org", "done")
	return err
}

func asking(ask func(ledger otpledger.Ledger) error) call {
	return func(ctx context.Context, s *postgres.Store) error { return s.Change(ctx, "org", without(ask)) }
}

func try(id string) call {
	return asking(func(ledger otpledger.Ledger) error {
		_, try, err := ledger.Try(id, store.Fingerprint{1}, 3, time.Now())
		if err != nil && try != otpledger.TryRefused {
			return fmt.Errorf("it may compare, outcome %d, in spite of %w", try, err)
		}
		return err
	})
}

var (
	readMeter = asking(func(ledger otpledger.Ledger) error { _, err := ledger.Meters(meterKey); return err })
	readCode  = asking(func(ledger otpledger.Ledger) error { _, err := ledger.Code("live"); return err })
)

// TestObstructed has single things that the database refuses, or that another
// hand has written into it: whatever needs them says so and changes nothing,
// and works when nothing is in the way.
func TestObstructed(t *testing.T) {
	server := testenv.Postgres(t)
	const swallow = `
		CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER swallow BEFORE INSERT ON countersign_activities FOR EACH ROW EXECUTE FUNCTION swallow()`
	type test struct {
		obstacle
		do []call
	}
	tests := map[string]test{
		"no right to take a lease": {obstacle{
			"REVOKE INSERT ON countersign_activities FROM clerk", "GRANT INSERT ON countersign_activities TO clerk",
			"permission denied for table countersign_activities"}, []call{begin("new"), begin("held")}},
		"a trigger that swallows leases": {obstacle{
			swallow, "DROP FUNCTION swallow CASCADE",
			"the lease kept changing hands: try again"}, []call{begin("new")}},
		"a column of another name": {obstacle{
			"ALTER TABLE countersign_activities RENAME submitted_by TO submitter", "ALTER TABLE countersign_activities RENAME submitter TO submitted_by",
			`column "submitted_by" does not exist`}, []call{begin("held"), begin("done"), get}},
		"activities locked": {obstacle{
			"BEGIN; LOCK countersign_activities IN EXCLUSIVE MODE", "ROLLBACK",
			"canceling statement due to lock timeout"}, []call{begin("new"), begin("held")}},

		"no right to make entries": {obstacle{
			"REVOKE INSERT ON countersign_ledgers FROM clerk", "GRANT INSERT ON countersign_ledgers TO clerk",
			"permission denied for table countersign_ledgers"}, []call{readMeter, try("live"), try("dead")}},
		"entries locked": {obstacle{
			"BEGIN; SELECT FROM countersign_ledgers FOR UPDATE", "ROLLBACK",
			"canceling statement due to lock timeout"}, []call{readMeter, try("live")}},
		"no right to read entries": {obstacle{
			"REVOKE SELECT ON countersign_ledgers FROM clerk", "GRANT SELECT ON countersign_ledgers TO clerk",
			"permission denied for table countersign_ledgers"}, []call{readMeter, readCode, try("live"), try("dead")}},
		"no right to write entries": {obstacle{
			"REVOKE UPDATE ON countersign_ledgers FROM clerk", "GRANT UPDATE ON countersign_ledgers TO clerk",
			"permission denied for table countersign_ledgers"}, []call{readMeter, try("live"), try("dead")}},
	}
	damaged := func(name, table, column, from, to, says string, do ...call) {
		set := "UPDATE countersign_" + table + " SET " + column + " = "
		tests[name] = test{obstacle{set + to, set + from, says}, do}
	}
	damaged("activity without submitter", "activities", "submitted_by", "''", "NULL", "submitted_by", begin("done"), get)
	damaged("activity without an end", "activities", "keep_until", "'epoch'", "NULL", "keep_until", begin("done"), get)
	damaged("activity for ever", "activities", "keep_until", "'epoch'", "'infinity'", "(col: keep_until)", begin("done"), get)
	damaged("activity of no request", "activities", "fingerprint", `fingerprint || '\x00'`, "substring(fingerprint for 31)", "(col: fingerprint): damaged: it has 31 bytes", get)
	damaged("meter of a newer program", "ledgers", "value", `'\x01'||substring(value from 2)`, `'\x02'||substring(value from 2)`, "otp: the meter has version 2, which this program does not support", readMeter)
	damaged("entry without an end", "ledgers", "keep_until", "'epoch'", "'infinity'", "keep_until", readMeter, readCode, try("live"))

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dsn := clerk(t, server)
			s := open(t, dsn)
			held := fill(t, s)
			other := test.put(t, dsn)
			before := dump(t, dsn+" user=postgres")
			for _, do := range test.do {
				test.unavailable(t, other, do(t.Context(), s))
			}
			if after := dump(t, dsn+" user=postgres"); !bytes.Equal(after, before) {
				t.Errorf("something was changed: there is\n%s, and there was\n%s", after, before)
			}
			test.clearAway(t, other)
			for _, do := range test.do {
				if err := do(t.Context(), s); err != nil {
					t.Errorf("with nothing in the way: %v", err)
				}
			}
			if err := s.Complete(t.Context(), held, activityOf("held"), nil); err != nil {
				t.Errorf("the lease that was held: %v", err)
			}
		})
	}
	t.Run("refused by the store", func(t *testing.T) { refusedByStore(t, open(t, clerk(t, server))) })
}

// refusedByStore: what the store itself refuses is not the database's fault, and
// what the database refuses is not taken for it.
func refusedByStore(t *testing.T, s *postgres.Store) {
	held := fill(t, s)
	lost := held
	lost.Token[0]++
	insert := without(func(ledger otpledger.Ledger) error { return ledger.Insert(codeOf("live", otpledger.StateLive)) })
	for name, test := range map[string]struct {
		err  error
		is   error
		says string
	}{
		"complete":           {s.Complete(t.Context(), lost, activityOf("lost"), nil), store.ErrLeaseLost, ""},
		"release":            {s.Release(t.Context(), lost, nil), store.ErrLeaseLost, ""},
		"id of an activity":  {s.Complete(t.Context(), held, activityOf("done"), nil), nil, "store: activity id done is taken"},
		"id of a code":       {s.Complete(t.Context(), held, activityOf("other"), insert), store.ErrUnavailable, "otp: the id live is taken"},
		"id that is no text": {s.Complete(t.Context(), held, activityOf("\x00"), nil), store.ErrUnavailable, "invalid byte sequence"},
	} {
		switch {
		case test.err == nil, test.is != nil && !errors.Is(test.err, test.is), !strings.Contains(test.err.Error(), test.says):
			t.Errorf("%s: %v, want %v: %s", name, test.err, test.is, test.says)
		case errors.Is(test.err, store.ErrUnavailable) != (test.is == store.ErrUnavailable):
			t.Errorf("%s: it may be tried again, or may not: %v", name, test.err)
		}
	}
	if err := s.Complete(t.Context(), held, activityOf("held"), nil); err != nil {
		t.Errorf("the lease that was held: %v", err)
	}
}
