package approvals_test

import (
	"bytes"
	"fmt"
	"log/slog"
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
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestReloadKeepsDemands checks that an activity submitted under a policy that demands
// more votes is not signed under a new policy that demands fewer or none, or does not
// judge it.
func TestReloadKeepsDemands(t *testing.T) {
	for name, change := range map[string]func(p *ballot.Policy){
		"fewer":    func(p *ballot.Policy) { p.Groups[0].Count = 1 },
		"none":     func(p *ballot.Policy) { p.Groups = nil },
		"anyone":   func(p *ballot.Policy) { p.Groups = []access.Group{{Rule: "payouts", Count: 1}} },
		"unjudged": func(p *ballot.Policy) { p.Unjudged = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := ballot.New(t)
			waiting := b.Waiting()
			b.Policy.Set(change)
			b.Resume()
			b.Is(b.Again(waiting), activity.StatusConsensusNeeded)
			b.Is(b.Approve(b.Ann, waiting), activity.StatusConsensusNeeded)
			last := b.Approve(b.Ben, waiting)
			if name == "unjudged" {
				b.Is(last, activity.StatusConsensusNeeded)
			} else {
				b.Is(last, activity.StatusCompleted)
			}
		})
	}
}

// TestReloadAddsDemands checks that a group that a new policy adds must be filled too.
func TestReloadAddsDemands(t *testing.T) {
	b := ballot.New(t)
	waiting := b.Waiting()
	b.Policy.Set(func(p *ballot.Policy) {
		p.Groups = append(p.Groups, access.Group{Rule: "audit", Count: 1, Users: []string{"cid"}})
	})
	b.Approve(b.Ann, waiting)
	b.Is(b.Approve(b.Ben, waiting), activity.StatusConsensusNeeded)
	b.Policy.Set(func(p *ballot.Policy) { p.Groups = p.Groups[:1] })
	b.Resume()
	b.Is(b.Again(waiting), activity.StatusCompleted)
}

// TestReplayedVotes checks that a refused vote does not count once its voter is given
// the right to vote, that an older vote does not replace a newer one of the same user,
// and that the same body stamped by another user is another vote.
func TestReplayedVotes(t *testing.T) {
	b := ballot.New(t)
	waiting := b.Waiting()
	b.Register("finance", "intern")
	early := b.VoteBody(activity.TypeApproveActivity, waiting, "")
	_, err := b.Engine.Submit(t.Context(), b.Ben.Sign(early))
	enginetest.Refusal(t, err, activity.ReasonNotFound, "")
	b.Register("finance", "finance")
	b.Approve(b.Ann, waiting)
	for range 3 {
		record, err := b.Vote(b.Ann, activity.TypeApproveActivity, waiting)
		if err != nil || len(record.Votes) != 2 {
			t.Fatalf("replayed: %+v, %v", record, err)
		}
		b.Is(record, activity.StatusConsensusNeeded)
	}
	old := b.VoteBody(activity.TypeRejectActivity, waiting, "")
	b.Clock.Advance(time.Minute)
	b.Approve(b.Ann, waiting)
	record := enginetest.MustSubmit(t, b.Engine, b.Ann.Sign(old))
	b.Is(record, activity.StatusConsensusNeeded)
}

// TestRefusedVoteStaysRefused checks that a user whose credential was in no group, and
// is added to one later, has to stamp another vote.
func TestRefusedVoteStaysRefused(t *testing.T) {
	b := ballot.New(t)
	waiting := b.Waiting()
	submitters := b.APIKey.Sign(b.VoteBody(activity.TypeApproveActivity, waiting, ""))
	_, err := b.Engine.Submit(t.Context(), submitters)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
	b.Policy.Set(func(p *ballot.Policy) {
		p.Groups = append(p.Groups, access.Group{Rule: "self", Count: 1, Users: []string{"user-1"}})
	})
	_, err = b.Engine.Submit(t.Context(), submitters)
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
	b.Clock.Advance(time.Second)
	b.Approve(b.APIKey, waiting)
}

// TestVoteExpiry checks that a vote stops counting when it is older than its group allows, also if it
// was stamped minutes ahead, and that a newer vote of the same user counts again.
func TestVoteExpiry(t *testing.T) {
	for _, ahead := range []time.Duration{0, 4 * time.Minute} {
		b := ballot.New(t)
		waiting := b.Waiting()
		body := ballot.VoteBody(activity.TypeApproveActivity, waiting, enginetest.Organization, b.Clock.Now().Add(ahead), "")
		enginetest.MustSubmit(t, b.Engine, b.Ann.Sign(body))
		b.Clock.Advance(access.DefaultVoteAge + time.Second)
		b.Is(b.Approve(b.Ben, waiting), activity.StatusConsensusNeeded)
		b.Is(b.Approve(b.Ann, waiting), activity.StatusCompleted)
	}
}

