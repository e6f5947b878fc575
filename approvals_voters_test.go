package countersign_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
	memorykeys "github.com/countersign-dev/countersign/keystore/memory"
)

// voters replaces the directory by the submitter and the given voters.
func (b *ballot) voters(users ...access.UserConfig) {
	b.t.Helper()
	submitter := b.APIKey.Config()
	submitter.Activities = []activity.Type{activity.TypeSignTransaction}
	b.organization(append(users, access.UserConfig{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{submitter}})...)
}

// TestTwoCredentialsOfOneVoter checks that a user counts once, however many credentials
// there are, and that the newer vote replaces the older.
func TestTwoCredentialsOfOneVoter(t *testing.T) {
	b := newBallot(t)
	second := enginetest.NewAPIKey(t)
	b.voters(voter("ann", "finance", b.ann, second), voter("ben", "finance", b.ben))
	waiting := b.submit()
	b.approve(b.ann, waiting)
	b.Clock.Advance(time.Second)
	again := b.approve(second, waiting)
	b.is(again, activity.StatusConsensusNeeded)
	if len(again.Votes) != 2 || !strings.HasSuffix(again.Votes[1].Credential, second.PublicKey) {
		t.Errorf("%d votes, the last of %s", len(again.Votes), again.Votes[len(again.Votes)-1].Credential)
	}
	b.is(b.approve(b.ben, waiting), activity.StatusCompleted)
}

// TestPasskeyRequired checks that an API key cannot approve for a group that demands
// passkeys, though its user belongs to the group, but can reject.
func TestPasskeyRequired(t *testing.T) {
	b := newBallot(t)
	b.policy.set(func(p *approvers) { p.groups[0].Passkey = true })
	waiting := b.submit()
	_, err := b.vote(b.ann, activity.TypeApproveActivity, waiting)
	refusal(t, err, activity.ReasonNotAuthorized, "")
	b.signed(0)
	rejected, err := b.vote(b.ann, activity.TypeRejectActivity, waiting)
	if err != nil {
		t.Fatal(err)
	}
	b.is(rejected, activity.StatusRejected)
}

