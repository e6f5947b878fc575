package countersign

import (
	"cmp"
	"context"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// Operator is what the operator of an engine does, and no request can: it asks the policy
// about the past, and looks after what is recorded. Most programs need none of it.
type Operator struct{ engine *Engine }

// Operator returns what the engine offers to its operator. Its errors about requests are of
// type *activity.Error.
func (e *Engine) Operator() Operator { return Operator{e} }

// ResumeWaiting goes through the activities that wait. One that has its votes is carried out,
// unless there is still an obstacle; one that has waited longer than Config.MaxWaiting is rejected.
// The engine does so every SweepInterval, as long as requests come.
func (o Operator) ResumeWaiting(ctx context.Context) error {
	if err := o.engine.takesRequests(); err != nil {
		return err
	}
	return o.engine.approvals.ResumeAll(ctx)
}

// LogPolicy appends a leaf to the log of an organization that says that the policy with
// the given SHA-256 is in force from now on. Without Config.Log it does nothing.
func (o Operator) LogPolicy(ctx context.Context, organizationID string, digest [32]byte) error {
	if !o.engine.config.Log {
		return nil
	}
	leaf := translog.NewPolicyLeaf(organizationID, digest, o.engine.config.Now())
	encoded, err := leaf.Encode()
	if err != nil {
		return err
	}
	_, err = o.engine.can.Log.AppendLeaves(ctx, organizationID, store.AnySize,
		[]store.LogEntry{{ID: leaf.ID, Leaf: encoded}})
	return err
}

// AdoptRecords appends the records of an organization that are older than its log to the log, in
// one batch, if the log is empty, and returns how many. Call it on one node only, at the first
// start with a log, before requests are served. Without Config.Log it does nothing.
func (o Operator) AdoptRecords(ctx context.Context, organizationID string) (int, error) {
	if !o.engine.config.Log {
		return 0, nil
	}
	if o.engine.can.Lister == nil {
		return 0, errNoLister
	}
	adopted, err := store.Adopt(ctx, o.engine.can.Lister, o.engine.can.Log, organizationID, records.LeafOf)
	if err == nil && adopted > 0 {
		o.engine.config.Logger.InfoContext(ctx, "added records older than the log to it", "organization",
			organizationID, "records", adopted)
	}
	return adopted, err
}

// AskedAbout returns what an [access.Decider] is asked about a recorded activity, to ask a
// policy about the past: of a list of transactions about each, otherwise once. The recorded
// bytes are read again; users, keys and descriptors are the current ones, and the time is that
// of the record. A submitter who is no longer in the directory is the user of the record,
// without tags. Nothing is done or charged, and Spent is nil. The error, an *activity.Error,
// says what can no longer be read, found or prepared.
func (o Operator) AskedAbout(ctx context.Context, record *activity.Record) ([]access.Authorization, error) {
	if err := o.engine.takesRequests(); err != nil {
		return nil, err
	}
	decoded, err := activity.Decode(record.Request.Body)
	if err != nil {
		return nil, err
	}
	s := &request.Submission{Request: decoded, Intent: decoded.Intent}
	if err := refuseUndecided(s); err != nil {
		return nil, err
	}
	organization, err := request.OrganizationOf(ctx, o.engine.config.Directory, record.Request.OrganizationID)
	if err != nil {
		return nil, err
	}
	organization = cmp.Or(organization, &access.Organization{ID: record.Request.OrganizationID})
	submitter, err := o.recordedMember(ctx, record, record.Submitter())
	if err != nil {
		return nil, err
	}
	s.Caller = &request.Caller{Organization: organization, Member: submitter}
	asked, err := o.askedAbout(ctx, s)
	if err != nil {
		return nil, err
	}
	votes, err := o.recordedVotes(ctx, record, submitter)
	for i := range asked {
		asked[i].Now, asked[i].Votes = record.DecidedAt(), votes
	}
	return asked, err
}

// AskedAboutRequest returns what an [access.Decider] would be asked about a request if it were
// submitted now, with its submitter's vote. Its stamp is verified, its age is not.
// Nothing is done or charged, and Spent is nil. The error is an *activity.Error.
func (o Operator) AskedAboutRequest(ctx context.Context, sent SignedBody) ([]access.Authorization, error) {
	s := new(request.Submission)
	if err := o.engine.identify(ctx, s, sent); err != nil {
		return nil, err
	}
	if err := refuseUndecided(s); err != nil {
		return nil, err
	}
	asked, err := o.askedAbout(ctx, s)
	return withOwnVote(s, asked), err
}

// refuseUndecided refuses to ask about what no policy decides on.
func refuseUndecided(s *request.Submission) error {
	if _, vote := s.Intent.(activity.VoteIntent); vote || s.Request.Type.Halts() {
		return activity.NewError(activity.ReasonRequestInvalid, "type", nil,
			"no policy decides on a vote or a halt")
	}
	return nil
}

func withOwnVote(s *request.Submission, asked []access.Authorization) []access.Authorization {
	for i := range asked {
		asked[i].Votes = s.OwnVote(asked[i].Now)
	}
	return asked
}

// AskedAboutCall returns what an [access.Decider] would be asked about a call by
// [Engine.As] a user, if it were made now. Nothing is done or charged, and Spent is nil.
// The error is an *activity.Error.
func (o Operator) AskedAboutCall(ctx context.Context, user access.User, organizationID string,
	intent activity.Intent) ([]access.Authorization, error) {
	e := o.engine
	c, err := e.As(user, "").call(organizationID, intent)
	if err == nil {
		_, err = c.read(ctx)
	}
	if err == nil {
		err = c.findOrganization(ctx)
	}
	if err != nil {
		return nil, err
	}
	asked, err := e.judge.asked(ctx, c.Submission)
	return withOwnVote(c.Submission, asked), err
}

// askedAbout prepares a submission and returns what a Decider is asked about it, without
// votes and ledger.
func (o Operator) askedAbout(ctx context.Context, s *request.Submission) ([]access.Authorization, error) {
	s.Request.GenerateAppProofs = false // needs no proof key: nothing is proven
	if err := o.engine.prepareTask(ctx, s); err != nil {
		return nil, err
	}
	return o.engine.judge.asked(ctx, s)
}

// recordedMember returns the member that cast a vote, or what the record says of the user.
func (o Operator) recordedMember(ctx context.Context, record *activity.Record, vote *activity.Vote,
) (*access.Member, error) {
	member, err := request.MemberOf(ctx, o.engine.config.Directory, o.engine.config.Now(), record, vote)
	if err == nil && member == nil {
		member = &access.Member{User: access.User{ID: vote.UserID, Name: vote.UserName, CreatedAt: vote.UserSince}}
	}
	return member, err
}

// recordedVotes returns the approvals of a record, the submitter's first if its credential may vote.
func (o Operator) recordedVotes(ctx context.Context, record *activity.Record,
	submitter *access.Member) ([]access.Vote, error) {
	var votes []access.Vote
	for i := range record.Votes {
		vote := &record.Votes[i]
		if vote.Selection != activity.SelectionApproved {
			continue
		}
		member := submitter
		if i > 0 {
			var err error
			if member, err = o.recordedMember(ctx, record, vote); err != nil {
				return nil, err
			}
		} else if !submitter.May(activity.TypeApproveActivity) {
			continue
		}
		votes = append(votes, access.Vote{User: member.User, Credential: member.Credential, At: vote.CreatedAt})
	}
	return votes, nil
}
