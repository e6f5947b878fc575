package bench

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store"
)

// twoVotes is a policy that asks for two votes of users with the tag finance, not
// counting the submitter.
type twoVotes struct{}

func (twoVotes) Authorize(context.Context, access.Authorization) error { return nil }

func (twoVotes) Decide(context.Context, access.Authorization) (access.Decision, error) {
	return access.Decision{Rules: []string{"payouts"}, Approvals: []access.Group{
		{Rule: "payouts", Count: 2, Tag: "finance", NotSubmitter: true},
	}}, nil
}

// BenchmarkApprovals measures a request that waits, two votes, and the signature: three
// stamped requests, by one client over each store, and by 64 concurrently. The time
// includes the client's stamps of the votes: what a vote commits to is known only once
// the request waits.
func BenchmarkApprovals(b *testing.B) {
	for _, backend := range stores {
		for _, clients := range []int{1, storeClients} {
			b.Run(fmt.Sprintf("%s/clients=%d", backend.name, clients), func(b *testing.B) {
				ballot := newBallot(b, backend.open(b), b.N)
				b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
				round := func(i int) {
					if err := ballot.round(b.Context(), i); err != nil {
						b.Error(err)
					}
				}
				if clients == 1 {
					measure.Serial(b, round)
					return
				}
				measure.Parallel(b, round)
			})
		}
	}
}

// ballot is an engine whose requests wait, with its voters.
type ballot struct {
	engine *countersign.Engine
	sent   *load
	voters [2]*enginetest.APIKey
}

func newBallot(b *testing.B, backend store.Store, rounds int) *ballot {
	b.Helper()
	submitter := enginetest.NewAPIKey(b)
	v := &ballot{voters: [2]*enginetest.APIKey{enginetest.NewAPIKey(b), enginetest.NewAPIKey(b)}}
	config := submitter.Config()
	config.Activities = []activity.Type{activity.TypeSignTransaction}
	users := []access.UserConfig{{ID: "ci", Name: "ci", APIKeys: []access.APIKeyConfig{config}}}
	for i, key := range v.voters {
		config := key.Config()
		config.Activities = []activity.Type{activity.TypeApproveActivity}
		name := fmt.Sprintf("voter-%d", i)
		users = append(users, access.UserConfig{ID: name, Name: name, Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{config}})
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Users: users}})
	if err != nil {
		b.Fatal(err)
	}
	v.engine, err = submitEngineWith(submitter.Config(), backend, func(config *countersign.Config) {
		config.Directory, config.Policy = directory, twoVotes{}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := v.engine.Close(); err != nil {
			b.Error(err)
		}
	})
	v.sent = newLoad(b, submitter, rounds)
	return v
}

// round submits a request and votes until it is signed.
func (v *ballot) round(ctx context.Context, i int) error {
	record, err := v.engine.Submit(ctx, v.sent.body(i))
	if err != nil {
		return err
	}
	for _, voter := range v.voters {
		shown := record.Reading.Digest()
		body := fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{"fingerprint":%q,"shown":"%x"}}`,
			activity.TypeApproveActivity, time.Now().UnixMilli(), enginetest.Organization, record.Request.Fingerprint.String(), shown)
		if record, err = v.engine.Submit(ctx, voter.Sign(body)); err != nil {
			return err
		}
	}
	if record.Status != activity.StatusCompleted {
		return fmt.Errorf("after two votes the activity is %s", record.Status)
	}
	record.AppendAnswer(make([]byte, 0, 8<<10))
	return nil
}
