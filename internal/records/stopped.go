package records

import (
	"context"
	"slices"
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

// Withhold takes the results that stops withhold out of records of an organization. It returns
// the last such stop, nil if there is none.
func (k *Keeper) Withhold(ctx context.Context, organizationID string,
	records ...*activity.Record) (withholds *translog.Stop, err error) {
	hasResult := func(record *activity.Record) bool { return record.Result != nil }
	if k.Log == nil || !slices.ContainsFunc(records, hasResult) {
		return nil, nil
	}
	head, err := k.Log.LogHead(ctx, organizationID)
	if err != nil {
		return nil, refuse.Store(err)
	}
	for i := range head.Stops {
		for _, record := range records {
			if stop := &head.Stops[i]; stop.Answers && (request.Recorded{Record: record}).Concerns(stop.Subject) {
				record.Result, withholds = nil, stop
			}
		}
	}
	return withholds, nil
}
