package otp

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/store"
)

// maxTyped bounds what is hashed; no code is longer by far.
const maxTyped = 64

// Verified is what a right code proves.
type Verified struct {
	ID             string
	OrganizationID string
	Type           Type
	Contact        string // canonical
}

// Verification is one try of a code by one request. It is used by one goroutine
// at a time.
//
//	verification, err := service.PrepareVerification(…)
//	store.Begin(ctx, claim, verification.Attempt(now))        // refuses a wrong code
//	verified, err := verification.Verified()
//	store.Complete(ctx, lease, activity, verification.Consume())
type Verification struct {
	organizationID string
	attempt        attempt
}

// PrepareVerification makes ready to try a code. Everything about the code that
// could be wrong is found by Attempt, and refused in the same way: an id that is
// no id too. The fingerprint is that of the request: its replay is not counted
// again.
func (s *Service) PrepareVerification(organizationID, id, typed string, by Fingerprint) (*Verification, error) {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		id = uuid.Nil.String() // which no code has
	}
	if len(typed) > maxTyped {
		typed = "" // which no code is
	}
	v := &Verification{organizationID: organizationID, attempt: attempt{limits: s.limits, id: id, by: by}}
	var err error
	if v.attempt.hash, err = keyed(s.secret, labelCode, organizationID, id, normalize(typed)); err != nil {
		return nil, err
	}
	for i, which := range []string{"user", "contact"} {
		if v.attempt.nobody[i], err = keyed(s.secret, labelNobody, organizationID, which); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Attempt counts a try and compares, in one step. It refuses with a *CodeError
// or a *LimitError. A right code stays live until Consume.
func (v *Verification) Attempt(now time.Time) store.Change {
	v.attempt.now = now.UTC().Truncate(time.Millisecond)
	return stored{&v.attempt}
}

// Verified returns what the code proves, after Attempt has found it right.
func (v *Verification) Verified() (Verified, error) {
	code := v.attempt.matched
	if code == nil {
		return Verified{}, errors.New("otp: not verified")
	}
	return Verified{ID: code.ID, OrganizationID: v.organizationID, Type: code.Type, Contact: code.Contact}, nil
}

// Consume uses the code up. It refuses with a *CodeError if it was used or died
// since Attempt, or if Attempt did not find it right.
func (v *Verification) Consume() store.Change {
	if v.attempt.matched == nil {
		return stored{&consume{}}
	}
	return stored{&consume{id: v.attempt.matched.ID}}
}
