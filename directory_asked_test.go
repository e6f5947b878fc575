package countersign_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/stamp"
)

// askedDirectory counts what a directory is asked. Its organizations allow a hazard.
type askedDirectory struct {
	countersign.Directory
	organizations, members atomic.Int64
}

func (d *askedDirectory) Organization(ctx context.Context, id string) (*countersign.Organization, error) {
	d.organizations.Add(1)
	organization, err := d.Directory.Organization(ctx, id)
	if err != nil {
		return nil, err
	}
	allowing := *organization
	allowing.AllowHazards = []string{"ethereum/no-chain-id"}
	return &allowing, nil
}

func (d *askedDirectory) Member(ctx context.Context, organizationID string, id stamp.ID) (*countersign.Member, error) {
	d.members.Add(1)
	return d.Directory.Member(ctx, organizationID, id)
}

// TestDirectoryIsAskedOnce: a directory that is a database has one query for the
// organization and one for the credential of each request, also of one with a hazard
// that the organization allows; and of a stranger no fewer, whose time would tell which
// organizations and keys there are.
func TestDirectoryIsAskedOnce(t *testing.T) {
	directory := new(askedDirectory)
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
			refusedWith(t, err, test.reason)
		}
		if directory.organizations.Load() != 1 || directory.members.Load() != 1 {
			t.Errorf("%s: %d queries for the organization, %d for the credential", name, directory.organizations.Load(), directory.members.Load())
		}
	}
}

// TestDirectoryAskedByVote checks that a vote looks up the organization once, although
// the activity is judged several times.
func TestDirectoryAskedByVote(t *testing.T) {
	directory := new(askedDirectory)
	b := newBallot(t, func(c *countersign.Config) {
		directory.Directory, c.Directory = c.Directory, directory
	})
	waiting := b.submit()
	for _, voter := range []*enginetest.APIKey{b.ann, b.ben} {
		directory.organizations.Store(0)
		b.approve(voter, waiting)
		if queries := directory.organizations.Load(); queries != 1 {
			t.Errorf("%d queries for the organization", queries)
		}
	}
}
