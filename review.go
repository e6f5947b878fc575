package countersign

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

// mayRead reports whether the activity exists for the caller: the caller submitted it,
// may submit its type, or voted on it or could have. While it waits, those who could
// vote include the groups that only the current policy demands: without their votes it
// is never signed.
func (e *Engine) mayRead(ctx context.Context, reader *caller, record *activity.Record) (bool, error) {
	if reader.submitted(record) || reader.member.May(record.Request.Type) || reader.votesOn(record) {
		return true, nil
	}
	if !record.Status.Waits() || !reader.mayVote() {
		return false, nil
	}
	j, err := e.judge(ctx, reader.organization, record, e.spent(record.Request.Fingerprint))
	return err == nil && reader.belongsToAny(j.groups), err
}

// votesOn reports whether the caller has voted on the activity, or belongs to one of
// the groups that it was submitted with, with a credential that may vote.
func (c *caller) votesOn(record *activity.Record) bool {
	if slices.ContainsFunc(record.Votes, func(vote activity.Vote) bool { return vote.UserID == c.member.User.ID }) {
		return true
	}
	return c.mayVote() && c.belongsToAny(record.Decision.Groups())
}

// mayVote reports whether the caller's credential may vote at all.
func (c *caller) mayVote() bool {
	return c.member.May(activity.TypeApproveActivity) || c.member.May(activity.TypeRejectActivity)
}

func (c *caller) belongsToAny(groups []access.Group) bool {
	return slices.ContainsFunc(groups, func(group access.Group) bool { return access.BelongsTo(&group, c.member.User) })
}

// submitted reports whether the activity was submitted with the caller's credential.
func (c *caller) submitted(record *activity.Record) bool {
	return record.Submitter().Credential == string(c.member.Credential.ID())
}

// shownTo returns what a caller who may read a record is shown of it. A stamp of
// another caller is left out while it is live, since it could be sent again with its
// body. A verification token is only for its submitter.
func (e *Engine) shownTo(ctx context.Context, reader *caller, record *activity.Record) (*activity.Record, error) {
	credential := string(reader.member.Credential.ID())
	shown := record.WithoutStamps(func(vote *activity.Vote) bool {
		until := e.liveUntil(vote.StampedAt)
		return vote.Credential != credential && (until.IsZero() || !e.config.Now().After(until))
	})
	if record.Request.Type.HasBearerResult() && !reader.submitted(record) {
		shown.Result = nil
	}
	if !record.Status.Waits() {
		return shown, nil
	}
	var err error
	shown.Viewer, err = e.viewer(ctx, reader, record)
	return shown, err
}

// viewer returns what the caller can do about an activity that waits. The review is
// only for its submitter and for users who could vote.
func (e *Engine) viewer(ctx context.Context, reader *caller, record *activity.Record) (viewer activity.Viewer, err error) {
	j, err := e.judge(ctx, reader.organization, record, e.spent(record.Request.Fingerprint))
	if err != nil {
		return viewer, err
	}
	groups, missing := j.missing()
	admitted := j.admits(reader.member)
	viewer.CanApprove = reader.member.May(activity.TypeApproveActivity) && admitted && (missing == 0 || !j.hasVoted(reader.member.User.ID))
	viewer.CanReject = reader.member.May(activity.TypeRejectActivity) && j.mayReject(reader.member)
	if !reader.submitted(record) && !reader.votesOn(record) && !reader.belongsToAny(j.groups) {
		return viewer, nil
	}
	reason := record.Decision.Reason // of the last attempt
	if j.refused != nil {
		reason = j.refused.Error()
	}
	viewer.Review = &activity.Review{
		Shown: hexDigest(record.Reading.Digest()), SummaryDigest: hexDigest(record.Reading.SummaryDigest()),
		Summary: record.Reading.Summary, Effects: record.Reading.Effects, Hazards: record.Reading.Hazards,
		Sentences: record.Reading.Sentences, KeyIDs: record.Reading.KeyIDs, Readings: record.Reading.Readings,
		PolicyDigest: record.Decision.PolicyDigest, Rules: record.Decision.Rules, Missing: groups,
		Reason: reason, ExpiresAt: record.CreatedAt.Add(e.config.MaxWaiting),
	}
	return viewer, nil
}
