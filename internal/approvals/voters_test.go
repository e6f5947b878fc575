package approvals_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/keystore"
	memorykeys "github.com/countersign-dev/countersign/keystore/memory"
)

// setVoters replaces the directory by the submitter and the given voters.
func setVoters(b *ballot.Ballot, users ...access.UserConfig) {
	b.T.Helper()
	submitter := b.APIKey.Config()
	submitter.Activities = []activity.Type{activity.TypeSignTransaction}
	b.SetUsers(append(users, access.UserConfig{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{submitter}})...)
}

// TestOneVotePerUser checks that a user who votes twice counts once, however many credentials
// there are, and that the newer vote replaces the older.
func TestOneVotePerUser(t *testing.T) {
	b := ballot.New(t)
	second := enginetest.NewAPIKey(t)
	setVoters(b, ballot.Voter("ann", "finance", b.Ann, second), ballot.Voter("ben", "finance", b.Ben))
	waiting := b.Waiting()
	for _, key := range []*enginetest.APIKey{b.Ann, b.Ann, second} {
		b.Clock.Advance(time.Minute)
		voted := b.Approve(key, waiting)
		b.Is(voted, activity.StatusConsensusNeeded)
		newest := voted.Votes[len(voted.Votes)-1]
		if len(voted.Votes) != 2 || !newest.StampedAt.Equal(b.Clock.Now()) || !strings.HasSuffix(newest.Credential, key.PublicKey) {
			t.Errorf("%d votes, the last of %s at %v", len(voted.Votes), newest.Credential, newest.StampedAt)
		}
	}
	b.Is(b.Approve(b.Ben, waiting), activity.StatusCompleted)
}

// TestVoterChanges checks that a voter's credential must still be valid when the last
// vote comes: not expired, allowed to vote, and its user's, who must still have the tag.
func TestVoterChanges(t *testing.T) {
	for name, change := range map[string]func(b *ballot.Ballot) access.UserConfig{
		"expired": func(b *ballot.Ballot) access.UserConfig {
			user := ballot.Voter("ann", "finance", b.Ann)
			user.APIKeys[0].ExpiresAt = b.Clock.Now().Add(-time.Second)
			return user
		},
		"may not vote any more": func(b *ballot.Ballot) access.UserConfig {
			user := ballot.Voter("ann", "finance", b.Ann)
			user.APIKeys[0].Activities = []activity.Type{activity.TypeSignTransaction}
			return user
		},
		"may only reject": func(b *ballot.Ballot) access.UserConfig {
			user := ballot.Voter("ann", "finance", b.Ann)
			user.APIKeys[0].Activities = []activity.Type{activity.TypeRejectActivity}
			return user
		},
		"without the tag": func(b *ballot.Ballot) access.UserConfig { return ballot.Voter("ann", "", b.Ann) },
		"another tag":     func(b *ballot.Ballot) access.UserConfig { return ballot.Voter("ann", "former", b.Ann) },
		"another user's":  func(b *ballot.Ballot) access.UserConfig { return ballot.Voter("mallory", "finance", b.Ann) },
		"another key": func(b *ballot.Ballot) access.UserConfig {
			return ballot.Voter("ann", "finance", enginetest.NewAPIKey(b.T))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := ballot.New(t)
			setVoters(b, ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben))
			waiting := b.Waiting()
			b.Approve(b.Ann, waiting)
			setVoters(b, change(b), ballot.Voter("ben", "finance", b.Ben))
			b.Is(b.Approve(b.Ben, waiting), activity.StatusConsensusNeeded)
			b.Resume()
			b.WantSignatures(b.T, 0)
			setVoters(b, ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben))
			b.Resume()
			b.WantSignatures(b.T, 1)
		})
	}
}

