package countersign_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestRemovedVoter: a vote whose voter is gone, or has lost the tag, does not
// count any more, and nothing is signed until another takes its place.
func TestRemovedVoter(t *testing.T) {
	for _, tag := range []string{"", "former"} {
		b := newBallot(t)
		waiting := b.submit()
		b.approve(b.ann, waiting)
		b.register(tag, "finance")
		b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
		b.register("finance", "finance")
		b.Clock.Advance(time.Second)
		b.is(b.approve(b.ben, waiting), activity.StatusCompleted)
	}
}

// TestReloadTakesNothingAway: a policy that asks for fewer votes, or for none, or
// that is gone, does not sign what was submitted under one that asked for more.
func TestReloadTakesNothingAway(t *testing.T) {
	for name, change := range map[string]func(p *approvers){
		"fewer":    func(p *approvers) { p.groups[0].Count = 1 },
		"none":     func(p *approvers) { p.groups = nil },
		"anyone":   func(p *approvers) { p.groups = []countersign.Approval{{Rule: "payouts", Count: 1}} },
		"unjudged": func(p *approvers) { p.unjudged = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBallot(t)
			waiting := b.submit()
			b.policy.set(change)
			if err := b.Engine.ResumeWaiting(t.Context()); err != nil {
				t.Fatal(err)
			}
			again, err := b.Submit(t, enginetest.Request{})
			if err != nil {
				t.Fatal(err)
			}
			b.is(again, activity.StatusConsensusNeeded)
			b.is(b.approve(b.ann, waiting), activity.StatusConsensusNeeded)
			last := b.approve(b.ben, waiting)
			if name == "unjudged" {
				b.is(last, activity.StatusConsensusNeeded)
			} else {
				b.is(last, activity.StatusCompleted)
			}
		})
	}
}

