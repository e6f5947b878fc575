package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-openapi/strfmt"
	sdk "github.com/tkhq/go-sdk"
	"github.com/tkhq/go-sdk/pkg/api/client/activities"
	"github.com/tkhq/go-sdk/pkg/api/client/consensus"
	"github.com/tkhq/go-sdk/pkg/api/models"
)

// step is an activity as returned by one call of the client.
type step struct {
	Call       string `json:"call"`
	ID         string `json:"id"`
	Status     string `json:"status"`
	Signed     string `json:"signed"`
	Votes      int    `json:"votes"`
	CanApprove bool   `json:"canApprove"`
	CanReject  bool   `json:"canReject"`
}

// voted goes through an approval and then a rejection: the submitter submits, the voter
// lists what waits and votes, and the submitter reads the outcome.
func voted(submitter, voter *sdk.Client, req *request) (steps []step, err error) {
	for _, approves := range []bool{true, false} {
		submitted, err := sign(submitter, req)
		if err != nil {
			return nil, err
		}
		waiting, err := listed(voter, req)
		if err != nil {
			return nil, err
		}
		if _, err := vote(submitter, req, *waiting.Fingerprint, approves); err == nil {
			return nil, errors.New("the submitter's key can vote, though it is not configured to")
		}
		after, err := vote(voter, req, *waiting.Fingerprint, approves)
		if err != nil {
			return nil, err
		}
		found, err := read(submitter, req, *submitted.ID)
		if err != nil {
			return nil, err
		}
		steps = append(steps, stepOf("submit", submitted), stepOf("list", waiting), stepOf("vote", after), stepOf("get", found))
	}
	return steps, nil
}

func stepOf(call string, one *models.Activity) step {
	s := step{Call: call, ID: *one.ID, Status: string(*one.Status), Votes: len(one.Votes),
		CanApprove: *one.CanApprove, CanReject: *one.CanReject}
	if one.Result != nil && one.Result.SignTransactionResult != nil {
		s.Signed = *one.Result.SignTransactionResult.SignedTransaction
	}
	return s
}

// listed lists the waiting activities, of which there must be one, and returns it.
func listed(c *sdk.Client, req *request) (*models.Activity, error) {
	found, err := c.V0().Activities.GetActivities(activities.NewGetActivitiesParams().WithBody(&models.GetActivitiesRequest{
		OrganizationID: &req.OrganizationID, FilterByStatus: []models.ActivityStatus{models.ActivityStatusConsensusNeeded},
		FilterByType: []models.ActivityType{models.ActivityTypeSignTransactionV2}, PaginationOptions: &models.Pagination{Limit: "2"},
	}), c.Authenticator)
	if err != nil {
		return nil, err
	}
	if err := found.Payload.Validate(strfmt.Default); err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	if n := len(found.Payload.Activities); n != 1 {
		return nil, fmt.Errorf("%d activities wait, want 1", n)
	}
	return found.Payload.Activities[0], nil
}

func read(c *sdk.Client, req *request, id string) (*models.Activity, error) {
	found, err := c.V0().Activities.GetActivity(activities.NewGetActivityParams().WithBody(&models.GetActivityRequest{
		OrganizationID: &req.OrganizationID, ActivityID: &id,
	}), c.Authenticator)
	if err != nil {
		return nil, err
	}
	if err := found.Payload.Validate(strfmt.Default); err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return found.Payload.Activity, nil
}

// vote approves or rejects an activity.
func vote(c *sdk.Client, req *request, fingerprint string, approves bool) (*models.Activity, error) {
	now := strconv.FormatInt(time.Now().UnixMilli(), 10)
	var answered *models.ActivityResponse
	if approves {
		kind := string(models.ActivityTypeApproveActivity)
		answer, err := c.V0().Consensus.ApproveActivity(consensus.NewApproveActivityParams().WithBody(&models.ApproveActivityRequest{
			OrganizationID: &req.OrganizationID, TimestampMs: &now, Type: &kind,
			Parameters: &models.ApproveActivityIntent{Fingerprint: &fingerprint},
		}), c.Authenticator)
		if err != nil {
			return nil, err
		}
		answered = answer.Payload
	} else {
		kind := string(models.ActivityTypeRejectActivity)
		answer, err := c.V0().Consensus.RejectActivity(consensus.NewRejectActivityParams().WithBody(&models.RejectActivityRequest{
			OrganizationID: &req.OrganizationID, TimestampMs: &now, Type: &kind,
			Parameters: &models.RejectActivityIntent{Fingerprint: &fingerprint},
		}), c.Authenticator)
		if err != nil {
			return nil, err
		}
		answered = answer.Payload
	}
	if err := answered.Validate(strfmt.Default); err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return answered.Activity, nil
}
