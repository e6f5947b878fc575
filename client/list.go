package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/activity"
)

// ListOptions say which activities are listed. Zero members do not restrict it.
type ListOptions struct {
	Statuses []activity.Status
	Types    []activity.Type
	Before   string // id: only activities that are older
	After    string // id: only activities that are newer
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

// ListActivities returns a page of the activities that the key may read, the
// newest first. A page that is not empty may be shorter than the limit though
// there are more: go on with the last id as Before until one is empty.
func (c *Client) ListActivities(ctx context.Context, options ListOptions) ([]*Activity, error) {
	limit := options.Limit
	if limit == 0 {
		limit = activity.DefaultPage
	}
	body, err := json.Marshal(listQuery{
		c.config.OrganizationID, options.Statuses, options.Types,
		pageQuery{strconv.Itoa(limit), options.Before, options.After},
	})
	if err != nil {
		return nil, err
	}
	answer, err := c.Post(ctx, "query/list_activities", body)
	if err != nil {
		return nil, err
	}
	return parseActivities(answer)
}

func parseActivities(answer []byte) ([]*Activity, error) {
	var whole struct {
		Activities []json.RawMessage `json:"activities"`
	}
	if err := unmarshal(answer, &whole); err != nil {
		return nil, err
	}
	page := make([]*Activity, len(whole.Activities))
	for i, one := range whole.Activities {
		var err error
		if page[i], err = parseActivity(slices.Concat([]byte(`{"activity":`), one, []byte(`}`))); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// FindWaiting returns the activity with a fingerprint that waits for votes.
func (c *Client) FindWaiting(ctx context.Context, of activity.Fingerprint) (*Activity, error) {
	options := ListOptions{Statuses: []activity.Status{activity.StatusConsensusNeeded}, Limit: activity.MaxPage}
	for {
		page, err := c.ListActivities(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, one := range page {
			if one.Fingerprint == of.String() {
				return one, nil
			}
		}
		if len(page) == 0 {
			return nil, fmt.Errorf("no activity with fingerprint %s waits for votes of this key's user", of)
		}
		options.Before = page[len(page)-1].ID
	}
}

// Vote votes on an activity that waits, and returns it as it then stands. The vote
// commits to the review as the activity has it: look at that, and at the body in
// the first vote, before.
func (c *Client) Vote(ctx context.Context, on *Activity, selection activity.Selection) (*Activity, error) {
	vote, err := on.Vote(selection)
	if err != nil {
		return nil, err
	}
	request, err := c.NewRequest(vote)
	if err != nil {
		return nil, err
	}
	return c.Submit(ctx, request)
}

// Vote returns the intent of a vote that commits to the activity's review, once
// the digests in it are found to be those of its texts.
func (a *Activity) Vote(selection activity.Selection) (vote activity.VoteIntent, err error) {
	of, err := activity.ParseFingerprint(a.Fingerprint)
	if err != nil {
		return vote, err
	}
	if a.Review == nil {
		return vote, fmt.Errorf("activity %s is %s and has nothing to vote on for this user", a.ID, a.Status)
	}
	if err := a.Review.Check(); err != nil {
		return vote, err
	}
	if selection == activity.SelectionApproved {
		return activity.NewApproval(of, a.Review.Shown), nil
	}
	return activity.NewRejection(of, a.Review.Shown), nil
}