// TestWaitingTimeout checks that the engine rejects an activity that does not get its
// votes in time.
func TestWaitingTimeout(t *testing.T) {
	b := ballot.New(t)
	waiting := b.Waiting()
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
	record := b.Approve(b.Ann, waiting)
	b.Is(record, activity.StatusRejected)
	if record.Decision.Reason == "" || len(record.Votes) != 1 {
		t.Errorf("rejected for %q with %d votes", record.Decision.Reason, len(record.Votes))
	}
}

// TestResumeAfterObstacle checks that an obstacle after the last vote leaves the
// activity waiting with the reason, and that a sweep continues with it once the obstacle
// is gone.
func TestResumeAfterObstacle(t *testing.T) {
	b := ballot.New(t)
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	b.Policy.Set(func(p *ballot.Policy) { p.Refusal = fmt.Errorf("%w: out of office hours", access.ErrDenied) })
	record := b.Approve(b.Ben, waiting)
	b.Is(record, activity.StatusConsensusNeeded)
	if record.Decision.Reason != "not authorized: denied by policy: out of office hours" || len(record.Votes) != 3 {
		t.Errorf("it waits for %q with %d votes", record.Decision.Reason, len(record.Votes))
	}
	b.Policy.Set(func(p *ballot.Policy) { p.Refusal = nil })
	b.Resume()
	b.Is(b.Again(waiting), activity.StatusCompleted)
}

// TestPanicWhileResuming checks that a panic while a sweep resumes one activity is
// logged, keeps that activity waiting, and does not keep the others from being resumed.
func TestPanicWhileResuming(t *testing.T) {
	var log bytes.Buffer
	b := ballot.New(t, func(c *countersign.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	first := b.Waiting()
	b.Clock.Advance(time.Millisecond) // or it would be the same request
	second := b.Waiting()
	for _, waiting := range []*activity.Record{first, second} {
		b.Approve(b.Ann, waiting)
		b.Policy.Set(func(p *ballot.Policy) { p.Refusal = fmt.Errorf("%w: closed", access.ErrDenied) })
		b.Approve(b.Ben, waiting)
		b.Policy.Set(func(p *ballot.Policy) { p.Refusal = nil })
	}
	b.Policy.Set(func(p *ballot.Policy) { p.Panics = 1 })
	if err := b.Engine.Operator().ResumeWaiting(t.Context()); err == nil || !strings.Contains(err.Error(), "panic: a faulty policy") {
		t.Errorf("the sweep returned %v", err)
	}
	if !strings.Contains(log.String(), `"msg":"panic while resuming an activity"`) || !strings.Contains(log.String(), "ballot.(*Policy).Decide") {
		t.Errorf("no line with the stack in %s", &log)
	}
	statuses := []activity.Status{b.Again(first).Status, b.Again(second).Status}
	slices.Sort(statuses)
	if !slices.Equal(statuses, []activity.Status{activity.StatusCompleted, activity.StatusConsensusNeeded}) {
		t.Errorf("after the panic: %v", statuses)
	}
	b.Resume()
	for _, waiting := range []*activity.Record{first, second} {
		b.Is(b.Again(waiting), activity.StatusCompleted)
	}
}

// TestConcurrentRejection sends the last approval to one node while the submitter
// withdraws on another. The outcome is one of the two, the same for everyone, and a
// withdrawn activity has no signature.
func TestConcurrentRejection(t *testing.T) {
	b := ballot.New(t, withSharedMemory)
	other := b.Second(t)
	outcomes := map[activity.Status]int{}
	for range 50 {
		b.Clock.Advance(time.Millisecond)
		before := b.Signing.Signatures.Load()
		record := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{})))
		b.Approve(b.Ann, record)
		approval := b.Ben.Sign(b.VoteBody(activity.TypeApproveActivity, record, ""))
		withdrawal := b.APIKey.Sign(b.VoteBody(activity.TypeRejectActivity, record, ""))
		var both sync.WaitGroup
		for engine, sent := range map[*countersign.Engine]countersign.SignedBody{b.Engine: approval, other: withdrawal} {
			both.Go(func() {
				if _, err := engine.Submit(t.Context(), sent); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		found, signatures := b.Again(record), b.Signing.Signatures.Load()-before
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
		b := ballot.New(t, withSharedMemory)
		race(b, b.Second(t))
	})
	t.Run("postgres", func(t *testing.T) {
		testenv.Slow(t)
		dsn := testenv.Postgres(t).DSN
		open := func(config *countersign.Config) {
			opened, err := postgres.Open(t.Context(), dsn)
			testenv.Must(t, err)
			config.Store = opened
		}
		b := ballot.New(t, open)
		open(&b.Config)
		race(b, b.Second(t))
	})
}

// race sends votes for one activity to two nodes at once.
func race(b *ballot.Ballot, other *countersign.Engine) {
	t := b.T
	waiting := b.Waiting()
	var all sync.WaitGroup
	answers := make(chan *activity.Record, 64)
	for i := range cap(answers) {
		key, engine := []*enginetest.APIKey{b.Ann, b.Ben}[i%2], []*countersign.Engine{b.Engine, other}[i/2%2]
		sent := key.Sign(b.VoteBody(activity.TypeApproveActivity, waiting, ""))
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
