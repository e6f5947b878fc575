package approvals

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// MayRead reports whether the activity exists for the caller: the caller submitted it, voted on it or
// could have, or may submit its type. While it waits, those who could vote include the groups that
// only the current policy demands: without their votes it is never signed.
func (a *Approvals) MayRead(ctx context.Context, reader *request.Caller, record *activity.Record) (bool, error) {
	groups := a.groups(ctx, reader.Organization, record)
	if reader.Submitted(record) || reader.VotedOn(record) || reader.Member.May(record.Request.Type) {
		return true, nil
	}
	if !reader.Member.MayVote() {
		return false, nil
	}
	for asked, err := range groups {
		if err != nil || access.BelongsTo(reader.Member.User, asked...) {
			return err == nil, err
		}
	}
	return false, nil
}

// groups yields the groups that an activity was submitted with and, while it waits, those that today's
// policy demands too, which is asked only then.
func (a *Approvals) groups(ctx context.Context, organization *access.Organization,
	record *activity.Record) iter.Seq2[[]access.Group, error] {
	return func(yield func([]access.Group, error) bool) {
		if !yield(record.Decision.Required, nil) || !record.Status.Waits() {
			return
		}
		j, err := a.judge(ctx, organization, record, a.Records.Spent(record.Request.Fingerprint))
		if err != nil {
			yield(nil, err)
			return
		}
		yield(j.groups, nil)
	}
}

// MayFind reports whether MayRead can be true, without decoding the record: a credential of little
// use in an organization of many would otherwise have thousands decoded for an empty list.
func (a *Approvals) MayFind(reader *request.Caller, recorded *store.Activity) bool {
	own := recorded.User == "" || recorded.User == reader.Member.User.ID || recorded.SubmittedBy == reader.CredentialID()
	voter := reader.Member.MayVote() && (recorded.Waiting || bytes.Contains(recorded.Data, []byte(`"required":`)))
	return own || voter || recorded.Revision > 1 || reader.Member.May(activity.Type(recorded.Type)) // a vote changes it
}

// judgement is what today's directory, keys and policy say about a waiting activity: which
// votes count, which are missing, and whether it may be carried out.
type judgement struct {
	// submission is the activity, prepared as if it were submitted now.
	submission *request.Submission
	submitter  string        // user id
	votes      []access.Vote // those that count
	now        time.Time

	// demanded are the groups that the policy demanded when the activity was submitted,
	// and those that it demands now. A change of the policy drops none of them. groups are
	// all of them, each once.
	demanded [2][]access.Group
	groups   []access.Group

	// refused is why the activity cannot be carried out now, regardless of its votes.
	refused error
}

// judge evaluates a waiting activity. organization is nil if the directory no longer has it. The
// error comes from the directory or the store; any other obstacle is in judgement.refused.
func (a *Approvals) judge(ctx context.Context, organization *access.Organization, record *activity.Record,
	spent access.SpentReader) (*judgement, error) {
	j := &judgement{
		submission: request.New(request.Path(record.Request.Type)), submitter: record.Submitter().UserID,
		now: a.Records.Now(), groups: slices.Clone(record.Decision.Required),
	}
	j.demanded[0] = record.Decision.Required
	s := j.submission
	s.OrganizationID, s.Record = record.Request.OrganizationID, record
	var err error
	if j.votes, err = a.countedVotes(ctx, record); err != nil {
		return nil, err
	}
	if s.Caller, err = a.submitterOf(ctx, organization, record); err == nil {
		err = a.prepareAgain(ctx, s)
	}
	if err == nil {
		s.Decision, err = a.Ask(ctx, s, j.votes, spent)
	}
	if err != nil {
		if refused, ok := errors.AsType[*activity.Error](err); ok {
			j.refused, err = refused, nil
		}
		return j, err
	}
	if len(s.Decision.Rules) == 0 {
		j.refused = activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: no policy judges this any more, and without one nothing that waits is signed")
	}
	j.demanded[1] = withAges(s.Decision.Approvals)
	for _, group := range j.demanded[1] {
		if !slices.ContainsFunc(j.groups, isGroup(group)) {
			j.groups = append(j.groups, group)
		}
	}
	return j, nil
}