// TestForeignVotes checks that a vote in another organization, or stamped by a user of
// another one, finds no activity, that a vote that is too old or too far ahead is
// refused, and that another request sent to the path of votes is not a vote.
func TestForeignVotes(t *testing.T) {
	b := ballot.New(t)
	setVoters(b, ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben))
	waiting := b.Waiting()
	elsewhere := func(organization string, at time.Time) string {
		return ballot.VoteBody(activity.TypeApproveActivity, waiting, organization, at, "")
	}
	now := b.Clock.Now()
	for name, test := range map[string]struct {
		sent   countersign.SignedBody
		reason activity.Reason
	}{
		"in another organization":      {b.Other.Sign(elsewhere(enginetest.OtherOrganization, now)), activity.ReasonNotFound},
		"by a user of another":         {b.Other.Sign(elsewhere(enginetest.Organization, now)), activity.ReasonSignatureInvalid},
		"by a member, for another":     {b.Ann.Sign(elsewhere(enginetest.OtherOrganization, now)), activity.ReasonSignatureInvalid},
		"too old":                      {b.Ann.Sign(elsewhere(enginetest.Organization, now.Add(-2*time.Hour))), activity.ReasonInvalidTime},
		"far ahead":                    {b.Ann.Sign(elsewhere(enginetest.Organization, now.Add(time.Hour))), activity.ReasonInvalidTime},
		"by a key that may sign alone": {b.APIKey.Sign(elsewhere(enginetest.Organization, now)), activity.ReasonNotAuthorized},
	} {
		_, err := b.Engine.Submit(t.Context(), test.sent)
		t.Log(name)
		enginetest.Refusal(t, err, test.reason, "")
	}
	request := b.APIKey.Sign(b.Body(enginetest.Request{}))
	request.Path = "approve_activity"
	_, err := b.Engine.Submit(t.Context(), request)
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "")
	b.Is(b.Again(waiting), activity.StatusConsensusNeeded)
}

// TestSubmitterChanges checks that nothing is signed for a submitter who was removed,
// whose key has expired, or who may no longer submit the type, whatever votes there are.
// The activity waits with the reason until that changes.
func TestSubmitterChanges(t *testing.T) {
	for name, change := range map[string]func(b *ballot.Ballot) []access.APIKeyConfig{
		"gone": func(*ballot.Ballot) []access.APIKeyConfig { return nil },
		"expired": func(b *ballot.Ballot) []access.APIKeyConfig {
			key := b.APIKey.Config()
			key.Activities, key.ExpiresAt = []activity.Type{activity.TypeSignTransaction}, b.Clock.Now().Add(-time.Second)
			return []access.APIKeyConfig{key}
		},
		"may not submit it": func(b *ballot.Ballot) []access.APIKeyConfig {
			key := b.APIKey.Config()
			key.Activities = []activity.Type{activity.TypeSignRawPayload}
			return []access.APIKeyConfig{key}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := ballot.New(t)
			voters := []access.UserConfig{ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben)}
			setVoters(b, voters...)
			waiting := b.Waiting()
			b.Approve(b.Ann, waiting)
			b.SetUsers(append(voters, access.UserConfig{ID: "user-1", Name: "ci", APIKeys: change(b)})...)
			last := b.Approve(b.Ben, waiting)
			b.Is(last, activity.StatusConsensusNeeded)
			says := "the submitter, user user-1, or the credential that it was submitted with is not in the directory any more, or has expired"
			if name == "may not submit it" {
				says = "this credential of user user-1 may not submit ACTIVITY_TYPE_SIGN_TRANSACTION_V2"
			}
			if !strings.Contains(last.Decision.Reason, says) {
				t.Errorf("it waits for %q", last.Decision.Reason)
			}
			b.Resume()
			b.WantSignatures(b.T, 0)
			setVoters(b, voters...)
			b.Resume()
			b.WantSignatures(b.T, 1)
		})
	}
}