// TestReloadDemandsMore: a group that a new policy adds is needed too.
func TestReloadDemandsMore(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.policy.set(func(p *approvers) {
		p.groups = append(p.groups, countersign.Approval{Rule: "audit", Count: 1, Users: []string{"cid"}})
	})
	b.approve(b.ann, waiting)
	b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
	b.policy.set(func(p *approvers) { p.groups = p.groups[:1] })
	if err := b.Engine.ResumeWaiting(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := b.Submit(t, enginetest.Request{})
	if err != nil {
		t.Fatal(err)
	}
	b.is(found, activity.StatusCompleted)
}

// TestReplayedVotes: a vote that was refused does not count when its voter is
// given the right to vote, one that is older than another of its user takes
// nothing back, and the same body of another user is another vote.
func TestReplayedVotes(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.register("finance", "intern")
	early := b.body(activity.TypeApproveActivity, waiting, "")
	_, err := b.Engine.Submit(t.Context(), b.ben.Sign(early))
	refusedWith(t, err, activity.ReasonNotFound)
	b.register("finance", "finance")
	b.approve(b.ann, waiting)
	for range 3 {
		record, err := b.vote(b.ann, activity.TypeApproveActivity, waiting)
		if err != nil || len(record.Votes) != 2 {
			t.Fatalf("replayed: %+v, %v", record, err)
		}
		b.is(record, activity.StatusConsensusNeeded)
	}
	old := b.body(activity.TypeRejectActivity, waiting, "")
	b.Clock.Advance(time.Minute)
	b.approve(b.ann, waiting)
	record, err := b.Engine.Submit(t.Context(), b.ann.Sign(old))
	if err != nil {
		t.Fatal(err)
	}
	b.is(record, activity.StatusConsensusNeeded)
}

// TestRefusedStampIsSpent: a user whose credential is in no group now, and is put
// into one later, has to stamp another vote.
func TestRefusedStampIsSpent(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	submitters := b.APIKey.Sign(b.body(activity.TypeApproveActivity, waiting, ""))
	_, err := b.Engine.Submit(t.Context(), submitters)
	refusedWith(t, err, activity.ReasonNotAuthorized)
	b.policy.set(func(p *approvers) {
		p.groups = append(p.groups, countersign.Approval{Rule: "self", Count: 1, Users: []string{"user-1"}})
	})
	_, err = b.Engine.Submit(t.Context(), submitters)
	refusedWith(t, err, activity.ReasonNotAuthorized)
	b.Clock.Advance(time.Second)
	b.approve(b.APIKey, waiting)
}

// TestVotesAge: a vote that is older than its group takes stops counting, and a
// newer one of the same user counts again.
func TestVotesAge(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.approve(b.ann, waiting)
	b.Clock.Advance(countersign.DefaultVoteAge + time.Second)
	b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
	b.is(b.approve(b.ann, waiting), activity.StatusCompleted)
}

// TestAbandoned: what gets no votes in time is rejected by the engine.
func TestAbandoned(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
	record := b.approve(b.ann, waiting)
	b.is(record, activity.StatusRejected)
	if record.Decision.Reason == "" || len(record.Votes) != 1 {
		t.Errorf("rejected for %q with %d votes", record.Decision.Reason, len(record.Votes))
	}
}

// TestBusyKey: what is in the way after the last vote leaves the activity waiting
// with the reason, and a sweep goes on with it.
func TestBusyKey(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.approve(b.ann, waiting)
	b.policy.set(func(p *approvers) { p.refusal = fmt.Errorf("%w: out of office hours", countersign.ErrDenied) })
	record := b.approve(b.ben, waiting)
	b.is(record, activity.StatusConsensusNeeded)
	if record.Decision.Reason != "not authorized: denied by policy: out of office hours" || len(record.Votes) != 3 {
		t.Errorf("it waits for %q with %d votes", record.Decision.Reason, len(record.Votes))
	}
	b.policy.set(func(p *approvers) { p.refusal = nil })
	if err := b.Engine.ResumeWaiting(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := b.Submit(t, enginetest.Request{})
	if err != nil {
		t.Fatal(err)
	}
	b.is(found, activity.StatusCompleted)
}

// TestRacingRejection: the last vote comes to one node while the submitter withdraws on
// another. One of both is the outcome, the same to everyone, and nothing is signed that
// was withdrawn.
func TestRacingRejection(t *testing.T) {
	b := newBallot(t, withSharedMemory)
	other := b.Second(t)
	outcomes := map[activity.Status]int{}
	for range 50 {
		b.Clock.Advance(time.Millisecond)
		before := b.Signing.Signatures.Load()
		record, err := b.Submit(t, enginetest.Request{})
		if err != nil {
			t.Fatal(err)
		}
		b.approve(b.ann, record)
		approval := b.ben.Sign(b.body(activity.TypeApproveActivity, record, ""))
		withdrawal := b.APIKey.Sign(b.body(activity.TypeRejectActivity, record, ""))
		var both sync.WaitGroup
		for engine, sent := range map[*countersign.Engine]countersign.SignedBody{b.Engine: approval, other: withdrawal} {
			both.Go(func() {
				if _, err := engine.Submit(t.Context(), sent); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		found, made := b.found(record), b.Signing.Signatures.Load()-before
		if want := map[activity.Status]int64{activity.StatusCompleted: 1, activity.StatusRejected: 0}; made != want[found.Status] || found.Status.Waits() {
			t.Fatalf("%s, with %d signatures", found.Status, made)
		}
		outcomes[found.Status]++
	}
	t.Log(outcomes)
}

// TestRacingVotes: two voters on two nodes send their votes, over and over, at the
// same time: one signature, and every answer is the activity.
func TestRacingVotes(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		b := newBallot(t, withSharedMemory)
		b.race(b.Second(t))
	})
	t.Run("postgres", func(t *testing.T) {
		testenv.Slow(t)
		dsn := testenv.Postgres(t).DSN
		open := func(config *countersign.Config) {
			opened, err := postgres.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			config.Store = opened
		}
		b := newBallot(t, open)
		open(&b.Config)
		b.race(b.Second(t))
	})
}

// race has the votes for one activity come to two nodes.
func (b *ballot) race(other *countersign.Engine) {
	t := b.t
	waiting := b.submit()
	var all sync.WaitGroup
	answers := make(chan *activity.Record, 64)
	for i := range cap(answers) {
		key, engine := []*enginetest.APIKey{b.ann, b.ben}[i%2], []*countersign.Engine{b.Engine, other}[i/2%2]
		sent := key.Sign(b.body(activity.TypeApproveActivity, waiting, ""))
		all.Go(func() {
			record, err := engine.Submit(t.Context(), sent)
			if err != nil {
				t.Error(err)
				return
			}
			answers <- record
		})
	}
	all.Wait()
	close(answers)
	completed := 0
	for record := range answers {
		if record.ID != waiting.ID || record.Status == activity.StatusCompleted && record.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) {
			t.Errorf("answered %+v", record)
		}
		if record.Status == activity.StatusCompleted {
			completed++
		}
	}
	if signed := b.Signing.Signatures.Load(); signed != 1 || completed == 0 {
		t.Errorf("%d signatures, %d answers of a completed activity", signed, completed)
	}
}
