package countersign_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store"
)

// judged is a Decider that notes the user it is asked about.
type judged struct {
	user     access.User
	decision access.Decision
	refusal  error
}

func (j *judged) Authorize(ctx context.Context, asked access.Authorization) error {
	_, err := j.Decide(ctx, asked)
	return err
}

func (j *judged) Decide(_ context.Context, asked access.Authorization) (access.Decision, error) {
	j.user = asked.User
	return j.decision, j.refusal
}

// TestSubmitterOfCalls checks that calls without a stamp are judged as their user. A call
// that is charged to a limit is signed; one that would have to wait for votes is refused if
// the directory does not know its user.
func TestSubmitterOfCalls(t *testing.T) {
	machine := access.User{ID: "machine", Name: "machine", Tags: []string{"agent"}}
	for name, test := range map[string]struct {
		policy    judged
		submitter *access.User
		reason    activity.Reason // empty: signed
	}{
		"allowed":        {judged{decision: access.Decision{Rules: []string{"all"}}}, &machine, ""},
		"denied":         {judged{refusal: access.ErrDenied}, &machine, activity.ReasonNotAuthorized},
		"charged":        {judged{decision: access.Decision{Rules: []string{"all"}, Charges: []store.Charge{ofTwo()}}}, &machine, ""},
		"waits":          {judged{decision: access.Decision{Rules: []string{"all"}, Approvals: []access.Group{{Rule: "all", Count: 2}}}}, &machine, activity.ReasonNotAuthorized},
		"its own vote":   {judged{decision: access.Decision{Rules: []string{"all"}, Approvals: []access.Group{{Rule: "all", Count: 1, Tag: "agent"}}}}, &machine, activity.ReasonNotAuthorized},
		"without a user": {judged{decision: access.Decision{Rules: []string{"all"}}}, nil, activity.ReasonNotAuthorized},
	} {
		t.Run(name, func(t *testing.T) {
			f := enginetest.New(t, func(config *countersign.Config) { config.Policy = &test.policy })
			var as calls = f.Engine
			if test.submitter != nil {
				as = f.Engine.As(*test.submitter, "")
			}
			signs := map[string]func() error{
				"SignTransaction": func() error {
					_, err := as.SignTransaction(t.Context(), enginetest.Organization, payout())
					return err
				},
				"SignMessage": func() error {
					_, err := as.SignMessage(t.Context(), enginetest.Organization, payload(greeting, activity.EncodingText, activity.HashKeccak256))
					return err
				},
			}
			for call, sign := range signs {
				err := sign()
				if test.reason == "" && err != nil {
					t.Errorf("%s: %v", call, err)
				}
				if test.reason != "" {
					enginetest.Refusal(t, err, test.reason, "")
				}
			}
			if signatures := f.Signing.Signatures.Load(); (signatures == int64(len(signs))) != (test.reason == "") || test.reason != "" && signatures != 0 {
				t.Errorf("%d signatures", signatures)
			}
			if test.submitter != nil && test.policy.user.ID != machine.ID {
				t.Errorf("judged as %+v", test.policy.user)
			}
		})
	}
}

// ofTwo returns a charge to a limit that has room for two.
func ofTwo() store.Charge {
	return store.Charge{Limit: "payouts-day", Subject: "all", Amount: big.NewInt(1), Max: big.NewInt(2), Window: 24 * time.Hour}
}