// TestReadingChanged checks that a transaction that would be signed by another key than
// its voters were shown fails for good and is not signed, by a vote and by a sweep,
// which logs it.
func TestReadingChanged(t *testing.T) {
	for _, swept := range []bool{false, true} {
		var log bytes.Buffer
		b := ballot.New(t, withSharedMemory, func(c *countersign.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
		waiting := b.Waiting()
		b.Approve(b.Ann, waiting)
		if swept {
			b.Signing.Before = func(context.Context) error { return keystore.ErrUnavailable }
			b.Approve(b.Ben, waiting)
		}
		other := memorykeys.New()
		secret := testenv.Hex(t, enginetest.Secret)
		if _, err := other.Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: "key-9", Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
			t.Fatal(err)
		}
		counted := &enginetest.CountingKeystore{Keystore: other}
		b.Config.Keystore = counted
		b.Engine = b.Second(t)
		log.Reset()
		if swept {
			b.Resume()
			if !strings.Contains(log.String(), `"msg":"an activity that waited has ended"`) || !strings.Contains(log.String(), `"status":"ACTIVITY_STATUS_FAILED"`) {
				t.Errorf("the log: %s", &log)
			}
		} else if last := b.Approve(b.Ben, waiting); last.Status != activity.StatusFailed {
			t.Errorf("the last vote: %s", last.Status)
		}
		found := b.Again(waiting)
		if found.Status != activity.StatusFailed || found.Failure == nil || found.Failure.Code != activity.CodeInvalidArgument || !strings.Contains(found.Failure.Message, "read in another way") {
			t.Errorf("swept %v: %s, %+v", swept, found.Status, found.Failure)
		}
		if again := b.Approve(b.Ben, waiting); again.Status != activity.StatusFailed || again.Failure == nil {
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
	b := ballot.New(t, withSharedMemory, func(c *countersign.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	waiting := b.Waiting()
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
	log.Reset()
	b.Resume()
	for _, want := range []string{`"msg":"an activity that waited has ended"`, `"activity":"` + waiting.ID + `"`, `"status":"ACTIVITY_STATUS_REJECTED"`, "did not come in time", `"submitter":"user-1"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, &log)
		}
	}
	log.Reset()
	b.Resume()
	if log.Len() > 0 {
		t.Errorf("again: %s", &log)
	}
}

// TestRequestBodyIsNotAVote checks that an approver who stamps the body of the request
// itself is shown the waiting activity, but has not voted on it.
func TestRequestBodyIsNotAVote(t *testing.T) {
	b := ballot.New(t)
	b.Policy.Set(func(p *ballot.Policy) { p.Groups[0].Count = 1 })
	ann := ballot.Voter("ann", "finance", b.Ann)
	ann.APIKeys[0].Activities = append([]activity.Type{activity.TypeSignTransaction}, ballot.VoteTypes...)
	setVoters(b, ann)
	waiting := b.Waiting()
	for range 2 {
		same := enginetest.MustSubmit(t, b.Engine, b.Ann.Sign(string(waiting.Request.Body)))
		b.Is(same, activity.StatusConsensusNeeded)
		if same.ID != waiting.ID || len(same.Votes) != 1 || same.Submitter().UserID != "user-1" {
			t.Errorf("%s with %d votes, the first of %s", same.ID, len(same.Votes), same.Submitter().UserID)
		}
	}
	b.Is(b.Approve(b.Ann, waiting), activity.StatusCompleted)
}

// TestVotersOfNewGroups checks that users who belong only to a group that was demanded
// after the submission, by a new policy or because a limit is used up, find the activity
// and can vote: it could never be signed otherwise.
func TestVotersOfNewGroups(t *testing.T) {
	board := []access.Group{{Rule: "large", Count: 1, Tag: "board"}}
	for name, change := range map[string]func(b *ballot.Ballot){
		"a new policy": func(b *ballot.Ballot) {
			b.Policy.Set(func(p *ballot.Policy) { p.Groups = append(p.Groups, board...) })
		},
		"a limit": func(b *ballot.Ballot) {
			other := b.Waiting()
			b.Approve(b.Ann, other)
			b.Approve(b.Ben, other)
			b.WantSignatures(b.T, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLimitedBallot(t, withSharedMemory)
			b.Policy.Set(func(p *ballot.Policy) { p.Beyond = board })
			setVoters(b, ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben), ballot.Voter("cid", "board", b.Cid))
			waiting := b.Waiting()
			if seen := listIDs(b, b.Cid, ""); len(seen) != 0 {
				t.Errorf("before the group was demanded, its user is shown %q", seen)
			}
			b.Clock.Advance(time.Millisecond)
			change(b)
			signed := b.Signing.Signatures.Load()
			b.Approve(b.Ann, waiting)
			last := b.Approve(b.Ben, waiting)
			if last.Status != activity.StatusConsensusNeeded {
				t.Fatalf("without the new group's vote it is %s", last.Status)
			}
			if seen := listIDs(b, b.Cid, ""); !slices.Contains(seen, waiting.ID) {
				t.Errorf("the group's user is shown %q", seen)
			}
			query := fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, waiting.ID)
			shown, err := b.Engine.GetActivity(t.Context(), b.Cid.Sign(query))
			testenv.Must(t, err)
			if !shown.Viewer.CanApprove || !shown.Viewer.CanReject || shown.Viewer.Review == nil {
				t.Errorf("the group's user is shown %+v", shown.Viewer)
			}
			if done := b.Approve(b.Cid, waiting); done.Status != activity.StatusCompleted {
				t.Errorf("with the new group's vote it is %s: %s", done.Status, done.Decision.Reason)
			}
			b.WantSignatures(b.T, signed+1)
			if _, err := b.Engine.GetActivity(t.Context(), b.Cid.Sign(query)); err != nil {
				t.Errorf("one who voted may read it: %v", err)
			}
		})
	}
}