// TestVoterChanges checks that a voter's credential must still be valid when the last
// vote comes: not expired, allowed to vote, and its user's.
func TestVoterChanges(t *testing.T) {
	for name, change := range map[string]func(b *ballot) access.UserConfig{
		"expired": func(b *ballot) access.UserConfig {
			user := voter("ann", "finance", b.ann)
			user.APIKeys[0].ExpiresAt = b.Clock.Now().Add(-time.Second)
			return user
		},
		"may not vote any more": func(b *ballot) access.UserConfig {
			user := voter("ann", "finance", b.ann)
			user.APIKeys[0].Activities = []activity.Type{activity.TypeSignTransaction}
			return user
		},
		"may only reject": func(b *ballot) access.UserConfig {
			user := voter("ann", "finance", b.ann)
			user.APIKeys[0].Activities = []activity.Type{activity.TypeRejectActivity}
			return user
		},
		"another user's": func(b *ballot) access.UserConfig { return voter("mallory", "finance", b.ann) },
		"another key": func(b *ballot) access.UserConfig {
			return voter("ann", "finance", enginetest.NewAPIKey(b.t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBallot(t)
			b.voters(voter("ann", "finance", b.ann), voter("ben", "finance", b.ben))
			waiting := b.submit()
			b.approve(b.ann, waiting)
			b.voters(change(b), voter("ben", "finance", b.ben))
			b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
			b.resume()
			b.signed(0)
			b.voters(voter("ann", "finance", b.ann), voter("ben", "finance", b.ben))
			b.resume()
			b.signed(1)
		})
	}
}

// TestForeignVotes checks that a vote in another organization, or stamped by a user of
// another one, finds no activity, that a vote that is too old or too far ahead is
// refused, and that another request sent to the path of votes is not a vote.
func TestForeignVotes(t *testing.T) {
	b := newBallot(t)
	b.voters(voter("ann", "finance", b.ann), voter("ben", "finance", b.ben))
	waiting := b.submit()
	elsewhere := func(organization string, at time.Time) string {
		return voteBody(activity.TypeApproveActivity, waiting, organization, at, "")
	}
	now := b.Clock.Now()
	for name, test := range map[string]struct {
		sent   countersign.SignedBody
		reason activity.Reason
	}{
		"in another organization":      {b.Other.Sign(elsewhere(enginetest.OtherOrganization, now)), activity.ReasonNotFound},
		"by a user of another":         {b.Other.Sign(elsewhere(enginetest.Organization, now)), activity.ReasonSignatureInvalid},
		"by a member, for another":     {b.ann.Sign(elsewhere(enginetest.OtherOrganization, now)), activity.ReasonSignatureInvalid},
		"too old":                      {b.ann.Sign(elsewhere(enginetest.Organization, now.Add(-2*time.Hour))), activity.ReasonInvalidTime},
		"far ahead":                    {b.ann.Sign(elsewhere(enginetest.Organization, now.Add(time.Hour))), activity.ReasonInvalidTime},
		"by a key that may sign alone": {b.APIKey.Sign(elsewhere(enginetest.Organization, now)), activity.ReasonNotAuthorized},
	} {
		_, err := b.Engine.Submit(t.Context(), test.sent)
		t.Log(name)
		refusal(t, err, test.reason, "")
	}
	request := b.APIKey.Sign(b.Body(enginetest.Request{}))
	request.Type = activity.TypeApproveActivity
	_, err := b.Engine.Submit(t.Context(), request)
	refusal(t, err, activity.ReasonRequestInvalid, "")
	b.is(b.found(waiting), activity.StatusConsensusNeeded)
}

// TestVoteStampedAhead checks that a vote stamped minutes ahead lasts no longer than one
// that was stamped when it arrived.
func TestVoteStampedAhead(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	ahead := voteBody(activity.TypeApproveActivity, waiting, enginetest.Organization, b.Clock.Now().Add(4*time.Minute), "")
	mustSubmit(t, b.Engine, b.ann.Sign(ahead))
	b.Clock.Advance(access.DefaultVoteAge + time.Minute)
	b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
}

// TestSubmitterChanges checks that nothing is signed for a submitter who was removed,
// whose key has expired, or who may no longer submit the type, whatever votes there are.
// The activity waits with the reason until that changes.
func TestSubmitterChanges(t *testing.T) {
	for name, change := range map[string]func(b *ballot) []access.APIKeyConfig{
		"gone": func(*ballot) []access.APIKeyConfig { return nil },
		"expired": func(b *ballot) []access.APIKeyConfig {
			key := b.APIKey.Config()
			key.Activities, key.ExpiresAt = []activity.Type{activity.TypeSignTransaction}, b.Clock.Now().Add(-time.Second)
			return []access.APIKeyConfig{key}
		},
		"may not submit it": func(b *ballot) []access.APIKeyConfig {
			key := b.APIKey.Config()
			key.Activities = []activity.Type{activity.TypeSignRawPayload}
			return []access.APIKeyConfig{key}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBallot(t)
			voters := []access.UserConfig{voter("ann", "finance", b.ann), voter("ben", "finance", b.ben)}
			b.voters(voters...)
			waiting := b.submit()
			b.approve(b.ann, waiting)
			b.organization(append(voters, access.UserConfig{ID: "user-1", Name: "ci", APIKeys: change(b)})...)
			last := b.approve(b.ben, waiting)
			b.is(last, activity.StatusConsensusNeeded)
			if !strings.Contains(last.Decision.Reason, "the submitter's credential is not valid any more") {
				t.Errorf("it waits for %q", last.Decision.Reason)
			}
			b.resume()
			b.signed(0)
			b.voters(voters...)
			b.resume()
			b.signed(1)
		})
	}
}

// TestReadingChanged checks that a transaction that would be signed by another key than
// its voters were shown fails for good and is not signed, by a vote and by a sweep,
// which logs it.
func TestReadingChanged(t *testing.T) {
	for _, swept := range []bool{false, true} {
		var log bytes.Buffer
		b := newBallot(t, withSharedMemory, withLog(&log))
		waiting := b.submit()
		b.approve(b.ann, waiting)
		if swept {
			b.Signing.Before = func(context.Context) error { return keystore.ErrUnavailable }
			b.approve(b.ben, waiting)
		}
		other := memorykeys.New()
		secret, err := hex.DecodeString(enginetest.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: "key-9", Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
			t.Fatal(err)
		}
		counted := &enginetest.CountingKeystore{Keystore: other}
		b.Config.Keystore = counted
		b.Engine = b.Second(t)
		log.Reset()
		if swept {
			b.resume()
			if !strings.Contains(log.String(), `"msg":"an activity that waited has ended"`) || !strings.Contains(log.String(), `"status":"ACTIVITY_STATUS_FAILED"`) {
				t.Errorf("the log: %s", &log)
			}
		} else if last := b.approve(b.ben, waiting); last.Status != activity.StatusFailed {
			t.Errorf("the last vote: %s", last.Status)
		}
		found := b.found(waiting)
		if found.Status != activity.StatusFailed || found.Failure == nil || found.Failure.Code != activity.CodeInvalidArgument || !strings.Contains(found.Failure.Message, "read in another way") {
			t.Errorf("swept %v: %s, %+v", swept, found.Status, found.Failure)
		}
		if again := b.approve(b.ben, waiting); again.Status != activity.StatusFailed || again.Failure == nil {
			t.Errorf("again: %s", again.Status)
		}
		if signatures := counted.Signatures.Load() + b.Signing.Signatures.Load(); signatures != 0 {
			t.Errorf("%d signatures", signatures)
		}
	}
}

