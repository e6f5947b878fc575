package storetest

import (
	"errors"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testkit/tape"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// script is a store.Change that performs some steps, records their answers, and ends as
// requested.
type script struct {
	steps   []func(otpledger.Ledger) (any, error)
	end     error // nil, errRefused or errFailed
	answers []any
}

// Apply implements store.Change.
func (s *script) Apply(ledger store.Ledger) (refusal, err error) {
	return s.run(otpledger.Over(ledger))
}

func (s *script) run(ledger otpledger.Ledger) (refusal, err error) {
	s.answers = nil
	for _, step := range s.steps {
		answer, err := step(ledger)
		if err != nil {
			return nil, err
		}
		s.answers = append(s.answers, answer)
	}
	if s.fails() {
		return nil, s.end
	}
	return s.end, nil
}

// fails reports whether the script ends in an error, which undoes its writes.
func (s *script) fails() bool { return errors.Is(s.end, errFailed) }

// change returns the script as a store.Change, or nil if it does nothing.
func (s *script) change() store.Change {
	if len(s.steps) == 0 && s.end == nil {
		return nil
	}
	return s
}

// script chooses a change. Meters come before codes, as the ledger requires.
func (p *player) script(organizationID string) *script {
	var chosen script
	if p.tape.OneIn(3) {
		chosen.steps = append(chosen.steps, count(tape.Pick(p.tape, meterKeys...), p.now))
	}
	for range p.tape.Intn(3) {
		chosen.steps = append(chosen.steps, p.codeStep(organizationID))
	}
	switch p.tape.Intn(6) {
	case 4:
		chosen.end = errRefused
	case 5:
		chosen.end = errFailed
	}
	return &chosen
}

// codeStep chooses a step on a code. It avoids codes that a store may have swept, and
// those that are new in this script.
func (p *player) codeStep(organizationID string) func(otpledger.Ledger) (any, error) {
	id, now := tape.Pick(p.tape, codeIDs...), p.now
	if p.gone[nameKey{organizationID, id}] {
		id = "nobody's"
	}
	switch p.tape.Intn(5) {
	case 0, 1:
		code := testCode(id, tape.Pick(p.tape, otpledger.StatePending, otpledger.StateLive))
		code.CreatedAt = now.Truncate(time.Millisecond)
		code.ExpiresAt = code.CreatedAt.Add(tape.Pick(p.tape, time.Second, time.Hour))
		return insertNew(code)
	case 2:
		by, most := fingerprint(tape.Pick(p.tape, bodies...)), 1+p.tape.Intn(3)
		return func(ledger otpledger.Ledger) (any, error) {
			code, try, err := ledger.Try(id, by, most, now)
			if try == otpledger.TryRefused {
				code = otpledger.Code{} // of an unknown code there is nothing to compare
			}
			return []any{code, try}, err
		}
	case 3:
		from := tape.Pick(p.tape, otpledger.StatePending, otpledger.StateLive, otpledger.StateUsed)
		to := tape.Pick(p.tape, otpledger.StateLive, otpledger.StateUsed, otpledger.StateDead)
		return func(ledger otpledger.Ledger) (any, error) { return ledger.Move(id, from, to) }
	}
	return read(id)
}

// insertNew inserts a code if there is none with its id.
func insertNew(code otpledger.Code) func(otpledger.Ledger) (any, error) {
	return func(ledger otpledger.Ledger) (any, error) {
		_, err := ledger.Code(code.ID)
		if !errors.Is(err, otp.ErrUnknown) || code.ID == "nobody's" {
			return "there", ignoring(err, otp.ErrUnknown)
		}
		return "new", ledger.Insert(code)
	}
}

func read(id string) func(otpledger.Ledger) (any, error) {
	return func(ledger otpledger.Ledger) (any, error) {
		code, err := ledger.Code(id)
		return []any{code, errors.Is(err, otp.ErrUnknown)}, ignoring(err, otp.ErrUnknown)
	}
}

// count increments a meter.
func count(key otpledger.MeterKey, now time.Time) func(otpledger.Ledger) (any, error) {
	return func(ledger otpledger.Ledger) (any, error) {
		meters, err := ledger.Meters(key)
		if err != nil {
			return nil, err
		}
		before := len(meters[0].Sent)
		meters[0].Sent = append(meters[0].Sent, otpledger.Event{At: now.UnixMilli(), By: 7, N: 1})
		meters[0].Until = farAway.UnixMilli()
		return before, ledger.SetMeter(key, meters[0])
	}
}

// readAll reads all meters, and all codes except those that a store may have swept.
func (p *player) readAll(organizationID string) (steps []func(otpledger.Ledger) (any, error)) {
	steps = append(steps, func(ledger otpledger.Ledger) (any, error) { return ledger.Meters(meterKeys...) })
	for _, id := range codeIDs {
		if !p.gone[nameKey{organizationID, id}] {
			steps = append(steps, read(id))
		}
	}
	return steps
}

func ignoring(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
