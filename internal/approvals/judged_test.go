package approvals_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// reloaded is a policy that is another file in each judgement, and keeps what the last one saw.
type reloaded struct {
	*ballot.Policy
	judgements byte
	rule       string
	asked      access.Authorization
}

func (r *reloaded) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	decision, err := r.Policy.Decide(ctx, asked)
	r.judgements++
	r.rule, r.asked = fmt.Sprint("judgement ", r.judgements), asked
	decision.Rules, decision.Digest = []string{r.rule}, [32]byte{r.judgements}
	return decision, err
}

// turning is what descriptors say if they change whenever they are asked.
type turning struct{ asked int }

func (r *turning) Read(chains.Call) (chains.Reading, bool) {
	r.asked++
	return chains.Reading{Function: fmt.Sprintf("f%d()", r.asked), Complete: true}, true
}

func (*turning) LookupTable([]byte) (table chains.LookupTable, ok bool) { return table, false }

// judgedBallot returns a ballot whose policy and descriptors change all the time.
func judgedBallot(t *testing.T) (*ballot.Ballot, *reloaded) {
	policy := new(reloaded)
	b := ballot.New(t, withSharedMemory, func(c *countersign.Config) {
		policy.Policy = c.Policy.(*ballot.Policy)
		c.Policy, c.Descriptors = policy, new(turning)
	})
	return b, policy
}

// isOfLast checks that a record has the decision, the readings and the effects of the last judgement.
func isOfLast(t *testing.T, record *activity.Record, last *reloaded) {
	t.Helper()
	decision, did := record.Decision, record.Did
	if record.Status != activity.StatusCompleted || did == nil {
		t.Fatalf("%s, %+v", record.Status, record.Failure)
	}
	if want := []string{last.rule}; !reflect.DeepEqual(decision.Rules, want) || !reflect.DeepEqual(did.Rules, want) ||
		decision.PolicyDigest != fmt.Sprintf("%x", [32]byte{last.judgements}) {
		t.Errorf("recorded %v, %v and %s after %s", decision.Rules, did.Rules, decision.PolicyDigest, last.rule)
	}
	if want := last.asked.Readings.DigestText(); decision.Readings != want {
		t.Errorf("recorded the readings %s, judged were %s", decision.Readings, want)
	}
	var sentences []string
	for i := range did.Effects {
		sentences = append(sentences, did.Effects[i].Sentence)
	}
	if want := names.Sentences(last.asked.Effects, nil); !reflect.DeepEqual(sentences, want) {
		t.Errorf("recorded %q, judged were %q", sentences, want)
	}
}

// TestRecordIsOfTheLastJudgement: whatever the policy and the descriptors say in the meantime, a
// record has what the last judgement saw: of a request that is signed at once, and of one that
// waited, which is prepared again.
func TestRecordIsOfTheLastJudgement(t *testing.T) {
	b, policy := judgedBallot(t)
	waiting := b.Waiting()
	first := policy.judgements
	b.Approve(b.Ann, waiting)
	b.Approve(b.Ben, waiting)
	if stored := b.Stored(waiting); policy.judgements <= first+1 {
		t.Errorf("%d judgements, %d of the submission", policy.judgements, first)
	} else {
		isOfLast(t, stored, policy)
	}
	policy.Set(func(p *ballot.Policy) { p.Groups = nil })
	record, err := b.Submit(t, enginetest.Request{Unsigned: engines.BlindCall})
	testenv.Must(t, err)
	isOfLast(t, record, policy)
	if record.Decision.Readings == "" {
		t.Error("a call was not read")
	}
}

// TestReadingTurns: a call that is read in another way than its voters were shown is not signed.
func TestReadingTurns(t *testing.T) {
	b, _ := judgedBallot(t)
	waiting, err := b.Submit(t, enginetest.Request{Unsigned: engines.BlindCall})
	testenv.Must(t, err)
	b.Approve(b.Ann, waiting)
	if ended, err := b.Vote(b.Ben, activity.TypeApproveActivity, waiting); err == nil && ended.Status == activity.StatusCompleted {
		t.Error("signed")
	}
	b.WantSignatures(t, 0)
}

// TestSweepAsksAboutWhatHasItsVotes: a sweep prepares and judges nothing that lacks votes.
func TestSweepAsksAboutWhatHasItsVotes(t *testing.T) {
	b, policy := judgedBallot(t)
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	before := policy.judgements
	b.Resume()
	if policy.judgements != before {
		t.Errorf("the policy was asked %d times", policy.judgements-before)
	}
	b.Is(b.Approve(b.Ben, waiting), activity.StatusCompleted)
}
