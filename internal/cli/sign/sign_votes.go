package sign

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

func (c *signCommand) readVotes(cmd *cobra.Command, on countersign.SignedBody) ([]countersign.SignedBody, error) {
	votes := make([]countersign.SignedBody, len(c.request.votes))
	for i, path := range c.request.votes {
		vote, err := show.ReadRequestFile(cmd, path)
		if err != nil {
			return nil, err
		}
		intent, err := voteIn(vote)
		if err != nil {
			return nil, fmt.Errorf("--vote %s: %w", path, err)
		}
		if intent.Fingerprint != sha256.Sum256(on.Body) {
			return nil, fmt.Errorf("--vote %s: it is a vote on another request, %s", path, intent.Fingerprint)
		}
		votes[i] = vote
	}
	return votes, nil
}

// voteIn returns the intent of a vote. It fails if sent is not a vote.
func voteIn(sent countersign.SignedBody) (intent activity.VoteIntent, err error) {
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return intent, err
	}
	intent, ok := request.Intent.(activity.VoteIntent)
	if !ok {
		return intent, fmt.Errorf("it is %s, not a vote", request.Type)
	}
	return intent, nil
}

// confirmVote checks a vote, shows its activity and asks whether to count it. It asks
// nothing if the activity no longer waits.
func (c *signCommand) confirmVote(cmd *cobra.Command, engine *stampedEngine, vote countersign.SignedBody,
	intent activity.VoteIntent) error {
	err := engine.CheckRequest(cmd.Context(), vote)
	if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonNotFound {
		return fmt.Errorf("%w: pass the request to this command before its votes", err)
	}
	if err != nil {
		return c.withCause(err)
	}
	request, err := activity.Decode(vote.Body)
	if err != nil {
		return err
	}
	target, err := (&deployment.StoredActivities{Store: engine.store,
		Organization: request.OrganizationID}).FindWaiting(cmd.Context(), intent.Fingerprint)
	if err != nil {
		return err
	}
	if target.Status == activity.StatusCompleted {
		fmt.Fprintln(cmd.ErrOrStderr(), RecordedBefore)
	}
	if !target.Status.Waits() {
		return nil
	}
	shown, err := show.Reviewed(target, all.Limits{}, c.known.Names())
	if err != nil {
		return err
	}
	question := "Count this rejection?"
	if intent.Selection() == activity.SelectionApproved {
		question = "Count this approval?"
	}
	return show.ConfirmShown(cmd, c.yes, shown, question, "not counted")
}
