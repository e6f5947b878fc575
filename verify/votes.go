package verify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/stamp"
)

// ErrVotes is wrapped by the errors of Votes.
var ErrVotes = errors.New("the votes do not verify")

// Votes checks the stamps of a record offline. It needs only the public keys of
// the members: the first stamp is the submitter's over exactly the recorded body, each
// further one is by another member over a body that approves exactly this activity as the
// record says that it was shown, and together they fill the groups that the policy
// demanded when the activity was submitted: the groups of one rule by different people, with the
// submission for a vote only if its credential may vote. The tags are those in members.
//
// A credential that has expired since then counts, since it was valid at the stamped time. Votes
// returns the approvals, the submitter's first, each with its stamped time; use [access.Missing] to
// count them in other groups. The error wraps ErrVotes and names the vote.
//
// No stamp covers a vote's id, the name of its user, the time when it was counted, and what the policy
// demanded. The server vouches for those; its log keeps it from changing them later.
func Votes(record *activity.Record, members []access.Member) ([]access.Vote, error) {
	shown := nothingShown
	if record.Reading != nil {
		shown = hexDigest(record.Reading.Digest())
	}
	votes, err := verifyVotes(record.Request.Body, record.Votes, members, shown)
	if err == nil && record.Status == activity.StatusCompleted {
		err = enoughVotes(votes, record.Decision.Required)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrVotes, err)
	}
	return votes, nil
}

func (v *verification) votes() (string, error) {
	verified, err := verifyVotes(v.trust.Body, v.activity.Votes, v.trust.Members, v.trust.Shown)
	if err != nil {
		return "", err
	}
	return "", enoughVotes(verified, v.trust.Approvals)
}

// enoughVotes refuses votes that do not fill all groups at the time of the last vote.
func enoughVotes(votes []access.Vote, groups []access.Group) error {
	last := slices.MaxFunc(votes, func(a, b access.Vote) int { return a.At.Compare(b.At) }).At
	submitter := votes[0].User.ID
	if !(&access.Member{Credential: votes[0].Credential}).May(activity.TypeApproveActivity) {
		votes = votes[1:] // the submission is no vote
	}
	for i, missing := range access.Missing(groups, votes, submitter, last) {
		if missing > 0 {
			return fmt.Errorf("%d of the %d votes that rule %s demanded are missing", missing, groups[i].Count,
				groups[i].Rule)
		}
	}
	return nil
}

// nothingShown is the digest of what was shown if the record has no reading: no vote can be on it.
const nothingShown = "nothing"

// verifyVotes verifies the votes on a body. shown is the digest of what the voters were
// shown; if it is empty, those that name one must name the same.
func verifyVotes(body []byte, recorded []activity.Vote, members []access.Member, shown string) ([]access.Vote, error) {
	if len(recorded) == 0 {
		return nil, errors.New("there are none, not even the submitter's")
	}
	votes := make([]access.Vote, len(recorded))
	for i := range recorded {
		var err error
		if votes[i], err = verifyVote(body, &recorded[i], i == 0, members, &shown); err != nil {
			return nil, fmt.Errorf("votes[%d], of user %s: %w", i, plaintext.Shorten(recorded[i].UserID, maxQuoted),
				err)
		}
		if i > 0 && slices.ContainsFunc(votes[1:i], func(other access.Vote) bool { return other.User.ID == votes[i].User.ID }) {
			return nil, fmt.Errorf("votes[%d]: user %s voted before", i, votes[i].User.ID)
		}
	}
	return votes, nil
}

// verifyVote checks one vote: what its body says, and that its stamp is a member's.
func verifyVote(body []byte, recorded *activity.Vote, first bool, members []access.Member, shown *string) (vote access.Vote, err error) {
	message := body
	if !first {
		message = []byte(recorded.Message)
	}
	request, err := activity.Decode(message)
	if err != nil {
		return vote, err
	}
	if first {
		if err := unstamped(request); err != nil {
			return vote, err
		}
		if recorded.Message != "" && recorded.Message != string(body) { // a record leaves the text out
			err = errors.New("it is over another body")
		}
	} else {
		err = votesFor(request, body, shown)
	}
	if recorded.Selection != activity.SelectionApproved {
		err = errors.Join(err, fmt.Errorf("it is %s", plaintext.Shorten(string(recorded.Selection), maxQuoted)))
	}
	if err != nil {
		return vote, err
	}
	i := slices.IndexFunc(members, func(member access.Member) bool {
		return member.User.ID == recorded.UserID && member.Credential.PublicKeyText() == recorded.PublicKey
	})
	if i < 0 {
		return vote, errors.New("the organization has no such user with this public key")
	}
	member := members[i]
	if err := sameVote(recorded, &member, request); err != nil {
		return vote, err
	}
	if !member.May(request.Type) {
		return vote, fmt.Errorf("the credential may not submit %s", request.Type)
	}
	if err := verifyStamp(member.Credential, recorded, message, request.Time()); err != nil {
		return vote, err
	}
	return access.Vote{User: member.User, Credential: member.Credential, At: request.Time()}, nil
}

