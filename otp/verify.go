package otp

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
)

// maxTyped bounds the input that is hashed, in bytes. Codes are much shorter.
const maxTyped = 64

// Verified says what a correct code proves.
type Verified struct {
	ID             string
	OrganizationID string
	Type           Type
	Contact        string // canonical
}

// Verification is one request's try of a code. It must not be used concurrently.
//
//	verification, err := service.PrepareVerification(…)
//	store.Begin(ctx, claim, verification.Attempt(now))        // refuses a wrong code
//	verified, err := verification.Verified()
//	store.Complete(ctx, lease, activity, verification.Consume())
type Verification struct {
	organizationID string
	attempt        attempt
}

// PrepareVerification prepares a try of a code. It does not judge the code or the
// id, even a malformed one: Attempt refuses them all alike. by identifies the
// request, so that its replay counts only once.
func (s *Service) PrepareVerification(organizationID, id, typed string, by store.Fingerprint) (*Verification, error) {
	id = canonicalID(id)
	if len(typed) > maxTyped {
		typed = "" // never a code
	}
	v := &Verification{organizationID: organizationID, attempt: attempt{limits: s.limits, id: id, by: by}}
	var err error
	if v.attempt.hash, err = keyed(s.secret, labelCode, organizationID, id, normalize(typed)); err != nil {
		return nil, err
	}
	for i, meter := range []string{"user", "contact"} {
		if v.attempt.decoys[i], err = keyed(s.secret, labelDecoy, organizationID, meter); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Of returns which contact a code is for, and how it was sent, whether or not the code is still
// good: what a policy judges. Both are empty for an id that no code has.
func (s *Service) Of(ctx context.Context, organizationID, id string) (kind Type, contact string, err error) {
	err = s.store.Change(ctx, organizationID, change(func(ledger otpledger.Ledger) (refusal, err error) {
		code, err := ledger.Code(canonicalID(id))
		if errors.Is(err, ErrUnknown) {
			return nil, nil
		}
		kind, contact = Type(code.Type), code.Contact
		return nil, err
	}))
	return kind, contact, err
}

// Attempt returns the change that counts a try and compares, atomically. It refuses
// with a *CodeError or a *LimitError. A correct code stays live until Consume.
func (v *Verification) Attempt(now time.Time) store.Change {
	v.attempt.now = now.UTC().Truncate(time.Millisecond)
	return change(v.attempt.apply)
}

// Verified returns what the code proves. It fails unless Attempt found it correct.
func (v *Verification) Verified() (Verified, error) {
	code := v.attempt.matched
	if code == nil {
		return Verified{}, errors.New("otp: the code has not been verified")
	}
	return Verified{ID: code.ID, OrganizationID: v.organizationID, Type: Type(code.Type), Contact: code.Contact}, nil
}

// Consume returns the change that uses the code up. It refuses with a *CodeError if the code has
// been used or has died since Attempt, or if Attempt did not find it correct.
func (v *Verification) Consume() store.Change {
	id := "" // of no code
	if v.attempt.matched != nil {
		id = v.attempt.matched.ID
	}
	return change(func(ledger otpledger.Ledger) (refusal, err error) {
		moved, err := ledger.Move(id, otpledger.StateLive, otpledger.StateUsed)
		if err == nil && !moved {
			refusal = &CodeError{Why: ErrUsed}
		}
		return refusal, err
	})
}
