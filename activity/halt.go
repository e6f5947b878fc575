package activity

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// HaltIntent asks to stop signing: for the whole organization if it names neither a user nor
// a key. It has the parameters of halt.
type HaltIntent struct {
	UserID  string `json:"userId,omitempty"`       // what the user submits or approves
	KeyID   string `json:"privateKeyId,omitempty"` // what the key signs
	Answers bool   `json:"answers,omitempty"`      // what was signed before is not answered again either
}

// ResumeIntent asks to end the halt of what it names. It has the parameters of resume.
type ResumeIntent struct {
	UserID string `json:"userId,omitempty"`
	KeyID  string `json:"privateKeyId,omitempty"`
}

// HaltResult is the result of a [HaltIntent] (haltResult).
type HaltResult struct {
	Of string `json:"of"` // whose signatures stop: the organization, user ID or key ID
}

// ResumeResult is the result of a [ResumeIntent] (resumeResult).
type ResumeResult struct {
	Of      string `json:"of"`
	Missing int    `json:"missing"` // how many more users have to ask for it; 0: it has ended
}

// ActivityType implements Intent.
func (HaltIntent) ActivityType() Type { return TypeHalt }

// ActivityType implements Intent.
func (ResumeIntent) ActivityType() Type { return TypeResume }

// ActivityType implements Result.
func (HaltResult) ActivityType() Type { return TypeHalt }

// ActivityType implements Result.
func (ResumeResult) ActivityType() Type { return TypeResume }

// haltSentence says what a halt or the end of one did; empty for another result.
func haltSentence(result Result) string {
	switch result := result.(type) {
	case HaltResult:
		return "signing is halted for " + result.Of
	case ResumeResult:
		if result.Missing > 0 {
			return fmt.Sprintf("signing stays halted for %s until %d more users ask to resume it", result.Of, result.Missing)
		}
		return "signing is resumed for " + result.Of
	}
	return ""
}

func decodeHalt(parameters *parameterText) (Intent, bool, error) {
	var intent HaltIntent
	proofs, err := parameters.read(
		optional("userId", &intent.UserID),
		optional("privateKeyId", &intent.KeyID),
		strictjson.Optional("answers", &intent.Answers),
	)
	if err == nil {
		err = ResumeIntent{intent.UserID, intent.KeyID}.check()
	}
	return intent, proofs, err
}

func decodeResume(parameters *parameterText) (Intent, bool, error) {
	var intent ResumeIntent
	proofs, err := parameters.read(optional("userId", &intent.UserID), optional("privateKeyId", &intent.KeyID))
	if err == nil {
		err = intent.check()
	}
	return intent, proofs, err
}

func (i ResumeIntent) check() error {
	if i.UserID != "" && i.KeyID != "" {
		return NewError(ReasonRequestInvalid, "privateKeyId", nil, "userId, privateKeyId: expected at most one of the two")
	}
	return nil
}