// sameVote refuses a vote whose record contradicts its stamp or its body.
func sameVote(recorded *activity.Vote, member *access.Member, request *activity.Request) error {
	switch {
	case recorded.Credential != "" && recorded.Credential != string(member.Credential.ID()):
		return fmt.Errorf("it is recorded for credential %s, but its public key is that of %s",
			plaintext.Shorten(recorded.Credential, maxQuoted), member.Credential.ID())
	case !recorded.StampedAt.IsZero() && !recorded.StampedAt.Equal(request.Time()):
		return fmt.Errorf("it is recorded as stamped at %s, but its body says %s",
			recorded.StampedAt.UTC().Format(time.RFC3339Nano), request.Time().UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// votesFor refuses a vote unless it approves the activity of body, as it was shown. If
// shown is empty, it becomes what this vote is on.
func votesFor(request *activity.Request, body []byte, shown *string) error {
	intent, ok := request.Intent.(activity.VoteIntent)
	submitted, err := activity.Decode(body)
	switch {
	case err != nil:
		return err
	case !ok || intent.Selection() != activity.SelectionApproved:
		return fmt.Errorf("its body is %s, not an approval", request.Type)
	case intent.Fingerprint != activity.Fingerprint(sha256.Sum256(body)):
		return fmt.Errorf("it approves %s, another activity", intent.Fingerprint)
	case request.OrganizationID != submitted.OrganizationID:
		return errors.New("it is for another organization")
	}
	if *shown == "" {
		*shown = intent.Shown
	}
	return intent.CheckShown(*shown)
}

func verifyStamp(credential *stamp.Credential, recorded *activity.Vote, message []byte, at time.Time) error {
	if recorded.Signature == "" {
		return errors.New("it has no signature: another user's is shown only after its stamp has expired, and a " +
			"local call has none")
	}
	header := stamp.Header{Name: stamp.HeaderPasskey, Value: recorded.Signature}
	if !credential.IsPasskey() {
		text, err := json.Marshal(struct {
			PublicKey string `json:"publicKey"`
			Scheme    string `json:"scheme"`
			Signature string `json:"signature"`
		}{recorded.PublicKey, recorded.Scheme, recorded.Signature})
		if err != nil {
			return err
		}
		header = stamp.Header{Name: stamp.HeaderAPIKey, Value: base64.RawURLEncoding.EncodeToString(text)}
	}
	sent, err := stamp.Parse(header)
	if err != nil {
		return err
	}
	return credential.Verify(sent, message, at)
}

// Submitter is what an engine says about the caller of a request that has no stamp: the
// user of [countersign.Engine.As], of a JSON-RPC call, or of sign on the command line.
type Submitter struct {
	UserID         string `json:"userId"`
	Authentication string `json:"authentication"` // LOCAL, or CERTIFICATE and the name in it
	Proven         string `json:"proven"`         // what the answer proves about the caller
	NotProven      string `json:"notProven"`      // and what it does not
}

// SubmitterOf returns what the engine says about the caller of the request in trust.Body. It
// is nil for a request with a stamp, which proves who made it (see [Votes]).
func SubmitterOf(trust Trust) (*Submitter, error) {
	request, err := activity.Decode(trust.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: the body of the request: %w", ErrAnswer, err)
	}
	if request.Submitter == (activity.Submitter{}) {
		return nil, nil
	}
	return submitterOf(request, trust.ProofKey != nil || trust.LogKey != ""), nil
}

func submitterOf(request *activity.Request, proven bool) *Submitter {
	by := request.Submitter
	said := &Submitter{
		UserID: by.UserID, Authentication: by.Scheme,
		Proven: fmt.Sprintf("the engine judged, charged and recorded the request as one of user %s, whom it "+
			"recognized by %s", by.UserID, by.Scheme),
	}
	if !proven {
		said.Proven = "nothing about the caller: neither a proof key nor a log key was given"
	}
	kind, name, _ := strings.Cut(by.Scheme, " ")
	switch kind {
	case activity.SchemeLocal:
		said.NotProven = "that the user asked for it: there is no stamp, and the program that runs the engine, or " +
			"the person at its terminal, named the user"
	case "CERTIFICATE":
		said.NotProven = fmt.Sprintf("that the holder of the certificate of %s asked for these bytes: there is no "+
			"stamp over them. "+
			"The engine saw the certificate on a connection, and its operator could make such a "+
			"record without one", name)
	default:
		said.NotProven = "that the user asked for it: there is no stamp, and the operator of the engine could make " +
			"such a record without the user"
	}
	return said
}

// unstamped is why the submitter's vote cannot be verified if the body has no stamp.
func unstamped(request *activity.Request) error {
	if request.Submitter == (activity.Submitter{}) {
		return nil
	}
	said := submitterOf(request, true)
	return fmt.Errorf("the call was made without a stamp, and only the engine vouches for its submitter, recorded as "+
		"%s: it does not prove %s",
		plaintext.Shorten(said.Authentication, maxQuoted), said.NotProven)
}
