package verify_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/verify"
)

// membersOf returns the users of a ballot as an auditor knows them: by their public keys.
func membersOf(b *ballot.Ballot) []access.Member {
	b.T.Helper()
	var members []access.Member
	for user, key := range map[string]*enginetest.APIKey{"user-1": b.APIKey, "ann": b.Ann, "ben": b.Ben, "cid": b.Cid, "dan": b.Dan} {
		config := key.Config()
		if user != "dan" {
			config.Activities = append([]activity.Type{activity.TypeSignTransaction}, ballot.VoteTypes...)
		}
		tags := []string{"finance"}
		if user == "cid" {
			tags = nil
		}
		one := access.OrganizationConfig{ID: enginetest.Organization, Name: "Example", Users: []access.UserConfig{
			{ID: user, Name: user, Tags: tags, APIKeys: []access.APIKeyConfig{config}},
		}}
		credentials, err := one.Members()
		testenv.Must(b.T, err)
		members = append(members, credentials...)
	}
	return members
}

// completed returns the record of a completed activity as the store keeps it, with all
// its stamps.
func completed(b *ballot.Ballot, t *testing.T) *activity.Record {
	t.Helper()
	b.Clock.Advance(time.Second)
	waiting := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{})))
	b.Approve(b.Ann, waiting)
	b.Approve(b.Ben, waiting)
	record := b.Stored(waiting)
	if record.Status != activity.StatusCompleted {
		t.Fatalf("%+v", record)
	}
	return record
}

