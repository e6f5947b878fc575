package activity

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// HaltIntent asks to halt signing, or to resume it: for the whole organization if it names
// neither a user nor a key. It has the parameters of halt and resume.
type HaltIntent struct {
	UserID  string `json:"userId,omitempty"`       // what the user submits or approves
	KeyID   string `json:"privateKeyId,omitempty"` // what the key signs
	Answers bool   `json:"answers,omitempty"`      // of halt: what was signed before is not answered again either

	kind Type
}

// HaltResult is the result of a [HaltIntent] (haltResult).
type HaltResult struct {
	Of      string `json:"of"`      // the organization, user ID or key ID
	Halted  bool   `json:"halted"`  // signing is halted for it
	Missing int    `json:"missing"` // how many more users have to ask to resume it, if some have
}

// NewHalt returns the intent of a halt; of nothing but the organization's if both ids are empty.
func NewHalt(userID, keyID string, answers bool) HaltIntent {
	return HaltIntent{userID, keyID, answers, TypeHalt}
}

// NewResume returns the intent to end a halt.
func NewResume(userID, keyID string) HaltIntent { return HaltIntent{userID, keyID, false, TypeResume} }

// ActivityType implements Intent.
func (i HaltIntent) ActivityType() Type { return i.kind }

// ActivityType implements Result. What resumes has the same result.
func (HaltResult) ActivityType() Type { return TypeHalt }

// Sentence says what came of it.
func (r HaltResult) Sentence() string {
	switch {
	case r.Missing > 0:
		return fmt.Sprintf("signing stays halted for %s until %d more users ask to resume it", r.Of, r.Missing)
	case r.Halted:
		return "signing is halted for " + r.Of
	}
	return "signing is resumed for " + r.Of
}

func decodeHalt(kind Type) func(*parameterText) (Intent, bool, error) {
	return func(parameters *parameterText) (Intent, bool, error) {
		intent := HaltIntent{kind: kind}
		fields := []strictjson.Field{optional("userId", &intent.UserID), optional("privateKeyId", &intent.KeyID)}
		if kind == TypeHalt {
			fields = append(fields, strictjson.Optional("answers", &intent.Answers))
		}
		proofs, err := parameters.read(fields...)
		if err == nil && intent.UserID != "" && intent.KeyID != "" {
			err = NewError(ReasonRequestInvalid, "privateKeyId", nil, "userId, privateKeyId: expected at most one of the two")
		}
		return intent, proofs, err
	}
}
