package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
)

// GetActivity answers a get_activity query for the submitter of the activity,
// and for credentials that may submit its type; for all others there is no such
// activity. Only the submitter is shown a verification token, or the stamp of a
// request that is still live.
//
// A query without a timestampMs can be replayed for as long as its credential is
// valid; one with it, for as long as a request is live.
func (e *Engine) GetActivity(ctx context.Context, sent SignedBody) (*activity.Record, error) {
	started := time.Now()
	seen := Observation{Operation: "get_activity"}
	record, organizationID, err := e.getActivity(ctx, sent)
	if err == nil {
		err = e.proveLogged(ctx, record)
	}
	e.observed(ctx, &seen, organizationID, started, err)
	if err != nil {
		return nil, err
	}
	return record, nil
}

func (e *Engine) getActivity(ctx context.Context, sent SignedBody) (record *activity.Record, organizationID string, err error) {
	if err := e.ready(); err != nil {
		return nil, "", err
	}
	query, err := activity.DecodeGetActivity(sent.Body)
	if err != nil {
		return nil, "", err
	}
	by, err := e.authenticateQuery(ctx, query.Query, sent)
	if err != nil {
		return nil, query.OrganizationID, err
	}
	found, err := e.config.Store.Get(ctx, query.OrganizationID, query.ActivityID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, query.OrganizationID, noActivity(query, err)
	}
	if err != nil {
		return nil, query.OrganizationID, refuseStore(err)
	}
	if record, err = decodeRecorded(ctx, &found); err != nil {
		return nil, query.OrganizationID, err
	}
	if !by.mayRead(record) {
		return nil, query.OrganizationID, noActivity(query, errors.New("the credential may not submit this type"))
	}
	record, err = e.shownTo(ctx, by, record)
	return record, query.OrganizationID, err
}

// authenticateQuery is authenticate, and refuses a query that has a time and is not
// live.
func (e *Engine) authenticateQuery(ctx context.Context, query activity.Query, sent SignedBody) (*caller, error) {
	by, err := e.authenticate(ctx, query.OrganizationID, sent.Stamps, sent.Body)
	if err == nil && !query.Time.IsZero() {
		err = e.checkTime(query.Time)
	}
	return by, err
}

func noActivity(query activity.GetActivityQuery, cause error) error {
	return activity.NewError(activity.ReasonNotFound, "activityId", cause,
		"organization %q has no activity %q", shorten(query.OrganizationID), shorten(query.ActivityID))
}

// WhoAmI answers a whoami query.
func (e *Engine) WhoAmI(ctx context.Context, sent SignedBody) (activity.WhoAmI, error) {
	started := time.Now()
	seen := Observation{Operation: "whoami"}
	answer, organizationID, err := e.whoAmI(ctx, sent)
	e.observed(ctx, &seen, organizationID, started, err)
	return answer, err
}

func (e *Engine) whoAmI(ctx context.Context, sent SignedBody) (answer activity.WhoAmI, organizationID string, err error) {
	if err := e.ready(); err != nil {
		return answer, "", err
	}
	query, err := activity.DecodeWhoAmI(sent.Body)
	if err != nil {
		return answer, "", err
	}
	by, err := e.authenticateQuery(ctx, query.Query, sent)
	if err != nil {
		return answer, query.OrganizationID, err
	}
	return activity.WhoAmI{
		OrganizationID:   by.organization.ID,
		OrganizationName: by.organization.Name,
		UserID:           by.member.User.ID,
		Username:         by.member.User.Name,
	}, query.OrganizationID, nil
}

// Ready returns nil if the engine could take a request now.
func (e *Engine) Ready(ctx context.Context) error {
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.config.Store.Ping(ctx); err != nil {
		return refuseStore(err)
	}
	if keys, ok := e.config.Keystore.(keystore.Readier); ok {
		if err := keys.Ready(ctx); err != nil {
			return refuseKey(err)
		}
	}
	return nil
}
