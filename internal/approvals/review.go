package approvals

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// ShownTo returns what a caller who may read a record is shown of it. A stamp of another caller is
// left out while it is live, since it could be sent again with its body. A verification token is
// only for its submitter. The program that makes a call without a stamp gets the record as it is.
func (a *Approvals) ShownTo(ctx context.Context, reader *request.Caller, record *activity.Record) (*activity.Record, error) {
	if reader.Stamp == nil {
		return record, nil
	}
	credential := string(reader.Member.Credential.ID())
	shown := record.WithoutStamps(func(vote *activity.Vote) bool {
		until := a.Records.LiveUntil(vote.StampedAt)
		return vote.Credential != credential && (until.IsZero() || !a.Records.Now().After(until))
	})
	if record.Request.Type.HasBearerResult() && !reader.Submitted(record) {
		shown.Result = nil
	}
	if !record.Status.Waits() {
		return shown, nil
	}
	var err error
	shown.Viewer, err = a.viewer(ctx, reader, record)
	return shown, err
}

// viewer returns what the caller can do about an activity that waits. The review is
// only for its submitter and for users who could vote.
func (a *Approvals) viewer(ctx context.Context, reader *request.Caller, record *activity.Record) (viewer activity.Viewer, err error) {
	j, err := a.judge(ctx, reader.Organization, record, a.Records.Spent(record.Request.Fingerprint))
	if err != nil {
		return viewer, err
	}
	groups, missing := j.missing()
	admitted := j.admits(reader.Member)
	voted := slices.ContainsFunc(j.votes, func(vote access.Vote) bool { // so that it counts in some group
		return vote.User.ID == reader.Member.User.ID && slices.ContainsFunc(j.groups,
			func(group access.Group) bool { return access.Admits(&group, vote, j.submitter, j.now) })
	})
	viewer.CanApprove = reader.Member.May(activity.TypeApproveActivity) && admitted && (missing == 0 || !voted)
	viewer.CanReject = reader.Member.May(activity.TypeRejectActivity) && j.mayReject(reader.Member)
	if !reader.Submitted(record) && !reader.VotedOn(record) && !access.BelongsTo(reader.Member.User, j.groups...) {
		return viewer, nil
	}
	reason := record.Decision.Reason // of the last attempt
	if j.refused != nil {
		reason = j.refused.Error()
	}
	viewer.Review = &activity.Review{
		Shown: records.HexDigest(record.Reading.Digest()), SummaryDigest: records.HexDigest(record.Reading.SummaryDigest()),
		Summary: record.Reading.Summary, Effects: record.Reading.Effects, Hazards: record.Reading.Hazards,
		Sentences: record.Reading.Sentences, KeyIDs: record.Reading.KeyIDs, Readings: record.Reading.Readings,
		PolicyDigest: record.Decision.PolicyDigest, Rules: record.Decision.Rules, Missing: groups,
		Reason: reason, ExpiresAt: record.CreatedAt.Add(a.Records.MaxWaiting),
		Limits: taken(j.submission.Decision.Charges),
	}
	return viewer, nil
}

// shownLimits bounds the limits of a review. A list of transactions may take from thousands.
const shownLimits = 20

// taken says what an activity takes from limits, each counter once. Of charges that a policy made
// wrongly, which are refused as they are taken, it says nothing.
func taken(charges []store.Charge) (texts []string) {
	if (&store.Charges{List: charges}).Check() != nil {
		return nil
	}
	type counter struct{ limit, subject string }
	sums, first := map[counter]*big.Int{}, []store.Charge(nil)
	for _, charge := range charges {
		of := counter{charge.Limit, charge.Subject}
		if sums[of] == nil {
			sums[of], first = new(big.Int), append(first, charge)
		}
		sums[of].Add(sums[of], charge.Amount)
	}
	for i, charge := range first {
		if i == shownLimits {
			return append(texts, fmt.Sprintf("and more of %d others", len(first)-i))
		}
		amount := func(units *big.Int) string {
			return strings.TrimSuffix(chains.Decimal(units.String(), charge.Decimals)+" "+charge.Unit, " ")
		}
		texts = append(texts, fmt.Sprintf("%s more of limit %s, which allows %s in %v",
			amount(sums[counter{charge.Limit, charge.Subject}]), charge.Limit, amount(charge.Max), charge.Window))
	}
	return texts
}
