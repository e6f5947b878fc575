package countersign_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// approvers is a policy that demands votes for everything.
type approvers struct {
	mu       sync.Mutex
	groups   []access.Group
	refusal  error
	unjudged bool // no rule judges
	panics   int  // so many calls of Decide panic
	charges  []store.Charge
	beyond   []access.Group // demanded instead when a limit is exceeded; nil refuses
}

func (p *approvers) Authorize(ctx context.Context, asked access.Authorization) error {
	_, err := p.Decide(ctx, asked)
	return err
}

func (p *approvers) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.panics > 0 {
		p.panics--
		panic("a faulty policy")
	}
	if p.unjudged {
		return access.Decision{}, p.refusal
	}
	for _, charge := range p.charges {
		if asked.Spent == nil {
			continue
		}
		spent, _, err := asked.Spent.Spent(ctx, asked.Organization.ID, charge.Limit, charge.Subject, charge.Window)
		if err == nil && spent.Add(spent, charge.Amount).Cmp(charge.Max) > 0 {
			if p.beyond != nil {
				return access.Decision{Digest: [32]byte{1}, Rules: []string{"large"}, Approvals: slices.Clone(p.beyond)}, nil
			}
			err = fmt.Errorf("%w: limit %s", access.ErrDenied, charge.Limit)
		}
		if err != nil {
			return access.Decision{}, err
		}
	}
	return access.Decision{Digest: [32]byte{1}, Rules: []string{"payouts"}, Approvals: slices.Clone(p.groups), Charges: slices.Clone(p.charges)}, p.refusal
}

func (p *approvers) set(change func(p *approvers)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// ballot is an engine whose transactions need the votes of two users with the tag
// finance, not counting the submitter.
type ballot struct {
	*enginetest.Fixture
	t         testing.TB
	policy    *approvers
	directory *changing
	ann, ben  *enginetest.APIKey // finance
	cid       *enginetest.APIKey // may vote, has no tag
	dan       *enginetest.APIKey // finance, but the credential does not name votes
}

// changing is a directory that can be replaced.
type changing struct {
	access.Directory
	mu sync.Mutex
}

func (c *changing) now() access.Directory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Directory
}

func (c *changing) Organization(ctx context.Context, id string) (*access.Organization, error) {
	return c.now().Organization(ctx, id)
}

func (c *changing) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	return c.now().Member(ctx, organizationID, id)
}

var voteTypes = []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity}

func newBallot(t testing.TB, changes ...func(*countersign.Config)) *ballot {
	t.Helper()
	b := &ballot{
		t: t, policy: &approvers{groups: []access.Group{{Rule: "payouts", Count: 2, Tag: "finance", NotSubmitter: true}}},
		directory: &changing{}, ann: enginetest.NewAPIKey(t), ben: enginetest.NewAPIKey(t), cid: enginetest.NewAPIKey(t), dan: enginetest.NewAPIKey(t),
	}
	b.Fixture = enginetest.New(t, append([]func(*countersign.Config){func(config *countersign.Config) {
		config.Directory, config.Policy = b.directory, b.policy
	}}, changes...)...)
	b.register("finance", "finance")
	return b
}

// register replaces the directory. ann and ben are the tags of these users; a user with
// an empty tag is left out.
func (b *ballot) register(ann, ben string) {
	b.t.Helper()
	users := []access.UserConfig{
		voter("user-1", "", b.APIKey),
		voter("cid", "", b.cid),
		{ID: "dan", Name: "dan", Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{b.dan.Config()}},
	}
	submitter := &users[0].APIKeys[0]
	submitter.Activities = append([]activity.Type{activity.TypeSignTransaction, activity.TypeSignRawPayload}, voteTypes...)
	users[0].Name = "ci"
	if ann != "" {
		users = append(users, voter("ann", ann, b.ann))
	}
	if ben != "" {
		users = append(users, voter("ben", ben, b.ben))
	}
	b.organization(users...)
}

