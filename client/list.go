package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/activity"
)

// ListOptions select activities. Members that are zero do not restrict the selection.
type ListOptions struct {
	Statuses []activity.Status
	Types    []activity.Type
	Before   string // an id: only older activities
	After    string // an id: only newer activities
	Limit    int    // 1 to activity.MaxPage. Default: activity.DefaultPage
}

// listQuery is the body of list_activities.
type listQuery struct {
	OrganizationID string            `json:"organizationId"`
	Statuses       []activity.Status `json:"filterByStatus,omitempty"`
	Types          []activity.Type   `json:"filterByType,omitempty"`
	Page           pageQuery         `json:"paginationOptions"`
}

type pageQuery struct {
	Limit  string `json:"limit"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// ListActivities returns a page of the activities that the key may read, newest first. A
// page may be shorter than the limit although there are more: pass the last id as Before
// until a page is empty.
func (c *Client) ListActivities(ctx context.Context, options ListOptions) ([]*Activity, error) {
	limit := options.Limit
	if limit == 0 {
		limit = activity.DefaultPage
	}
	answer, err := c.query(ctx, "list_activities", listQuery{
		c.config.OrganizationID, options.Statuses, options.Types,
		pageQuery{strconv.Itoa(limit), options.Before, options.After},
	})
	if err != nil {
		return nil, err
	}
	var whole struct {
		Activities []json.RawMessage `json:"activities"`
	}
	if err := unmarshal(answer, &whole); err != nil {
		return nil, err
	}
	page := make([]*Activity, len(whole.Activities))
	for i, raw := range whole.Activities {
		if page[i], err = ParseActivity(slices.Concat([]byte(`{"activity":`), raw, []byte(`}`))); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// FindWaiting returns the activity with the given fingerprint that waits for votes.
func (c *Client) FindWaiting(ctx context.Context, fingerprint activity.Fingerprint) (*Activity, error) {
	options := ListOptions{Statuses: []activity.Status{activity.StatusConsensusNeeded}, Limit: activity.MaxPage}
	for {
		page, err := c.ListActivities(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, activity := range page {
			if activity.Fingerprint == fingerprint.String() {
				return activity, nil
			}
		}
		if len(page) == 0 {
			return nil, fmt.Errorf("no activity with fingerprint %s waits for votes of this key's user", fingerprint)
		}
		options.Before = page[len(page)-1].ID
	}
}

// Vote votes on a waiting activity, and returns the activity after the vote. The vote
// commits to the activity's review: the caller must have looked at it, and at the body in
// the first vote.
func (c *Client) Vote(ctx context.Context, waiting *Activity, selection activity.Selection) (*Activity, error) {
	vote, err := waiting.Vote(selection)
	if err != nil {
		return nil, err
	}
	request, err := c.NewRequest(vote)
	if err != nil {
		return nil, err
	}
	return c.Submit(ctx, request)
}

// Vote returns the intent of a vote that commits to the activity's review. It fails if the
// digests in the review do not match its texts.
func (a *Activity) Vote(selection activity.Selection) (vote activity.VoteIntent, err error) {
	fingerprint, err := activity.ParseFingerprint(a.Fingerprint)
	if err != nil {
		return vote, err
	}
	if a.Review == nil {
		return vote, fmt.Errorf("activity %s is %s and has nothing to vote on for this user", a.ID, a.Status)
	}
	if err := a.Review.Check(); err != nil {
		return vote, err
	}
	switch selection {
	case activity.SelectionApproved:
		return activity.NewApproval(fingerprint, a.Review.Shown), nil
	case activity.SelectionRejected:
		return activity.NewRejection(fingerprint, a.Review.Shown), nil
	}
	return vote, fmt.Errorf("selection %q: use %s or %s", selection, activity.SelectionApproved, activity.SelectionRejected)
}
