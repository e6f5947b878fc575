package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

// AskedAbout returns what a [Decider] is asked about a recorded activity, to ask a
// policy about the past. The recorded bytes are read again; users, keys and descriptors
// are the current ones, and the time is that of the record. A submitter who is no longer
// in the directory is the user of the record, without tags. Nothing is done or charged,
// and Spent is nil. The error, an *activity.Error, says what can no longer be read,
// found or prepared.
func (e *Engine) AskedAbout(ctx context.Context, record *activity.Record) (access.Authorization, error) {
	if err := e.takesRequests(); err != nil {
		return access.Authorization{}, err
	}
	request, err := activity.Decode(record.Request.Body)
	if err != nil {
		return access.Authorization{}, err
	}
	s := &submission{request: request, intent: request.Intent}
	if s.caller, err = e.recordedCaller(ctx, record); err != nil {
		return access.Authorization{}, err
	}
	authorization, err := e.askedAbout(ctx, s)
	if err != nil {
		return access.Authorization{}, err
	}
	authorization.Now = DecidedAt(record)
	authorization.Votes, err = e.recordedVotes(ctx, record, s.caller.member)
	return authorization, err
}

// AskedAboutRequest returns what a [Decider] would be asked about a request if it were
// submitted now, with its submitter's vote. Its stamp is verified, its age is not.
// Nothing is done or charged, and Spent is nil. The error is an *activity.Error.
func (e *Engine) AskedAboutRequest(ctx context.Context, sent SignedBody) (access.Authorization, error) {
	s := new(submission)
	if err := e.identify(ctx, s, sent); err != nil {
		return access.Authorization{}, err
	}
	if _, vote := s.intent.(activity.VoteIntent); vote {
		return access.Authorization{}, activity.NewError(activity.ReasonRequestInvalid, "type", nil, "a vote is not decided by a policy")
	}
	authorization, err := e.askedAbout(ctx, s)
	if err != nil {
		return access.Authorization{}, err
	}
	authorization.Votes = s.ownVote(authorization.Now)
	return authorization, nil
}

// AskedAboutCall returns what a [Decider] would be asked about a call without a stamp, by
// Config.Submitter, if it were made now. Nothing is done or charged, and Spent is nil.
// The error is an *activity.Error.
func (e *Engine) AskedAboutCall(ctx context.Context, organizationID string, intent activity.Intent) (access.Authorization, error) {
	if e.config.Submitter == nil {
		return access.Authorization{}, activity.NewError(activity.ReasonRequestInvalid, "", nil, "a call without a stamp has no user: set Config.Submitter")
	}
	p, err := e.prepare(ctx, organizationID, intent)
	if err != nil {
		return access.Authorization{}, err
	}
	organization, err := e.organizationOf(ctx, organizationID)
	if err != nil {
		return access.Authorization{}, err
	}
	c := &call{engine: e, caller: e.localCaller(organization, organizationID)}
	s := c.submission(p)
	authorization, err := e.authorization(ctx, s)
	authorization.Hazards = e.notAllowed(organization, authorization.Hazards)
	authorization.Votes = s.ownVote(authorization.Now)
	return authorization, err
}

// askedAbout prepares a submission and returns what a Decider is asked about it, without
// votes and ledger.
func (e *Engine) askedAbout(ctx context.Context, s *submission) (access.Authorization, error) {
	s.request.GenerateAppProofs = false // needs no proof key: nothing is proven
	if err := e.prepareWork(ctx, s); err != nil {
		return access.Authorization{}, err
	}
	authorization, err := e.authorization(ctx, s)
	authorization.Hazards = e.notAllowed(s.caller.organization, authorization.Hazards)
	return authorization, err
}

// DecidedAt returns when a recorded activity was last decided, and charged: with the
// last vote of one that waited, otherwise when it was submitted.
func DecidedAt(record *activity.Record) time.Time {
	if len(record.Votes) > 1 {
		return record.UpdatedAt
	}
	return record.CreatedAt
}

// recordedCaller returns the submitter of a record.
func (e *Engine) recordedCaller(ctx context.Context, record *activity.Record) (*caller, error) {
	organization, err := e.organizationOf(ctx, record.Request.OrganizationID)
	if err != nil {
		return nil, err
	}
	if organization == nil {
		organization = &access.Organization{ID: record.Request.OrganizationID}
	}
	member, err := e.recordedMember(ctx, record, record.Submitter())
	return &caller{organization: organization, member: member}, err
}

// recordedMember returns the member that cast a vote, or what the record says of the
// user.
func (e *Engine) recordedMember(ctx context.Context, record *activity.Record, vote *activity.Vote) (*access.Member, error) {
	if submitter := e.config.Submitter; vote.Scheme == activity.SchemeLocal && submitter != nil && submitter.ID == vote.UserID {
		return &access.Member{User: *submitter}, nil
	}
	member, err := e.memberOf(ctx, record, vote)
	if err == nil && member == nil {
		member = &access.Member{User: access.User{ID: vote.UserID, Name: vote.UserName, CreatedAt: vote.UserSince}}
	}
	return member, err
}

// recordedVotes returns the approvals of a record, the submitter's first.
func (e *Engine) recordedVotes(ctx context.Context, record *activity.Record, submitter *access.Member) ([]access.Vote, error) {
	var votes []access.Vote
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
		votes = append(votes, access.Vote{User: member.User, Credential: member.Credential, At: vote.CreatedAt})
	}
	return votes, nil
}