// TestSweepRejectsOverdue checks that an activity that a sweep rejects has a log line.
func TestSweepRejectsOverdue(t *testing.T) {
	var log bytes.Buffer
	b := newBallot(t, withSharedMemory, withLog(&log))
	waiting := b.submit()
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
	log.Reset()
	b.resume()
	for _, want := range []string{`"msg":"an activity that waited has ended"`, `"activity":"` + waiting.ID + `"`, `"status":"ACTIVITY_STATUS_REJECTED"`, "did not come in time", `"submitter":"user-1"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, &log)
		}
	}
	log.Reset()
	b.resume()
	if log.Len() > 0 {
		t.Errorf("again: %s", &log)
	}
}

// TestRequestBodyIsNotAVote checks that an approver who stamps the body of the request
// itself is shown the waiting activity, but has not voted on it.
func TestRequestBodyIsNotAVote(t *testing.T) {
	b := newBallot(t)
	b.policy.set(func(p *approvers) { p.groups[0].Count = 1 })
	ann := voter("ann", "finance", b.ann)
	ann.APIKeys[0].Activities = append([]activity.Type{activity.TypeSignTransaction}, voteTypes...)
	b.voters(ann)
	waiting := b.submit()
	for range 2 {
		same := mustSubmit(t, b.Engine, b.ann.Sign(string(waiting.Request.Body)))
		b.is(same, activity.StatusConsensusNeeded)
		if same.ID != waiting.ID || len(same.Votes) != 1 || same.Submitter().UserID != "user-1" {
			t.Errorf("%s with %d votes, the first of %s", same.ID, len(same.Votes), same.Submitter().UserID)
		}
	}
	b.is(b.approve(b.ann, waiting), activity.StatusCompleted)
}

// TestVotersOfNewGroups checks that users who belong only to a group that was demanded
// after the submission, by a new policy or because a limit is used up, find the activity
// and can vote: it could never be signed otherwise.
func TestVotersOfNewGroups(t *testing.T) {
	board := []access.Group{{Rule: "large", Count: 1, Tag: "board"}}
	for name, change := range map[string]func(b *ballot){
		"a new policy": func(b *ballot) {
			b.policy.set(func(p *approvers) { p.groups = append(p.groups, board...) })
		},
		"a limit": func(b *ballot) {
			other := b.submit()
			b.approve(b.ann, other)
			b.approve(b.ben, other)
			b.signed(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLimitedBallot(t, withSharedMemory)
			b.policy.set(func(p *approvers) { p.beyond = board })
			b.voters(voter("ann", "finance", b.ann), voter("ben", "finance", b.ben), voter("cid", "board", b.cid))
			waiting := b.submit()
			if seen := b.list(b.cid, ""); len(seen) != 0 {
				t.Errorf("before the group was demanded, its user is shown %q", seen)
			}
			b.Clock.Advance(time.Millisecond)
			change(b)
			signed := b.Signing.Signatures.Load()
			b.approve(b.ann, waiting)
			last := b.approve(b.ben, waiting)
			if last.Status != activity.StatusConsensusNeeded {
				t.Fatalf("without the new group's vote it is %s", last.Status)
			}
			if seen := b.list(b.cid, ""); !slices.Contains(seen, waiting.ID) {
				t.Errorf("the group's user is shown %q", seen)
			}
			query := fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, waiting.ID)
			shown, err := b.Engine.GetActivity(t.Context(), b.cid.Sign(query))
			if err != nil {
				t.Fatal(err)
			}
			if !shown.Viewer.CanApprove || !shown.Viewer.CanReject || shown.Viewer.Review == nil {
				t.Errorf("the group's user is shown %+v", shown.Viewer)
			}
			if done := b.approve(b.cid, waiting); done.Status != activity.StatusCompleted {
				t.Errorf("with the new group's vote it is %s: %s", done.Status, done.Decision.Reason)
			}
			b.signed(signed + 1)
			if _, err := b.Engine.GetActivity(t.Context(), b.cid.Sign(query)); err != nil {
				t.Errorf("one who voted may read it: %v", err)
			}
		})
	}
}
