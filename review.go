package countersign

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/countersign-dev/countersign/activity"
)

// mayRead reports whether the activity exists for the caller: it is theirs, of a
// type that their credential may submit, or one that they have voted on or could
// have.
func (c *caller) mayRead(record *activity.Record) bool {
	return c.submitted(record) || c.may(record.Request.Type) || c.votesOn(record)
}

// votesOn reports whether the caller has voted on the activity, or is a user whom
// its groups admit and whose credential may vote.
func (c *caller) votesOn(record *activity.Record) bool {
	if slices.ContainsFunc(record.Votes, func(vote activity.Vote) bool { return vote.UserID == c.member.User.ID }) {
		return true
	}
	if !c.may(activity.TypeApproveActivity) && !c.may(activity.TypeRejectActivity) {
		return false
	}
	return slices.ContainsFunc(groupsOf(record.Decision.Required), func(group Approval) bool { return group.admitsUser(c.member.User) })
}

// submitted reports whether the activity was submitted by this credential.
func (c *caller) submitted(record *activity.Record) bool {
	return record.Submitter().Credential == string(c.member.Credential.ID())
}

// shownTo returns what of a record a caller who may read it is shown, by query,
// by a vote, or by sending the body again. Of others' stamps only those that are
// not live any more: a stamp and its body can be sent. A verification token is
// for its submitter only.
func (e *Engine) shownTo(ctx context.Context, by *caller, record *activity.Record) (*activity.Record, error) {
	mine := string(by.member.Credential.ID())
	shown := record.WithoutStamps(func(vote *activity.Vote) bool {
		until := e.liveUntil(vote.StampedAt)
		return vote.Credential != mine && (until.IsZero() || !e.config.Now().After(until))
	})
	if record.Request.Type.HasBearerResult() && !by.submitted(record) {
		shown.Result = nil
	}
	if !record.Status.Waits() {
		return shown, nil
	}
	var err error
	shown.Viewer, err = e.viewer(ctx, by, record)
	return shown, err
}

// viewer says what the caller can do about an activity that waits, and shows it
// to its submitter and to users who could vote.
func (e *Engine) viewer(ctx context.Context, by *caller, record *activity.Record) (viewer activity.Viewer, err error) {
	j, err := e.judge(ctx, by.organization, record, e.spent(record.Request.Fingerprint))
	if err != nil {
		return viewer, err
	}
	groups, missing := j.missing()
	admitted := j.admits(by.member)
	viewer.CanApprove = by.may(activity.TypeApproveActivity) && admitted && (missing == 0 || !j.hasVoted(by.member.User.ID))
	viewer.CanReject = by.may(activity.TypeRejectActivity) && j.mayReject(by.member)
	if !by.submitted(record) && !by.votesOn(record) && !admitted {
		return viewer, nil
	}
	summary := record.Reading.SummaryDigest()
	shown := record.Reading.Digest()
	viewer.Review = &activity.Review{
		Shown: hex.EncodeToString(shown[:]), SummaryDigest: hex.EncodeToString(summary[:]),
		Summary: record.Reading.Summary, Effects: record.Reading.Effects, Hazards: record.Reading.Hazards,
		Sentences: record.Reading.Sentences, KeyIDs: record.Reading.KeyIDs, Readings: record.Reading.Readings,
		PolicyDigest: record.Decision.PolicyDigest, Rules: record.Decision.Rules, Missing: groups,
		Reason: reasonOf(j.refused, record.Decision.Reason), ExpiresAt: record.CreatedAt.Add(e.config.MaxWaiting),
	}
	return viewer, nil
}

// reasonOf prefers what is in the way now to what was at the last attempt.
func reasonOf(refused error, kept string) string {
	if refused != nil {
		return refused.Error()
	}
	return kept
}
