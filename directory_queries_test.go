package countersign_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/ballot"
	"github.com/countersign-dev/countersign/stamp"
)

// countingDirectory counts the queries to a directory. Its organizations allow a hazard.
type countingDirectory struct {
	access.Directory
	organizations, members atomic.Int64
}

func (d *countingDirectory) Organization(ctx context.Context, id string) (*access.Organization, error) {
	d.organizations.Add(1)
	organization, err := d.Directory.Organization(ctx, id)
	if err != nil {
		return nil, err
	}
	allowing := *organization
	allowing.AllowHazards = []string{"ethereum/no-chain-id"}
	return &allowing, nil
}

func (d *countingDirectory) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	d.members.Add(1)
	return d.Directory.Member(ctx, organizationID, id)
}

// TestDirectoryQueries checks that each request looks up the organization and the
// credential once, also if the organization allows its hazard. An unknown sender causes
// no fewer queries, since the time would reveal which organizations and keys exist.
func TestDirectoryQueries(t *testing.T) {
	directory := new(countingDirectory)
	f := enginetest.New(t, func(c *countersign.Config) {
		directory.Directory, c.Directory = c.Directory, directory
	})
	stranger := enginetest.NewAPIKey(t)
	body := f.Body(enginetest.Request{})
	for name, test := range map[string]struct {
		sent   countersign.SignedBody
		reason activity.Reason // empty: signed
	}{
		"signed":               {f.APIKey.Sign(body), ""},
		"a hazard":             {f.APIKey.Sign(f.Body(enginetest.Request{Unsigned: enginetest.Hazardous})), ""},
		"unknown key":          {stranger.Sign(body), activity.ReasonSignatureInvalid},
		"wrong stamp":          {countersign.SignedBody{Body: []byte(body), Stamps: []stamp.Header{f.APIKey.Header([]byte("another body"))}}, activity.ReasonSignatureInvalid},
		"unknown organization": {f.APIKey.Sign(f.Body(enginetest.Request{Organization: "10000000-2000-4000-8000-300000000000"})), activity.ReasonSignatureInvalid},
	} {
		directory.organizations.Store(0)
		directory.members.Store(0)
		_, err := f.Engine.Submit(t.Context(), test.sent)
		if test.reason == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if test.reason != "" {
			enginetest.Refusal(t, err, test.reason, "")
		}
		if directory.organizations.Load() != 1 || directory.members.Load() != 1 {
			t.Errorf("%s: %d queries for the organization, %d for the credential", name, directory.organizations.Load(), directory.members.Load())
		}
	}
}

// TestDirectoryQueriesOfVote checks that a vote looks up the organization once, although
// the activity is judged several times.
func TestDirectoryQueriesOfVote(t *testing.T) {
	directory := new(countingDirectory)
	b := ballot.New(t, func(c *countersign.Config) {
		directory.Directory, c.Directory = c.Directory, directory
	})
	waiting := b.Waiting()
	for _, voter := range []*enginetest.APIKey{b.Ann, b.Ben} {
		directory.organizations.Store(0)
		b.Approve(voter, waiting)
		if queries := directory.organizations.Load(); queries != 1 {
			t.Errorf("%d queries for the organization", queries)
		}
	}
}
