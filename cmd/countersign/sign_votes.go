package main

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/internal/ur"
)

// readVotes reads the files of --vote.
func (c *signCommand) readVotes(cmd *cobra.Command, on countersign.SignedBody) ([]countersign.SignedBody, error) {
	votes := make([]countersign.SignedBody, len(c.request.votes))
	for i, path := range c.request.votes {
		vote, err := readRequestFile(cmd, path)
		if err != nil {
			return nil, err
		}
		intent, err := voteIn(vote)
		if err != nil {
			return nil, fmt.Errorf("--vote %s: %w", path, err)
		}
		if intent.Fingerprint != sha256.Sum256(on.Body) {
			return nil, fmt.Errorf("--vote %s: it is on another request, %s", path, intent.Fingerprint)
		}
		votes[i] = vote
	}
	return votes, nil
}

// voteIn reads what a vote says.
func voteIn(sent countersign.SignedBody) (intent activity.VoteIntent, err error) {
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return intent, err
	}
	intent, ok := request.Intent.(activity.VoteIntent)
	if !ok {
		return intent, fmt.Errorf("it is %s, and no vote", request.Type)
	}
	return intent, nil
}

// signScannedVote counts the vote that a series of QR codes has.
func (c *signCommand) signScannedVote(cmd *cobra.Command, message ur.Message) error {
	if err := c.checkRequest(cmd); err != nil {
		return err
	}
	read, err := ur.DecodeVote(message)
	if err != nil {
		return err
	}
	vote := signedBody(ur.Request(read))
	if _, err := voteIn(vote); err != nil {
		return fmt.Errorf("the scanned vote: %w", err)
	}
	return c.signStamped(cmd, vote)
}

// countVote counts a vote on a request that is recorded here, and signs if it was the
// last.
func (c *signCommand) countVote(cmd *cobra.Command, vote countersign.SignedBody, intent activity.VoteIntent) error {
	return c.byConfiguration(cmd, func(at *stampedEngine) (*activity.Record, error) {
		if err := c.confirmVote(cmd, at, vote, intent); err != nil {
			return nil, err
		}
		return at.Submit(cmd.Context(), vote)
	})
}

// confirmVote checks a vote, and asks about it unless what it is on waits no longer.
func (c *signCommand) confirmVote(cmd *cobra.Command, at *stampedEngine, vote countersign.SignedBody, intent activity.VoteIntent) error {
	err := at.CheckRequest(cmd.Context(), vote)
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
	on, err := (&storedActivities{at.store, request.OrganizationID}).FindWaiting(cmd.Context(), intent.Fingerprint)
	if err != nil {
		return err
	}
	if on.Status == activity.StatusCompleted {
		fmt.Fprintln(cmd.ErrOrStderr(), recordedBefore)
	}
	if !on.Status.Waits() {
		return nil
	}
	return c.askToCount(cmd, on, intent.Selection())
}

// askToCount shows what a vote is on, and asks whether to count it.
func (c *signCommand) askToCount(cmd *cobra.Command, on *api.Activity, selection activity.Selection) error {
	shown, err := reviewed(on, countersign.Limits{}, c.known.names())
	if err != nil {
		return err
	}
	if err := shown.render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	err = confirmed(c.yes, func(tty *terminal.Terminal) error {
		return askAbout(cmd.Context(), tty, cmd.ErrOrStderr(), shown, "Count this "+wordOfVote(selection)+"?")
	})
	if errors.Is(err, errDeclined) {
		return errors.New("not counted: the answer was not yes")
	}
	return err
}

func wordOfVote(selection activity.Selection) string {
	if selection == activity.SelectionApproved {
		return "approval"
	}
	return "rejection"
}
