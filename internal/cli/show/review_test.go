package show

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// votesPolicy is a policy that requires the vote of another user.
type votesPolicy struct{}

func (votesPolicy) Authorize(context.Context, access.Authorization) error { return nil }

func (votesPolicy) Decide(context.Context, access.Authorization) (access.Decision, error) {
	return access.Decision{
		Digest: [32]byte{1}, Rules: []string{"payouts"},
		Approvals: []access.Group{{Rule: "payouts", Count: 1, NotSubmitter: true}},
	}, nil
}

// waitingAnswer returns a waiting activity, as a server answers it.
func waitingAnswer(t *testing.T, unsigned string) *api.Activity {
	t.Helper()
	f := enginetest.New(t, func(config *countersign.Config) { config.Policy = votesPolicy{} })
	record, err := f.Submit(t, enginetest.Request{Unsigned: unsigned})
	testenv.Must(t, err)
	waiting, err := api.ParseActivity(record.AppendAnswer(nil))
	if err != nil || waiting.Status != activity.StatusConsensusNeeded || waiting.Review == nil {
		t.Fatalf("%+v, %v", waiting, err)
	}
	return waiting
}

// TestReviewedAgainstTheBody: a server cannot show one transaction and have another one
// approved, whichever parts of its answer it replaces.
func TestReviewedAgainstTheBody(t *testing.T) {
	const otherValue = "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77c80c0"
	other := waitingAnswer(t, otherValue)
	if _, err := Reviewed(waitingAnswer(t, ""), all.Limits{}, nil); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		attack func(*api.Activity)
		want   string
	}{
		"another body":         {func(a *api.Activity) { a.Votes[0].Message = other.Votes[0].Message }, "another body"},
		"another fingerprint":  {func(a *api.Activity) { a.Fingerprint = other.Fingerprint }, "another body"},
		"another whole review": {func(a *api.Activity) { a.Review = other.Review }, "differently"},
		"another summary":      {func(a *api.Activity) { a.Review.Summary = other.Review.Summary }, "summaryDigest"},
		"another summary, hashed": {func(a *api.Activity) {
			a.Review.Summary, a.Review.SummaryDigest = other.Review.Summary, other.Review.SummaryDigest
		}, "shown"},
		"other effects": {func(a *api.Activity) { a.Review.Effects = other.Review.Effects }, "shown"},
		"another key":   {func(a *api.Activity) { a.Review.KeyIDs = []string{"key-9"} }, "shown"},
		"no review":     {func(a *api.Activity) { a.Review = nil }, "cannot vote on it"},
		"no votes":      {func(a *api.Activity) { a.Votes = nil }, "no body"},
	} {
		t.Run(name, func(t *testing.T) {
			waiting := waitingAnswer(t, "")
			test.attack(waiting)
			if _, err := Reviewed(waiting, all.Limits{}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
