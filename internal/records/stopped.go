package records

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// RefuseStopped refuses what a stop applies to now. It is for what does not end with Complete,
// which decides for the rest.
func (k *Keeper) RefuseStopped(ctx context.Context, organizationID string, of store.Stoppable) error {
	if k.Log == nil {
		return nil
	}
	head, err := k.Log.LogHead(ctx, organizationID)
	if err == nil {
		err = store.Admit(&head, time.Time{}, of)
	}
	if err != nil {
		return refuse.Store(err)
	}
	return nil
}

// Withhold takes the results that stops withhold out of records of an organization, and returns the last
// such stop, nil if there is none. It refuses what was read, or not found, in a store that the organization
// has left: what became of it since is in another.
func (k *Keeper) Withhold(ctx context.Context, organizationID string,
	records ...*activity.Record) (withholds *translog.Stop, err error) {
	if k.Log == nil {
		return nil, nil
	}
	head, err := k.Log.LogHead(ctx, organizationID)
	if head.Moved {
		err = store.ErrMoved
	}
	if err != nil {
		return nil, refuse.Store(err)
	}
	for i := range head.Stops {
		for _, record := range records {
			stop, is := &head.Stops[i], request.Recorded{Record: record}
			if stop.Answers && record.Result != nil && is.Concerns(stop.Subject) {
				record.Result, withholds = nil, stop
			}
		}
	}
	return withholds, nil
}
