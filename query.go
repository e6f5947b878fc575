package countersign

import (
	"cmp"
	"context"
	"errors"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/internal/signing"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
)

// GetActivity answers a get_activity query. The activity exists only for its submitter,
// for credentials that may submit its type, and for its voters. Only the submitter is
// shown a verification token, or the stamp of a request that is still live.
//
// A query without a timestampMs can be replayed for as long as its credential is
// valid; one with it, for as long as a request is live.
func (e *Engine) GetActivity(ctx context.Context, sent SignedBody) (*activity.Record, error) {
	s := request.New("get_activity")
	query, err := activity.DecodeGetActivity(sent.Body)
	return answerQuery(ctx, e, s, sent, query.Query, err, func() (*activity.Record, error) {
		return e.getActivity(ctx, s.Caller, query)
	})
}

func (e *Engine) getActivity(ctx context.Context, reader *request.Caller,
	query activity.GetActivityQuery) (*activity.Record, error) {
	recorded, err := e.config.Store.Get(ctx, query.OrganizationID, query.ActivityID)
	if errors.Is(err, store.ErrNotFound) {
		_, moved := e.records.Withhold(ctx, query.OrganizationID)
		return nil, cmp.Or(moved, noActivity(query, err))
	}
	if err != nil {
		return nil, refuse.Store(err)
	}
	record, err := records.Decode(ctx, &recorded)
	if err != nil {
		return nil, err
	}
	readable, err := e.approvals.MayRead(ctx, reader, record)
	if err != nil {
		return nil, err
	}
	if !readable {
		return nil, noActivity(query, errors.New("the credential may not submit this type"))
	}
	if record, err = e.approvals.ShownTo(ctx, reader, record); err != nil {
		return nil, err
	}
	if _, err := e.records.Withhold(ctx, query.OrganizationID, record); err != nil {
		return nil, err
	}
	return record, e.proveLogged(ctx, record)
}

// answerQuery authenticates a query, answers it, and reports it to the observer and the log. err is
// that of decoding it. A query that has a time must be live.
func answerQuery[A any](ctx context.Context, e *Engine, s *request.Submission, sent SignedBody, query activity.Query,
	err error, answer func() (A, error)) (answered A, _ error) {
	if err = cmp.Or(e.takesRequests(), err); err == nil {
		s.OrganizationID = query.OrganizationID
		s.Caller, err = e.authenticate(ctx, query.OrganizationID, sent)
	}
	if err == nil {
		err = checkAddress(ctx, s.Caller)
	}
	if err == nil && !query.Time.IsZero() {
		err = e.checkTime(query.Time)
	}
	if err == nil {
		answered, err = answer()
	}
	e.observed(ctx, s, err)
	if err != nil {
		var none A
		return none, err
	}
	return answered, nil
}

func noActivity(query activity.GetActivityQuery, cause error) error {
	return activity.NewError(activity.ReasonNotFound, "activityId", cause,
		"organization %q has no activity %q", refuse.Shorten(query.OrganizationID), refuse.Shorten(query.ActivityID))
}

// WhoAmI answers a whoami query.
func (e *Engine) WhoAmI(ctx context.Context, sent SignedBody) (activity.WhoAmI, error) {
	s := request.New("whoami")
	query, err := activity.DecodeQuery(sent.Body)
	return answerQuery(ctx, e, s, sent, query, err, func() (activity.WhoAmI, error) {
		return activity.WhoAmI{
			OrganizationID:   s.Caller.Organization.ID,
			OrganizationName: s.Caller.Organization.Name,
			UserID:           s.Caller.Member.User.ID,
			Username:         s.Caller.Member.User.Name,
		}, nil
	})
}

// Inventory answers a query about keys, wallets and users: path is one of
// activity.InventoryQueries. A credential that may sign sees the organization's keys and
// wallets, others see none; of the users, each sees itself. The answer is JSON.
func (e *Engine) Inventory(ctx context.Context, path string, sent SignedBody) ([]byte, error) {
	s := request.New(path)
	query, err := activity.DecodeInventory(path, sent.Body)
	return answerQuery(ctx, e, s, sent, query.Query, err, func() ([]byte, error) {
		inventory := signing.Inventory{Keystore: e.config.Keystore, Chains: e.preparer.Chains}
		return inventory.Answer(ctx, path, s.Caller.Organization, s.Caller.Member, query)
	})
}

// Ready returns nil if the store, if there is one, and the keystore can be used now.
func (e *Engine) Ready(ctx context.Context) error {
	if e.can.Pinger != nil {
		if err := e.can.Pinger.Ping(ctx); err != nil {
			return refuse.Store(err)
		}
	}
	if keys, ok := e.config.Keystore.(keystore.Readier); ok {
		if err := keys.Ready(ctx); err != nil {
			return refuse.Key(err)
		}
	}
	return nil
}
