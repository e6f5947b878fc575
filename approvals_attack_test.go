package countersign_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestRemovedVoter checks that a vote no longer counts once its voter was removed or
// lost the tag, and that nothing is signed until another vote replaces it.
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

// TestReloadKeepsDemands checks that an activity submitted under a policy that demands
// more votes is not signed under a new policy that demands fewer or none, or does not
// judge it.
func TestReloadKeepsDemands(t *testing.T) {
	for name, change := range map[string]func(p *approvers){
		"fewer":    func(p *approvers) { p.groups[0].Count = 1 },
		"none":     func(p *approvers) { p.groups = nil },
		"anyone":   func(p *approvers) { p.groups = []access.Group{{Rule: "payouts", Count: 1}} },
		"unjudged": func(p *approvers) { p.unjudged = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBallot(t)
			waiting := b.submit()
			b.policy.set(change)
			b.resume()
			b.is(b.found(waiting), activity.StatusConsensusNeeded)
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

// TestReloadAddsDemands checks that a group that a new policy adds must be filled too.
func TestReloadAddsDemands(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.policy.set(func(p *approvers) {
		p.groups = append(p.groups, access.Group{Rule: "audit", Count: 1, Users: []string{"cid"}})
	})
	b.approve(b.ann, waiting)
	b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
	b.policy.set(func(p *approvers) { p.groups = p.groups[:1] })
	b.resume()
	b.is(b.found(waiting), activity.StatusCompleted)
}

// TestReplayedVotes checks that a refused vote does not count once its voter is given
// the right to vote, that an older vote does not replace a newer one of the same user,
// and that the same body stamped by another user is another vote.
func TestReplayedVotes(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.register("finance", "intern")
	early := b.body(activity.TypeApproveActivity, waiting, "")
	_, err := b.Engine.Submit(t.Context(), b.ben.Sign(early))
	refusal(t, err, activity.ReasonNotFound, "")
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
	record := mustSubmit(t, b.Engine, b.ann.Sign(old))
	b.is(record, activity.StatusConsensusNeeded)
}

// TestRefusedVoteStaysRefused checks that a user whose credential was in no group, and
// is added to one later, has to stamp another vote.
func TestRefusedVoteStaysRefused(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	submitters := b.APIKey.Sign(b.body(activity.TypeApproveActivity, waiting, ""))
	_, err := b.Engine.Submit(t.Context(), submitters)
	refusal(t, err, activity.ReasonNotAuthorized, "")
	b.policy.set(func(p *approvers) {
		p.groups = append(p.groups, access.Group{Rule: "self", Count: 1, Users: []string{"user-1"}})
	})
	_, err = b.Engine.Submit(t.Context(), submitters)
	refusal(t, err, activity.ReasonNotAuthorized, "")
	b.Clock.Advance(time.Second)
	b.approve(b.APIKey, waiting)
}

// TestVoteExpiry checks that a vote stops counting when it is older than its group
// allows, and that a newer vote of the same user counts again.
func TestVoteExpiry(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.approve(b.ann, waiting)
	b.Clock.Advance(access.DefaultVoteAge + time.Second)
	b.is(b.approve(b.ben, waiting), activity.StatusConsensusNeeded)
	b.is(b.approve(b.ann, waiting), activity.StatusCompleted)
}

// TestWaitingTimeout checks that the engine rejects an activity that does not get its
// votes in time.
func TestWaitingTimeout(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
	record := b.approve(b.ann, waiting)
	b.is(record, activity.StatusRejected)
	if record.Decision.Reason == "" || len(record.Votes) != 1 {
		t.Errorf("rejected for %q with %d votes", record.Decision.Reason, len(record.Votes))
	}
}

// TestResumeAfterObstacle checks that an obstacle after the last vote leaves the
// activity waiting with the reason, and that a sweep continues with it once the obstacle
// is gone.
func TestResumeAfterObstacle(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.approve(b.ann, waiting)
	b.policy.set(func(p *approvers) { p.refusal = fmt.Errorf("%w: out of office hours", access.ErrDenied) })
	record := b.approve(b.ben, waiting)
	b.is(record, activity.StatusConsensusNeeded)
	if record.Decision.Reason != "not authorized: denied by policy: out of office hours" || len(record.Votes) != 3 {
		t.Errorf("it waits for %q with %d votes", record.Decision.Reason, len(record.Votes))
	}
	b.policy.set(func(p *approvers) { p.refusal = nil })
	b.resume()
	b.is(b.found(waiting), activity.StatusCompleted)
}

// TestPanicWhileResuming checks that a panic while a sweep resumes one activity is
// logged, keeps that activity waiting, and does not keep the others from being resumed.
func TestPanicWhileResuming(t *testing.T) {
	var log bytes.Buffer
	b := newBallot(t, withLog(&log))
	first := b.submit()
	b.Clock.Advance(time.Millisecond) // or it would be the same request
	second := b.submit()
	for _, waiting := range []*activity.Record{first, second} {
		b.approve(b.ann, waiting)
		b.policy.set(func(p *approvers) { p.refusal = fmt.Errorf("%w: closed", access.ErrDenied) })
		b.approve(b.ben, waiting)
		b.policy.set(func(p *approvers) { p.refusal = nil })
	}
	b.policy.set(func(p *approvers) { p.panics = 1 })
	if err := b.Engine.Operator().ResumeWaiting(t.Context()); err == nil || !strings.Contains(err.Error(), "panic: a faulty policy") {
		t.Errorf("the sweep returned %v", err)
	}
	if !strings.Contains(log.String(), `"msg":"panic while resuming an activity"`) || !strings.Contains(log.String(), "approvers).Decide") {
		t.Errorf("no line with the stack in %s", &log)
	}
	statuses := []activity.Status{b.found(first).Status, b.found(second).Status}
	slices.Sort(statuses)
	if !slices.Equal(statuses, []activity.Status{activity.StatusCompleted, activity.StatusConsensusNeeded}) {
		t.Errorf("after the panic: %v", statuses)
	}
	b.resume()
	for _, waiting := range []*activity.Record{first, second} {
		b.is(b.found(waiting), activity.StatusCompleted)
	}
}

// TestConcurrentRejection sends the last approval to one node while the submitter
// withdraws on another. The outcome is one of the two, the same for everyone, and a
// withdrawn activity has no signature.
func TestConcurrentRejection(t *testing.T) {
	b := newBallot(t, withSharedMemory)
	other := b.Second(t)
	outcomes := map[activity.Status]int{}
	for range 50 {
		b.Clock.Advance(time.Millisecond)
		before := b.Signing.Signatures.Load()
		record := mustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{})))
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
		found, signatures := b.found(record), b.Signing.Signatures.Load()-before
		if want := map[activity.Status]int64{activity.StatusCompleted: 1, activity.StatusRejected: 0}; signatures != want[found.Status] || found.Status.Waits() {
			t.Fatalf("%s, with %d signatures", found.Status, signatures)
		}
		outcomes[found.Status]++
	}
	t.Log(outcomes)
}

// TestConcurrentVotes sends the votes of two voters to two nodes many times at once:
// there is one signature, and every answer is the activity.
func TestConcurrentVotes(t *testing.T) {
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

// race sends votes for one activity to two nodes at once.
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
