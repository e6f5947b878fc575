package approvals_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
)

// TestTwoApprovals checks that the second vote signs, and that all later answers are the
// same.
func TestTwoApprovals(t *testing.T) {
	seen := new(waits)
	b := ballot.New(t, func(config *countersign.Config) { config.Observer = seen })
	waiting := b.Waiting()
	if waiting.Viewer.CanApprove || !waiting.Viewer.CanReject {
		t.Errorf("the submitter, who does not count, may approve: %+v", waiting.Viewer)
	}
	first := b.Approve(b.Ann, waiting)
	b.Is(first, activity.StatusConsensusNeeded)
	if len(first.Votes) != 2 || first.Viewer.CanApprove || !first.Viewer.CanReject || first.Viewer.Review.Missing[0].Missing != 1 {
		t.Errorf("after the first vote: %+v", first.Viewer)
	}
	testenv.Must(t, first.Viewer.Review.Check())
	done := b.Approve(b.Ben, waiting)
	b.Is(done, activity.StatusCompleted)
	if done.ID != waiting.ID || done.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) || len(done.Votes) != 3 {
		t.Errorf("completed as %+v", done)
	}
	if again := b.Again(waiting); again.Status != activity.StatusCompleted || again.ID != waiting.ID {
		t.Errorf("the submitter's body again: %+v", again)
	}
	if late := b.Approve(b.Ann, waiting); late.Status != activity.StatusCompleted || len(late.Votes) != 3 {
		t.Errorf("a vote on what is completed: %+v", late)
	}
	b.Fixture.WantSignatures(t, 1)
	if want := (waits{true, true, false, false, false}); !slices.Equal(*seen, want) {
		t.Errorf("observed as waiting: %t, want %t", *seen, want)
	}
}

// waits is an observer that notes of each request whether it waits.
type waits []bool

func (w *waits) Observe(seen countersign.Observation) { *w = append(*w, seen.Waits) }

// TestSentenceNames checks that voters read the token names that the engine knows, and
// that names do not change what they vote on.
func TestSentenceNames(t *testing.T) {
	const usdc = "02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb" +
		"00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7000000000000000000000000000000000000000000000000000000000ee6b280c0"
	var shown [2][32]byte
	for i, known := range []chains.Names{nil, names.New(all.Chains(all.Limits{})...)} {
		b := ballot.New(t, func(config *countersign.Config) { config.Names = known })
		record := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{Unsigned: usdc})))
		shown[i] = record.Reading.Digest()
		want := []string{"send 250000000 units of token 0xA0b8", "send 250 USDC from 0x97cC"}[i]
		if got := record.Viewer.Review.Sentences; len(got) != 2 || !strings.HasPrefix(got[0], want) {
			t.Errorf("the sentences are %q, want %q at first", got, want)
		}
	}
	if shown[0] != shown[1] {
		t.Error("names change what a vote is on")
	}
}

// TestIneligibleVotes refuses votes of users outside the group, of credentials that do
// not name votes, on another reading, and on an unknown activity.
func TestIneligibleVotes(t *testing.T) {
	b := ballot.New(t)
	waiting := b.Waiting()
	b.Policy.Set(func(p *ballot.Policy) { p.Groups[0].Count = 1 })
	_, err := b.Vote(b.Dan, activity.TypeApproveActivity, waiting)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
	_, err = b.Vote(b.APIKey, activity.TypeApproveActivity, waiting)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
	for _, kind := range ballot.VoteTypes {
		_, err = b.Vote(b.Cid, kind, waiting)
		enginetest.Refusal(t, err, activity.ReasonNotFound, "") // not even that it is there
	}
	_, err = b.Engine.Submit(t.Context(), b.Ann.Sign(b.VoteBody(activity.TypeApproveActivity, waiting, fmt.Sprintf("%064x", 1))))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "")
	other := *waiting
	otherRequest := *waiting.Request
	otherRequest.Fingerprint[0]++
	other.Request = &otherRequest
	_, err = b.Vote(b.Ann, activity.TypeApproveActivity, &other)
	enginetest.Refusal(t, err, activity.ReasonNotFound, "")
	b.Is(b.Approve(b.Ann, waiting), activity.StatusConsensusNeeded)
}

// TestRejections checks that a rejection by a user who could approve, or by the
// submitter, ends the activity.
func TestRejections(t *testing.T) {
	for _, who := range []func(b *ballot.Ballot) *enginetest.APIKey{
		func(b *ballot.Ballot) *enginetest.APIKey { return b.Ben },
		func(b *ballot.Ballot) *enginetest.APIKey { return b.APIKey },
	} {
		b := ballot.New(t)
		waiting := b.Waiting()
		b.Approve(b.Ann, waiting)
		rejected, err := b.Vote(who(b), activity.TypeRejectActivity, waiting)
		testenv.Must(t, err)
		b.Is(rejected, activity.StatusRejected)
		b.Is(b.Approve(b.Ben, waiting), activity.StatusRejected)
		b.Is(b.Again(waiting), activity.StatusRejected)
	}
}