// prepareAgain reads the request of an activity that waits again, and refuses it
// unless it is read as its voters were shown it.
func (a *Approvals) prepareAgain(ctx context.Context, s *request.Submission) error {
	request, err := activity.Decode(s.Record.Request.Body)
	if err != nil {
		return err
	}
	s.Request, s.Intent = request, request.Intent
	if err := a.Prepare(ctx, s); err != nil {
		return err
	}
	signs := s.Signs()
	if signs == nil {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s cannot wait", request.Type)
	}
	reading, err := signs.Recorded(ctx, nil)
	if err != nil {
		return err
	}
	if reading.Digest() != s.Record.Reading.Digest() {
		return activity.NewError(activity.ReasonRequestInvalid, "", errReading,
			"the transaction is read in another way than when it was submitted, and not as its voters were shown it: submit it again")
	}
	return nil
}

// errReading is the cause of the refusal of a transaction whose reading has changed.
var errReading = errors.New("countersign: the reading has changed")

// submitterOf looks up the submitter of a record again.
func (a *Approvals) submitterOf(ctx context.Context, organization *access.Organization, record *activity.Record) (*request.Caller, error) {
	member, err := request.MemberOf(ctx, a.Directory, a.Records.Now(), record, record.Submitter())
	if err != nil {
		return nil, err
	}
	if organization == nil || member == nil {
		return nil, activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: the submitter, user %s, or the credential that it was submitted with is not in the "+
				"directory any more, or has expired", record.Submitter().UserID)
	}
	submitter := &request.Caller{Organization: organization, Member: member, Scheme: record.Submitter().Scheme}
	return submitter, submitter.CheckType(ctx, a.Directory, record.Request.Type)
}

// countedVotes returns the approvals of a record that are on its reading and whose voters
// are still members, with their current tags. Votes are counted by user; how old one may be is up to each
// group.
func (a *Approvals) countedVotes(ctx context.Context, record *activity.Record) ([]access.Vote, error) {
	var votes []access.Vote
	for i := range record.Votes {
		vote := &record.Votes[i]
		if vote.Selection != activity.SelectionApproved {
			continue
		}
		member, err := request.MemberOf(ctx, a.Directory, a.Records.Now(), record, vote)
		if err != nil {
			return nil, err
		}
		if member == nil || !member.May(activity.TypeApproveActivity) || i > 0 && !onReading(vote, record.Reading) {
			continue
		}
		votedAt := vote.StampedAt
		if votedAt.After(vote.CreatedAt) {
			votedAt = vote.CreatedAt // a clock that is ahead does not make a vote last longer
		}
		votes = append(votes, access.Vote{User: member.User, Credential: member.Credential, At: votedAt})
	}
	return votes, nil
}

// onReading reports whether a vote is on what the record says was shown, as far as the
// body that its voter stamped says what that was.
func onReading(vote *activity.Vote, reading *activity.Reading) bool {
	request, err := activity.Decode([]byte(vote.Message))
	if err != nil || reading == nil {
		return false
	}
	intent, ok := request.Intent.(activity.VoteIntent)
	return ok && intent.CheckShown(records.HexDigest(reading.Digest())) == nil
}

// missing returns every group with the number of votes that it still needs, and the
// sum of those numbers.
func (j *judgement) missing() (groups []access.Group, sum int) {
	groups = slices.Clone(j.groups)
	for _, demanded := range j.demanded {
		for i, missing := range access.Missing(demanded, j.votes, j.submitter, j.now) {
			group := &groups[slices.IndexFunc(j.groups, isGroup(demanded[i]))]
			group.Missing = max(group.Missing, missing)
		}
	}
	for i := range groups {
		sum += groups[i].Missing
	}
	return groups, sum
}

// isGroup returns a function that reports whether a group is the same as another.
func isGroup(group access.Group) func(access.Group) bool {
	return func(other access.Group) bool { return reflect.DeepEqual(group, other) }
}

// admits reports whether an approval by a member would fill a place in some group.
func (j *judgement) admits(member *access.Member) bool {
	vote := access.Vote{User: member.User, Credential: member.Credential, At: j.now}
	return slices.ContainsFunc(j.groups, func(group access.Group) bool { return access.Admits(&group, vote, j.submitter, j.now) })
}

// mayReject reports whether a member's vote rejects: the submitter may withdraw, and
// users who could approve may reject with any credential.
func (j *judgement) mayReject(member *access.Member) bool {
	if member.User.ID == j.submitter {
		return true
	}
	vote := access.Vote{User: member.User, At: j.now}
	return slices.ContainsFunc(j.groups, func(group access.Group) bool {
		group.Passkey = false
		return access.Admits(&group, vote, j.submitter, j.now)
	})
}
