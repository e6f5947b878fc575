package approvals_test

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/verify"
)

// certificate is how the calls of these tests were authenticated.
const certificate = "CERTIFICATE dns:batcher.example"

// payout is what the calls sign.
var payout = activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum}

// withStore has the test read what is stored.
func withStore(config *countersign.Config) { config.Store = memory.New(0) }

// callOf makes a call that must wait, and returns its record.
func callOf(t *testing.T, b *ballot.Ballot, caller *countersign.Caller) *activity.Record {
	t.Helper()
	_, err := caller.SignTransaction(t.Context(), enginetest.Organization, payout)
	enginetest.Refusal(t, err, activity.ReasonConsensusNeeded, "waits for approvals")
	waiting, ok := errors.AsType[*activity.WaitingError](err)
	if !ok {
		t.Fatalf("%T", err)
	}
	stored, err := b.Config.Store.Get(t.Context(), enginetest.Organization, waiting.ID)
	testenv.Must(t, err)
	record, err := activity.DecodeRecord(stored.Data)
	testenv.Must(t, err)
	return record
}

// TestCallWaits checks that a call by a user of the directory waits for its votes, that the
// same call meanwhile is answered with the same activity, and that it finds the result. The
// record says who submitted it and how that user was authenticated, and is no evidence of a
// stamp.
func TestCallWaits(t *testing.T) {
	b := ballot.New(t, withStore)
	caller := b.Engine.As(access.User{ID: "user-1", Name: "ci"}, certificate)
	waiting := callOf(t, b, caller)
	b.Clock.Advance(time.Minute)
	if again := callOf(t, b, caller); again.ID != waiting.ID {
		t.Errorf("the same call waits as %s and %s", waiting.ID, again.ID)
	}
	if vote := waiting.Submitter(); vote.Scheme != certificate || vote.UserID != "user-1" || vote.Signature != "" {
		t.Errorf("submitted by %+v", vote)
	}
	b.Is(b.Approve(b.Ann, waiting), activity.StatusConsensusNeeded)
	done := b.Approve(b.Ben, waiting)
	b.Is(done, activity.StatusCompleted)
	for range 2 {
		signed, err := caller.SignTransaction(t.Context(), enginetest.Organization, payout)
		if err != nil || signed.SignedTransaction != enginetest.Signed {
			t.Fatalf("%+v, %v", signed, err)
		}
	}
	b.WantSignatures(t, 1)
	if _, err := verify.Votes(done, nil); !errors.Is(err, verify.ErrVotes) {
		t.Errorf("the votes of a call are evidence: %v", err)
	}
}

// TestCallAfterRejection checks that a call like one that was rejected, or has waited too
// long, is a new one.
func TestCallAfterRejection(t *testing.T) {
	b := ballot.New(t, withStore)
	caller := b.Engine.As(access.User{ID: "user-1"}, certificate)
	first := callOf(t, b, caller)
	if _, err := b.Vote(b.Ann, activity.TypeRejectActivity, first); err != nil {
		t.Fatal(err)
	}
	second := callOf(t, b, caller)
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Minute)
	b.Resume()
	third := callOf(t, b, caller)
	if first.ID == second.ID || second.ID == third.ID || first.ID == third.ID {
		t.Errorf("waiting as %s, %s, %s", first.ID, second.ID, third.ID)
	}
	b.Approve(b.Ann, third)
	b.Is(b.Approve(b.Ben, third), activity.StatusCompleted)
	b.WantSignatures(t, 1)
}

// TestCallOfStranger checks that a call cannot wait if the directory does not find its user,
// and that nothing is signed for one who was removed while it waited, or whose call waits as
// another user's who has the same name.
func TestCallOfStranger(t *testing.T) {
	b := ballot.New(t, withStore)
	for _, user := range []access.User{{ID: "stranger", Name: "ci"}, {ID: "eve"}, {ID: "user-10"}} {
		_, err := b.Engine.As(user, "").SignTransaction(t.Context(), enginetest.Organization, payout)
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "needs more approvals")
	}
	waiting := callOf(t, b, b.Engine.As(access.User{ID: "user-1"}, ""))
	b.Approve(b.Ann, waiting)
	b.SetUsers(ballot.Voter("ann", "finance", b.Ann), ballot.Voter("ben", "finance", b.Ben))
	b.Approve(b.Ben, waiting)
	b.WantSignatures(t, 0)
	_, err := b.Engine.As(access.User{ID: "user-1"}, "").SignTransaction(t.Context(), enginetest.Organization, payout)
	enginetest.Refusal(t, err, activity.ReasonConsensusNeeded, "")
	b.WantSignatures(t, 0)
}

// TestSubmitterOfCallDoesNotCount checks that the user who called is the submitter for
// rules that do not count it, also when the same user votes with a stamp.
func TestSubmitterOfCallDoesNotCount(t *testing.T) {
	b := ballot.New(t, withStore)
	waiting := callOf(t, b, b.Engine.As(access.User{ID: "ann", Tags: []string{"finance"}}, certificate))
	if _, err := b.Vote(b.Ann, activity.TypeApproveActivity, waiting); err == nil {
		t.Error("the submitter's stamp is counted")
	}
	b.Is(b.Approve(b.Ben, waiting), activity.StatusConsensusNeeded)
	b.WantSignatures(t, 0)
}