// voter returns a user with a tag, unless it is empty, whose keys may vote.
func voter(id, tag string, keys ...*enginetest.APIKey) access.UserConfig {
	user := access.UserConfig{ID: id, Name: id}
	if tag != "" {
		user.Tags = []string{tag}
	}
	for _, key := range keys {
		config := key.Config()
		config.Activities = voteTypes
		user.APIKeys = append(user.APIKeys, config)
	}
	return user
}

// organization replaces the directory by the given users, and one user of another
// organization.
func (b *ballot) organization(users ...access.UserConfig) {
	b.t.Helper()
	directory, err := access.NewDirectory([]access.OrganizationConfig{
		{ID: enginetest.Organization, Name: "Example", Users: users},
		{ID: enginetest.OtherOrganization, Name: "Other", Users: []access.UserConfig{voter("eve", "finance", b.Other)}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.directory.mu.Lock()
	defer b.directory.mu.Unlock()
	b.directory.Directory = directory
}

// submit submits a transaction and checks that it waits.
func (b *ballot) submit() *activity.Record {
	b.t.Helper()
	record, err := b.Submit(b.t, enginetest.Request{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.is(record, activity.StatusConsensusNeeded)
	return record
}

// body returns the body of a vote, at the clock's time.
func (b *ballot) body(kind activity.Type, on *activity.Record, shown string) string {
	return voteBody(kind, on, enginetest.Organization, b.Clock.Now(), shown)
}

func voteBody(kind activity.Type, on *activity.Record, organization string, stampedAt time.Time, shown string) string {
	return fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{"fingerprint":%q,"shown":%q}}`,
		kind, stampedAt.UnixMilli(), organization, on.Request.Fingerprint.String(), shown)
}

func (b *ballot) vote(key *enginetest.APIKey, kind activity.Type, on *activity.Record) (*activity.Record, error) {
	digest := on.Reading.Digest()
	return b.Engine.Submit(b.t.Context(), key.Sign(b.body(kind, on, fmt.Sprintf("%x", digest))))
}

// approve casts an approving vote, which must be accepted.
func (b *ballot) approve(key *enginetest.APIKey, on *activity.Record) *activity.Record {
	b.t.Helper()
	record, err := b.vote(key, activity.TypeApproveActivity, on)
	if err != nil {
		b.t.Fatal(err)
	}
	return record
}

func (b *ballot) is(record *activity.Record, status activity.Status) {
	b.t.Helper()
	if record.Status != status {
		b.t.Fatalf("the activity is %s (%s, %+v), want %s", record.Status, record.Decision.Reason, record.Failure, status)
	}
	if signed := b.Signing.Signatures.Load(); (status == activity.StatusCompleted) != (signed > 0) {
		b.t.Fatalf("%d signatures were made of an activity that is %s", signed, status)
	}
}

// TestTwoApprovals checks that the second vote signs, and that all later answers are the
// same.
func TestTwoApprovals(t *testing.T) {
	seen := new(waits)
	b := newBallot(t, func(config *countersign.Config) { config.Observer = seen })
	waiting := b.submit()
	if waiting.Viewer.CanApprove || !waiting.Viewer.CanReject {
		t.Errorf("the submitter, who does not count, may approve: %+v", waiting.Viewer)
	}
	first := b.approve(b.ann, waiting)
	b.is(first, activity.StatusConsensusNeeded)
	if len(first.Votes) != 2 || first.Viewer.CanApprove || !first.Viewer.CanReject || first.Viewer.Review.Missing[0].Missing != 1 {
		t.Errorf("after the first vote: %+v", first.Viewer)
	}
	if err := first.Viewer.Review.Check(); err != nil {
		t.Error(err)
	}
	done := b.approve(b.ben, waiting)
	b.is(done, activity.StatusCompleted)
	if done.ID != waiting.ID || done.Result != (activity.SignTransactionResult{SignedTransaction: enginetest.Signed}) || len(done.Votes) != 3 {
		t.Errorf("completed as %+v", done)
	}
	if again := b.found(waiting); again.Status != activity.StatusCompleted || again.ID != waiting.ID {
		t.Errorf("the submitter's body again: %+v", again)
	}
	if late := b.approve(b.ann, waiting); late.Status != activity.StatusCompleted || len(late.Votes) != 3 {
		t.Errorf("a vote on what is completed: %+v", late)
	}
	wantSignatures(t, b.Fixture, 1)
	if want := (waits{true, true, false, false, false}); !slices.Equal(*seen, want) {
		t.Errorf("observed as waiting: %t, want %t", *seen, want)
	}
}

// waits is an observer that notes of each request whether it waits.
type waits []bool

func (w *waits) Observe(seen countersign.Observation) { *w = append(*w, seen.Waits) }

// TestSentenceNames checks that voters read the token names that the engine knows, and
// that names do not change what they vote on.
func TestSentenceNames(t *testing.T) {
	const usdc = "02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb" +
		"00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7000000000000000000000000000000000000000000000000000000000ee6b280c0"
	var shown [2][32]byte
	for i, known := range []chains.Names{nil, names.New()} {
		b := newBallot(t, func(config *countersign.Config) { config.Names = known })
		record := mustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{Unsigned: usdc})))
		shown[i] = record.Reading.Digest()
		want := []string{"send 250000000 units of token 0xA0b8", "send 250 USDC from 0x97cC"}[i]
		if got := record.Viewer.Review.Sentences; len(got) != 2 || !strings.HasPrefix(got[0], want) {
			t.Errorf("the sentences are %q, want %q at first", got, want)
		}
	}
	if shown[0] != shown[1] {
		t.Error("names change what a vote is on")
	}
}

// TestIneligibleVotes refuses votes of users outside the group, of credentials that do
// not name votes, on another reading, and on an unknown activity.
func TestIneligibleVotes(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.policy.set(func(p *approvers) { p.groups[0].Count = 1 })
	_, err := b.vote(b.dan, activity.TypeApproveActivity, waiting)
	refusal(t, err, activity.ReasonNotAuthorized, "")
	_, err = b.vote(b.APIKey, activity.TypeApproveActivity, waiting)
	refusal(t, err, activity.ReasonNotAuthorized, "")
	for _, kind := range voteTypes {
		_, err = b.vote(b.cid, kind, waiting)
		refusal(t, err, activity.ReasonNotFound, "") // not even that it is there
	}
	_, err = b.Engine.Submit(t.Context(), b.ann.Sign(b.body(activity.TypeApproveActivity, waiting, fmt.Sprintf("%064x", 1))))
	refusal(t, err, activity.ReasonRequestInvalid, "")
	other := *waiting
	otherRequest := *waiting.Request
	otherRequest.Fingerprint[0]++
	other.Request = &otherRequest
	_, err = b.vote(b.ann, activity.TypeApproveActivity, &other)
	refusal(t, err, activity.ReasonNotFound, "")
	b.is(b.approve(b.ann, waiting), activity.StatusConsensusNeeded)
}

// TestRejections checks that a rejection by a user who could approve, or by the
// submitter, ends the activity.
func TestRejections(t *testing.T) {
	for _, who := range []func(b *ballot) *enginetest.APIKey{
		func(b *ballot) *enginetest.APIKey { return b.ben },
		func(b *ballot) *enginetest.APIKey { return b.APIKey },
	} {
		b := newBallot(t)
		waiting := b.submit()
		b.approve(b.ann, waiting)
		rejected, err := b.vote(who(b), activity.TypeRejectActivity, waiting)
		if err != nil {
			t.Fatal(err)
		}
		b.is(rejected, activity.StatusRejected)
		b.is(b.approve(b.ben, waiting), activity.StatusRejected)
		b.is(b.found(waiting), activity.StatusRejected)
	}
}

// TestOneVotePerUser checks that a user who votes twice counts once.
func TestOneVotePerUser(t *testing.T) {
	b := newBallot(t)
	waiting := b.submit()
	b.approve(b.ann, waiting)
	b.is(b.approve(b.ann, waiting), activity.StatusConsensusNeeded)
	b.Clock.Advance(time.Minute)
	again := b.approve(b.ann, waiting)
	b.is(again, activity.StatusConsensusNeeded)
	if len(again.Votes) != 2 || !again.Votes[1].StampedAt.Equal(b.Clock.Now()) {
		t.Errorf("the newer vote has not taken the place of the older: %+v", again.Votes)
	}
}
