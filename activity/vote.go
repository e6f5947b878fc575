package activity

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// VoteIntent is a vote on an activity that waits. It has the parameters of
// approve_activity and reject_activity.
type VoteIntent struct {
	// Fingerprint is the fingerprint of the activity's body.
	Fingerprint Fingerprint `json:"fingerprint"`

	// Shown is the [ShownDigest] of what the voter was shown, in lower-case hex. It
	// is empty if the vote does not commit to that.
	Shown string `json:"shown,omitempty"`

	kind Type
}

// CheckShown refuses a vote on something else than what has a digest, in lower-case hex.
// A vote need not say what was shown.
func (v VoteIntent) CheckShown(digest string) error {
	if v.Shown != "" && v.Shown != digest {
		return fmt.Errorf("it is on another reading: its body says that %s was shown, and not %s", v.Shown, digest)
	}
	return nil
}

func (v VoteIntent) ActivityType() Type { return v.kind }

// Selection returns the vote's choice.
func (v VoteIntent) Selection() Selection {
	if v.kind == TypeApproveActivity {
		return SelectionApproved
	}
	return SelectionRejected
}

func decodeVote(kind Type) func(*parameterText) (Intent, bool, error) {
	return func(parameters *parameterText) (Intent, bool, error) {
		var fingerprint string
		intent := VoteIntent{kind: kind}
		proofs, err := parameters.read(
			required("fingerprint", &fingerprint),
			optional("shown", &intent.Shown),
		)
		if err != nil {
			return intent, proofs, err
		}
		if intent.Shown != "" && !isDigest(intent.Shown) {
			return intent, proofs, NewError(ReasonRequestInvalid, "shown", nil,
				"shown: expected 64 lower-case hex digits")
		}
		intent.Fingerprint, err = ParseFingerprint(fingerprint)
		return intent, proofs, err
	}
}

// ParseFingerprint parses "sha256:" and 64 lower-case hex digits. Its error is an [*Error].
func ParseFingerprint(text string) (Fingerprint, error) {
	var parsed Fingerprint
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || !isDigest(digits) {
		return parsed, NewError(ReasonRequestInvalid, "fingerprint", nil,
			"fingerprint %s: expected sha256: and 64 lower-case hex digits, as in the activity", quoted(text))
	}
	_, err := hex.Decode(parsed[:], []byte(digits))
	return parsed, err
}

// isDigest reports whether text is 32 bytes in lower-case hex.
func isDigest(text string) bool {
	return len(text) == 2*len(Fingerprint{}) && strings.Trim(text, lowerHex) == ""
}

// NewApproval returns the intent of a vote for an activity.
func NewApproval(of Fingerprint, shown string) VoteIntent {
	return VoteIntent{Fingerprint: of, Shown: shown, kind: TypeApproveActivity}
}

// NewRejection returns the intent of a vote against an activity.
func NewRejection(of Fingerprint, shown string) VoteIntent {
	return VoteIntent{Fingerprint: of, Shown: shown, kind: TypeRejectActivity}
}

// HaltIntent asks to halt signing, or to resume it: for the whole organization if it names none of
// the others. It has the parameters of halt and resume.
type HaltIntent struct {
	UserID  string `json:"userId,omitempty"`       // what the user submits or approves
	KeyID   string `json:"privateKeyId,omitempty"` // what the key signs
	Policy  string `json:"policy,omitempty"`       // of resume: the SHA-256, in hex, of a policy that is held back
	Answers bool   `json:"answers,omitempty"`      // of halt: what was signed before is not answered again either

	kind Type
}

// HaltResult is the result of a [HaltIntent] (haltResult).
type HaltResult struct {
	Of      string `json:"of"`                // the organization, user ID, key ID or policy DIGEST
	Halted  bool   `json:"halted"`            // signing is halted for it, or the policy is held back
	Missing int    `json:"missing"`           // how many more users have to ask to resume it, if some have
	Warning string `json:"warning,omitempty"` // what would end a halt besides its end
}

// NewHalt returns the intent of a halt: of the organization if both ids are empty.
func NewHalt(userID, keyID string, answers bool) HaltIntent {
	return HaltIntent{userID, keyID, "", answers, TypeHalt}
}

// NewResume returns the intent to end a halt.
func NewResume(userID, keyID string) HaltIntent {
	return HaltIntent{userID, keyID, "", false, TypeResume}
}

// NewPolicyResume returns the intent to let the policy whose file has a SHA-256 take effect.
func NewPolicyResume(digest [32]byte) HaltIntent {
	return HaltIntent{Policy: hex.EncodeToString(digest[:]), kind: TypeResume}
}

func (i HaltIntent) ActivityType() Type { return i.kind }

// ActivityType implements Result. What resumes has the same result.
func (HaltResult) ActivityType() Type { return TypeHalt }

// Sentence says what came of it.
func (r HaltResult) Sentence() string {
	switch policy := strings.HasPrefix(r.Of, "policy "); {
	case policy && r.Missing > 0:
		return fmt.Sprintf("%s is held back until %d more users ask for it", r.Of, r.Missing)
	case policy:
		return r.Of + " may take effect: reload the configuration that names it"
	case r.Missing > 0:
		return fmt.Sprintf("signing stays halted for %s until %d more users ask to resume it", r.Of, r.Missing)
	case r.Warning != "":
		return "signing is halted for " + r.Of + ": " + r.Warning
	case r.Halted:
		return "signing is halted for " + r.Of
	}
	return "signing is resumed for " + r.Of
}

func decodeHalt(kind Type) func(*parameterText) (Intent, bool, error) {
	return func(parameters *parameterText) (Intent, bool, error) {
		intent := HaltIntent{kind: kind}
		var user, key, policy []byte
		fields := []strictjson.Field{
			strictjson.Optional("userId", &user).AtMost(boundOf("userId")),
			strictjson.Optional("privateKeyId", &key).AtMost(boundOf("privateKeyId")),
		}
		if kind == TypeHalt {
			fields = append(fields, strictjson.Optional("answers", &intent.Answers))
		} else {
			fields = append(fields, strictjson.Optional("policy", &policy).AtMost(boundOf("policy")))
		}
		proofs, err := parameters.read(fields...)
		intent.UserID, intent.KeyID, intent.Policy = string(user), string(key), string(policy)
		switch {
		case err != nil:
		case policy != nil && (user != nil || key != nil):
			err = NewError(ReasonRequestInvalid, "policy", nil, "policy: expected no userId or privateKeyId beside it")
		case policy != nil && !isDigest(intent.Policy):
			err = NewError(ReasonRequestInvalid, "policy", nil,
				"policy: expected 64 lower-case hex digits, the sha256 of its file")
		case user != nil && key != nil:
			err = NewError(ReasonRequestInvalid, "privateKeyId", nil, "userId, privateKeyId: expected at most one")
		case intent.UserID == "" && intent.KeyID == "" && (user != nil || key != nil):
			err = NewError(ReasonRequestInvalid, "userId", nil,
				"userId, privateKeyId: an empty id names none: leave both out for the whole organization")
		}
		return intent, proofs, err
	}
}
