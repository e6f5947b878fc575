// Package ballot is a fixture for tests of approvals: an engine whose requests wait for votes.
package ballot

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// Ballot is an engine whose transactions need the votes of two users with the tag
// finance, not counting the submitter.
type Ballot struct {
	*enginetest.Fixture
	T         testing.TB
	Policy    *Policy
	Directory *Directory
	Ann, Ben  *enginetest.APIKey // finance
	Cid       *enginetest.APIKey // may vote, has no tag
	Dan       *enginetest.APIKey // finance, but the credential does not name votes
}

// Directory is a directory that can be replaced.
type Directory struct {
	access.Directory
	mu sync.Mutex
}

func (c *Directory) now() access.Directory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Directory
}

// Organization implements access.Directory.
func (c *Directory) Organization(ctx context.Context, id string) (*access.Organization, error) {
	return c.now().Organization(ctx, id)
}

// Member implements access.Directory.
func (c *Directory) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	return c.now().Member(ctx, organizationID, id)
}

// User implements access.Users.
func (c *Directory) User(ctx context.Context, organizationID, userID string) (*access.User, error) {
	return c.now().(access.Users).User(ctx, organizationID, userID)
}

// VoteTypes are the types of votes.
var VoteTypes = []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity}

// New returns a ballot, over an engine whose configuration the changes alter.
func New(t testing.TB, changes ...func(*countersign.Config)) *Ballot {
	t.Helper()
	b := &Ballot{
		T: t, Policy: &Policy{Groups: []access.Group{{Rule: "payouts", Count: 2, Tag: "finance", NotSubmitter: true}}},
		Directory: &Directory{}, Ann: enginetest.NewAPIKey(t), Ben: enginetest.NewAPIKey(t),
		Cid: enginetest.NewAPIKey(t), Dan: enginetest.NewAPIKey(t),
	}
	b.Fixture = enginetest.New(t, append([]func(*countersign.Config){func(config *countersign.Config) {
		config.Directory, config.Policy = b.Directory, b.Policy
	}}, changes...)...)
	b.Register("finance", "finance")
	return b
}

// Register replaces the directory. ann and ben are the tags of these users; a user with
// an empty tag is left out.
func (b *Ballot) Register(ann, ben string) {
	b.T.Helper()
	users := []access.UserConfig{
		Voter("user-1", "", b.APIKey),
		Voter("cid", "", b.Cid),
		{ID: "dan", Name: "dan", Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{b.Dan.Config()}},
	}
	submitter := &users[0].APIKeys[0]
	submitter.Activities = append([]activity.Type{activity.TypeSignTransaction, activity.TypeSignRawPayload}, VoteTypes...)
	users[0].Name = "ci"
	if ann != "" {
		users = append(users, Voter("ann", ann, b.Ann))
	}
	if ben != "" {
		users = append(users, Voter("ben", ben, b.Ben))
	}
	b.SetUsers(users...)
}

// Voter returns a user with a tag, unless it is empty, whose keys may vote.
func Voter(id, tag string, keys ...*enginetest.APIKey) access.UserConfig {
	user := access.UserConfig{ID: id, Name: id}
	if tag != "" {
		user.Tags = []string{tag}
	}
	for _, key := range keys {
		config := key.Config()
		config.Activities = VoteTypes
		user.APIKeys = append(user.APIKeys, config)
	}
	return user
}

// SetUsers replaces the directory by the given users, and one user of another
// organization.
func (b *Ballot) SetUsers(users ...access.UserConfig) {
	b.T.Helper()
	b.SetOrganization(access.OrganizationConfig{ID: enginetest.Organization, Name: "Example", Users: users,
		Resume: access.ResumeConfig{Approvals: 1}})
}

// SetOrganization is SetUsers with what else the organization has.
func (b *Ballot) SetOrganization(organization access.OrganizationConfig) {
	b.T.Helper()
	directory, err := access.NewDirectory([]access.OrganizationConfig{
		organization,
		{ID: enginetest.OtherOrganization, Name: "Other", Users: []access.UserConfig{Voter("eve", "finance", b.Other)}},
	})
	if err != nil {
		b.T.Fatal(err)
	}
	b.Directory.mu.Lock()
	defer b.Directory.mu.Unlock()
	b.Directory.Directory = directory
}

// Waiting submits a transaction and checks that it waits.
func (b *Ballot) Waiting() *activity.Record {
	b.T.Helper()
	record, err := b.Submit(b.T, enginetest.Request{})
	if err != nil {
		b.T.Fatal(err)
	}
	b.Is(record, activity.StatusConsensusNeeded)
	return record
}

// VoteBody returns the body of a vote, at the clock's time.
func (b *Ballot) VoteBody(kind activity.Type, on *activity.Record, shown string) string {
	return VoteBody(kind, on, enginetest.Organization, b.Clock.Now(), shown)
}

// VoteBody returns the body of a vote.
func VoteBody(kind activity.Type, on *activity.Record, organization string, stampedAt time.Time, shown string) string {
	return fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{"fingerprint":%q,"shown":%q}}`,
		kind, stampedAt.UnixMilli(), organization, on.Request.Fingerprint.String(), shown)
}

// Vote casts a vote on what the activity shows.
func (b *Ballot) Vote(key *enginetest.APIKey, kind activity.Type, on *activity.Record) (*activity.Record, error) {
	digest := on.Reading.Digest()
	return b.Engine.Submit(b.T.Context(), key.Sign(b.VoteBody(kind, on, fmt.Sprintf("%x", digest))))
}

// Approve casts an approving vote, which must be accepted.
func (b *Ballot) Approve(key *enginetest.APIKey, on *activity.Record) *activity.Record {
	b.T.Helper()
	record, err := b.Vote(key, activity.TypeApproveActivity, on)
	if err != nil {
		b.T.Fatal(err)
	}
	return record
}

// Is checks the status of an activity, and that it is signed only if it is completed.
func (b *Ballot) Is(record *activity.Record, status activity.Status) {
	b.T.Helper()
	if record.Status != status {
		b.T.Fatalf("the activity is %s (%s, %+v), want %s", record.Status, record.Decision.Reason, record.Failure, status)
	}
	if signed := b.Signing.Signatures.Load(); (status == activity.StatusCompleted) != (signed > 0) {
		b.T.Fatalf("%d signatures were made of an activity that is %s", signed, status)
	}
}

// Again returns an activity by submitting its body again.
func (b *Ballot) Again(on *activity.Record) *activity.Record {
	b.T.Helper()
	record, err := b.Engine.Submit(b.T.Context(), b.APIKey.Sign(string(on.Request.Body)))
	if err != nil {
		b.T.Fatal(err)
	}
	return record
}

// Stored returns the record of an activity in the store.
func (b *Ballot) Stored(on *activity.Record) *activity.Record {
	b.T.Helper()
	recorded, err := b.Config.Store.(store.Waiter).Find(b.T.Context(), enginetest.Organization, on.Request.Fingerprint)
	if err != nil {
		b.T.Fatal(err)
	}
	record, err := activity.DecodeRecord(recorded.Data)
	if err != nil {
		b.T.Fatal(err)
	}
	return record
}

// Resume runs the sweep of what waits.
func (b *Ballot) Resume() {
	b.T.Helper()
	if err := b.Engine.Operator().ResumeWaiting(b.T.Context()); err != nil {
		b.T.Fatal(err)
	}
}
