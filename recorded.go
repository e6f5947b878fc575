package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// AskedAbout returns what a [Decider] is asked about a recorded activity: its bytes
// are read again, users, keys and descriptors are those of today, and the time is
// that of the record. A submitter whom the directory does not know any more is the
// user of the record, without tags. Nothing is done or charged, and Spent is nil. It is
// for asking a policy about the past. The error, an *activity.Error, says what
// cannot be read, found or prepared any more.
func (e *Engine) AskedAbout(ctx context.Context, record *activity.Record) (Authorization, error) {
	if err := e.ready(); err != nil {
		return Authorization{}, err
	}
	request, err := activity.Decode(record.Request.Body)
	if err != nil {
		return Authorization{}, err
	}
	by, err := e.recordedCaller(ctx, record)
	if err != nil {
		return Authorization{}, err
	}
	prepare, served := preparers[request.Type]
	if !served {
		return Authorization{}, activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s is not served", request.Type)
	}
	task, err := prepare(e, ctx, by, request)
	if err != nil {
		return Authorization{}, err
	}
	asked, err := e.asked(ctx, by, request.Intent, task)
	if err != nil {
		return Authorization{}, err
	}
	asked.Hazards, asked.Now = e.notAllowed(by.organization, asked.Hazards), DecidedAt(record)
	asked.Votes, err = e.recordedVotes(ctx, record, by.member)
	return asked, err
}

// DecidedAt returns when a recorded activity was decided for the last time, and
// charged: with the last vote of one that waited, else when it was submitted.
func DecidedAt(record *activity.Record) time.Time {
	if len(record.Votes) > 1 {
		return record.UpdatedAt
	}
	return record.CreatedAt
}

// recordedCaller is the submitter of a record.
func (e *Engine) recordedCaller(ctx context.Context, record *activity.Record) (*caller, error) {
	organization, err := e.organizationOf(ctx, record.Request.OrganizationID)
	if err != nil {
		return nil, err
	}
	if organization == nil {
		organization = &Organization{ID: record.Request.OrganizationID}
	}
	member, err := e.recordedMember(ctx, record, record.Submitter())
	return &caller{organization: organization, member: member}, err
}

// recordedMember is the member that made a vote, or what the record says of the user.
func (e *Engine) recordedMember(ctx context.Context, record *activity.Record, vote *activity.Vote) (*Member, error) {
	if submitter := e.config.Submitter; vote.Scheme == activity.SchemeLocal && submitter != nil && submitter.ID == vote.UserID {
		return &Member{User: *submitter}, nil
	}
	member, err := e.memberOf(ctx, record, vote)
	if err == nil && member == nil {
		member = &Member{User: User{ID: vote.UserID, Name: vote.UserName, CreatedAt: vote.UserSince}}
	}
	return member, err
}

// recordedVotes are the approvals of a record, the submitter's first.
func (e *Engine) recordedVotes(ctx context.Context, record *activity.Record, submitter *Member) ([]Vote, error) {
	var votes []Vote
	for i := range record.Votes {
		vote := &record.Votes[i]
		if vote.Selection != activity.SelectionApproved {
			continue
		}
		member := submitter
		if i > 0 {
			var err error
			if member, err = e.recordedMember(ctx, record, vote); err != nil {
				return nil, err
			}
		}
		votes = append(votes, Vote{User: member.User, Credential: member.Credential, At: vote.CreatedAt})
	}
	return votes, nil
}