// TestVerifyVotes checks that public keys alone verify a record, and that any
// manipulation of its votes is detected.
func TestVerifyVotes(t *testing.T) {
	b := ballot.New(t, func(config *countersign.Config) { config.Store = memory.New(0) })
	first, second := completed(b, t), completed(b, t)
	members := membersOf(b)
	without := func(user string) []access.Member {
		return slices.DeleteFunc(slices.Clone(members), func(m access.Member) bool { return m.User.ID == user })
	}
	votes, err := verify.Votes(first, members)
	if err != nil || len(votes) != 3 || votes[1].User.ID != "ann" {
		t.Fatalf("%+v, %v", votes, err)
	}
	for name, test := range map[string]struct {
		attack  func(r *activity.Record)
		members []access.Member
		want    string
	}{
		"a vote of another activity":      {func(r *activity.Record) { r.Votes[1] = second.Votes[1] }, members, "another activity"},
		"its message alone":               {func(r *activity.Record) { r.Votes[1].Message = second.Votes[1].Message }, members, "another activity"},
		"its signature alone":             {func(r *activity.Record) { r.Votes[1].Signature = second.Votes[1].Signature }, members, "wrong signature"},
		"another submitter's stamp":       {func(r *activity.Record) { r.Votes[0].Signature = second.Votes[0].Signature }, members, "wrong signature"},
		"a removed vote":                  {func(r *activity.Record) { r.Votes = r.Votes[:2] }, members, "1 of the 2 votes that rule payouts demanded"},
		"all votes removed":               {func(r *activity.Record) { r.Votes = nil }, members, "there are none"},
		"one vote twice":                  {func(r *activity.Record) { r.Votes[2] = r.Votes[1] }, members, "voted before"},
		"a vote in another's name":        {func(r *activity.Record) { r.Votes[1].UserID = "cid" }, members, "no such user"},
		"the submitter's stamp as a vote": {func(r *activity.Record) { r.Votes[1] = r.Votes[0]; r.Votes[1].Message = string(r.Request.Body) }, members, "not an approval"},
		"a rejection":                     {func(r *activity.Record) { r.Votes[1].Selection = activity.SelectionRejected }, members, "VOTE_SELECTION_REJECTED"},
		"another submitter's time":        {func(r *activity.Record) { r.Votes[0].StampedAt = second.Votes[0].StampedAt }, members, "recorded as stamped at"},
		"another credential":              {func(r *activity.Record) { r.Votes[1].Credential = r.Votes[2].Credential }, members, "recorded for credential"},
		"another body":                    {func(r *activity.Record) { r.Request, r.Votes[0].StampedAt = second.Request, second.Request.Time() }, members, "wrong signature"},
		"a hidden signature":              {func(r *activity.Record) { r.Votes[2].Signature = "" }, members, "it has no signature"},
		"a user who is not a member":      {func(*activity.Record) {}, without("ben"), "no such user"},
		"another summary shown":           {func(r *activity.Record) { r.Reading.Summary += " " }, members, "it is on another reading"},
		"other keys shown":                {func(r *activity.Record) { r.Reading.KeyIDs = []string{"key-9"} }, members, "it is on another reading"},
		"other effects shown":             {func(r *activity.Record) { r.Reading.Effects = "[]" }, members, "it is on another reading"},
		"other readings shown":            {func(r *activity.Record) { r.Reading.Readings = `[{"path":"call"}]` }, members, "it is on another reading"},
		"nothing shown":                   {func(r *activity.Record) { r.Reading = nil }, members, "it is on another reading"},
		"a submitter who is not a member": {func(*activity.Record) {}, without("user-1"), "no such user"},
	} {
		t.Run(name, func(t *testing.T) {
			record := *first
			record.Votes = slices.Clone(first.Votes)
			reading := *first.Reading
			record.Reading = &reading
			test.attack(&record)
			_, err := verify.Votes(&record, test.members)
			if !errors.Is(err, verify.ErrVotes) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestVerifyAnswerVotes checks that the votes in an answer are verified too. How many
// there must be is up to the verifier.
func TestVerifyAnswerVotes(t *testing.T) {
	b := ballot.New(t, func(config *countersign.Config) { config.Store = memory.New(0) })
	record := completed(b, t)
	trust := verify.Trust{Chains: all.Chains(all.Limits{}), Body: record.Request.Body, Members: membersOf(b), Approvals: []access.Group{{Rule: "two", Count: 2, NotSubmitter: true}}}
	checks, err := verify.Answer(record.AppendAnswer(nil), trust)
	if err != nil || !strings.HasSuffix(checksOf(checks), " votes") {
		t.Errorf("%v, %v", checks, err)
	}
	trust.Shown = fmt.Sprintf("%x", record.Reading.Digest())
	if _, err := verify.Answer(record.AppendAnswer(nil), trust); err != nil {
		t.Error(err)
	}
	other := trust
	other.Shown = strings.Repeat("ab", 32)
	if _, err := verify.Answer(record.AppendAnswer(nil), other); !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), "it is on another reading") {
		t.Errorf("another digest: %v", err)
	}
	less := *record
	less.Votes = record.Votes[:2]
	for name, attacked := range map[string][]byte{
		"a removed vote":     less.AppendAnswer(nil),
		"a hidden signature": record.WithoutStamps(func(vote *activity.Vote) bool { return vote.UserID == "ben" }).AppendAnswer(nil),
		"an exchanged vote":  []byte(strings.ReplaceAll(string(record.AppendAnswer(nil)), record.Votes[1].Signature, record.Votes[2].Signature)),
	} {
		if _, err := verify.Answer(attacked, trust); !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), "votes: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVotesOnTwoReadings checks that the votes in one answer must be on one reading, and
// that the engine counts no vote on another one than the record's.
func TestVotesOnTwoReadings(t *testing.T) {
	b := ballot.New(t, func(config *countersign.Config) { config.Store = memory.New(0) })
	record, members := completed(b, t), membersOf(b)
	message := ballot.VoteBody(activity.TypeApproveActivity, record, enginetest.Organization, record.Votes[2].StampedAt, strings.Repeat("ab", 32))
	stamped := b.Ben.Sign(message)
	forged := *record
	forged.Votes = slices.Clone(record.Votes)
	forged.Votes[2].Message = message
	forged.Votes[2].Signature = signatureOf(t, stamped.Stamps[0].Value)
	trust := verify.Trust{Body: record.Request.Body, Members: members}
	if _, err := verify.Answer(forged.AppendAnswer(nil), trust); !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), "votes[2], of user ben: it is on another reading") {
		t.Errorf("an answer with votes on two readings: %v", err)
	}

	b.Clock.Advance(time.Second)
	waiting := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{})))
	b.Approve(b.Ann, waiting)
	stored := b.Stored(waiting)
	stored.Votes[1].Message = ballot.VoteBody(activity.TypeApproveActivity, waiting, enginetest.Organization, stored.Votes[1].StampedAt, strings.Repeat("ab", 32))
	found, err := b.Config.Store.(store.Waiter).Find(t.Context(), enginetest.Organization, waiting.Request.Fingerprint)
	testenv.Must(t, err)
	found.Data = stored.Encode()
	testenv.Must(t, b.Config.Store.(store.Waiter).Replace(t.Context(), found, b.Clock.Now(), nil))
	b.Clock.Advance(time.Second)
	if after := b.Approve(b.Ben, waiting); after.Status != activity.StatusConsensusNeeded {
		t.Errorf("%s: a vote on another reading counted", after.Status)
	}
	b.Clock.Advance(time.Second)
	if after := b.Approve(b.Ann, waiting); after.Status != activity.StatusCompleted {
		t.Errorf("%s: %s, after a vote on the right one", after.Status, after.Decision.Reason)
	}
}

// signatureOf returns the signature in the stamp of an API key.
func signatureOf(t *testing.T, header string) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(header)
	testenv.Must(t, err)
	var stamped struct{ Signature string }
	testenv.JSON(t, raw, &stamped)
	return stamped.Signature
}
