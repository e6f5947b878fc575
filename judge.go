package countersign

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

// judgement is an activity that waits as it stands now: by the directory, the
// keys and the policy of this moment.
type judgement struct {
	submitter *caller
	request   *activity.Request
	task      *signing
	decision  Decision
	votes     []Vote // that count
	now       time.Time

	// groups are those that the policy demanded when it was submitted and those
	// that it demands now: a policy that is replaced takes none away.
	groups []Approval

	// refused is why it cannot be carried out now, whatever its votes.
	refused error
}

// judge looks at an activity that waits. Its error is of the directory or the
// store; whatever else is in the way is in judgement.refused.
func (e *Engine) judge(ctx context.Context, record *activity.Record, spent SpentReader) (*judgement, error) {
	j := &judgement{now: e.config.Now(), groups: groupsOf(record.Decision.Required)}
	var err error
	if j.votes, err = e.countedVotes(ctx, record); err != nil {
		return nil, err
	}
	if j.submitter, err = e.submitterOf(ctx, record); err != nil {
		return j, ignoring(err, &j.refused)
	}
	if err := e.prepareAgain(ctx, record, j); err != nil {
		return j, ignoring(err, &j.refused)
	}
	j.decision, err = e.decide(ctx, j.submitter, j.request.Intent, j.task, j.votes, spent)
	if err != nil {
		return j, ignoring(err, &j.refused)
	}
	if len(j.decision.Rules) == 0 {
		j.refused = activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
			"not authorized: no policy judges this any more, and without one nothing that waits is signed")
	}
	for _, group := range withAges(j.decision.Approvals) {
		if !slices.ContainsFunc(j.groups, func(other Approval) bool { return reflect.DeepEqual(group, other) }) {
			j.groups = append(j.groups, group)
		}
	}
	return j, nil
}

// ignoring keeps a refusal and returns what is an error of the engine's
// surroundings.
func ignoring(err error, refused *error) error {
	if known, ok := errors.AsType[*activity.Error](err); ok {
		*refused = known
		return nil
	}
	return err
}

// prepareAgain reads the request again, and holds what it reads against what
// voters were shown.
func (e *Engine) prepareAgain(ctx context.Context, record *activity.Record, j *judgement) error {
	request, err := activity.Decode(record.Request.Body)
	if err != nil {
		return err
	}
	task, err := e.prepareWork(ctx, j.submitter, request)
	if err != nil {
		return err
	}
	signs, ok := task.(*signing)
	if !ok {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s cannot wait", request.Type)
	}
	reading, err := signs.read(ctx, nil)
	if err != nil {
		return err
	}
	if reading.Digest() != record.Reading.Digest() {
		return activity.NewError(activity.ReasonRequestInvalid, "", errReading,
			"the transaction is read in another way than when it was submitted, and not as its voters were shown it: submit it again")
	}
	j.request, j.task = request, signs
	return nil
}

// errReading is the cause of the refusal of a transaction whose reading has
// changed.
var errReading = errors.New("countersign: another reading")

// submitterOf looks the submitter up again.
func (e *Engine) submitterOf(ctx context.Context, record *activity.Record) (*caller, error) {
	organization, err := e.config.Directory.Organization(ctx, record.Request.OrganizationID)
	if err != nil && !errors.Is(err, ErrOrganizationNotFound) {
		return nil, refuseDirectory(err)
	}
	first := record.Submitter()
	member, memberErr := e.memberOf(ctx, record, first)
	by := &caller{organization: organization, member: member}
	switch {
	case memberErr != nil:
		return nil, memberErr
	case err != nil, member == nil, !by.may(record.Request.Type):
		return nil, activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
			"not authorized: the submitter's credential is not valid any more, or may not submit %s", record.Request.Type)
	}
	return by, nil
}

// countedVotes are the approvals whose voters are members still, with the tags
// that they have now. They are counted by user; how old they are is for each
// group to judge.
func (e *Engine) countedVotes(ctx context.Context, record *activity.Record) ([]Vote, error) {
	var votes []Vote
	for i := range record.Votes {
		vote := &record.Votes[i]
		if vote.Selection != activity.SelectionApproved {
			continue
		}
		member, err := e.memberOf(ctx, record, vote)
		if err != nil {
			return nil, err
		}
		if member == nil || i > 0 && !(&caller{member: member}).may(activity.TypeApproveActivity) {
			continue
		}
		at := vote.StampedAt
		if at.After(vote.CreatedAt) {
			at = vote.CreatedAt // a clock that is ahead makes no vote last longer
		}
		votes = append(votes, Vote{User: member.User, Credential: member.Credential, At: at})
	}
	return votes, nil
}

// memberOf returns the member that made a vote, nil if it is not one any more or
// its credential has expired.
func (e *Engine) memberOf(ctx context.Context, record *activity.Record, vote *activity.Vote) (*Member, error) {
	member, err := e.config.Directory.Member(ctx, record.Request.OrganizationID, stamp.ID(vote.Credential))
	switch {
	case errors.Is(err, ErrCredentialNotFound), errors.Is(err, ErrOrganizationNotFound):
		return nil, nil
	case err != nil:
		return nil, refuseDirectory(err)
	case member.User.ID != vote.UserID:
		return nil, nil
	}
	if expires := member.Credential.ExpiresAt; !expires.IsZero() && !e.config.Now().Before(expires) {
		return nil, nil
	}
	return member, nil
}

// submitterID is the user that submitted an activity.
func submitterID(record *activity.Record) string { return record.Submitter().UserID }

// missing returns every group with the votes that it still needs, and how many
// that is in all.
func (j *judgement) missing(submitter string) (groups []activity.ApprovalGroup, most int) {
	groups = recordedGroups(j.groups)
	for i := range j.groups {
		groups[i].Missing = j.groups[i].Missing(j.votes, submitter, j.now)
		most += groups[i].Missing
	}
	return groups, most
}

// admits reports whether a vote of a member would fill a place in some group.
func admits(groups []Approval, member *Member, submitter string, now time.Time) bool {
	return slices.ContainsFunc(groups, func(group Approval) bool {
		return group.Admits(Vote{User: member.User, Credential: member.Credential, At: now}, submitter, now)
	})
}

// mayReject reports whether a member's vote rejects: of the submitter, who
// withdraws, and of users who could approve, with whichever credential.
func mayReject(groups []Approval, member *Member, submitter string, now time.Time) bool {
	if member.User.ID == submitter {
		return true
	}
	eased := slices.Clone(groups)
	for i := range eased {
		eased[i].Passkey = false
	}
	return admits(eased, member, submitter, now)
}

// hasVoted reports whether a user has an approval that counts in some group.
func (j *judgement) hasVoted(user, submitter string) bool {
	return slices.ContainsFunc(j.votes, func(vote Vote) bool {
		return vote.User.ID == user && slices.ContainsFunc(j.groups, func(group Approval) bool { return group.Admits(vote, submitter, j.now) })
	})
}
