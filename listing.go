package countersign

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// maxScanned bounds how many activities a listing scans for those that the caller may
// read.
const maxScanned = 20 * store.MaxList

// ListActivities answers a list_activities query: the activities that the caller may
// read, the newest first. A page ends early if the server has no memory for more at
// the moment, but never before its first activity: only an empty page means that there
// are no more.
func (e *Engine) ListActivities(ctx context.Context, sent SignedBody) ([]*activity.Record, error) {
	return answerQuery(ctx, e, "list_activities", func(s *request.Submission) ([]*activity.Record, error) {
		query, err := activity.DecodeListActivities(sent.Body)
		if err == nil {
			err = e.admitQuery(ctx, s, query.Query, sent)
		}
		if err == nil && e.can.Lister == nil {
			err = activity.NewError(activity.ReasonInternal, "", errNoLister, "this server cannot list activities: its store is no store.Lister")
		}
		if err != nil {
			return nil, err
		}
		return e.page(ctx, s.Caller, &query)
	})
}

// page gathers what the caller may read, until the page is full or the server has no
// room for more records.
func (e *Engine) page(ctx context.Context, reader *request.Caller, query *activity.ListActivitiesQuery) ([]*activity.Record, error) {
	filter := filterOf(query)
	page := []*activity.Record{}
	for scanned := 0; scanned < maxScanned && len(page) < query.Limit; {
		count, more, err := e.pageOf(ctx, reader, &filter, query.Limit, &page)
		if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonUnavailable && len(page) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		scanned += count
		filter.Limit = min(2*filter.Limit, store.MaxList) // most of what is scanned is not the caller's
	}
	if filter.Ascending() {
		slices.Reverse(page)
	}
	return page, nil
}

// pageOf reads one page of the store, appends to page what the caller may read of it,
// up to limit, and advances the filter past it. It returns how many activities the
// store found, and whether there may be more.
func (e *Engine) pageOf(ctx context.Context, reader *request.Caller, filter *store.Filter, limit int, page *[]*activity.Record) (count int, more bool, err error) {
	free, err := access.OriginOf(ctx).Reserve(store.MaxListBytes)
	if err != nil {
		return 0, false, err
	}
	defer free()
	listed, err := e.can.Lister.List(ctx, reader.Organization.ID, *filter)
	if err != nil {
		return 0, false, refuse.Store(err)
	}
	size := 0
	for i := range listed {
		size += len(listed[i].Data)
	}
	if filter.Ascending() {
		slices.Reverse(listed)
	}
	for i := range listed {
		if len(*page) == limit {
			break
		}
		if e.approvals.MayFind(reader, &listed[i]) {
			record, err := e.listed(ctx, reader, &listed[i])
			if err != nil {
				return 0, false, err
			}
			if record != nil {
				*page = append(*page, record)
			}
		}
		if filter.Ascending() {
			filter.After = listed[i].ID
		} else {
			filter.Before = listed[i].ID
		}
	}
	return len(listed), filter.Full(len(listed), size), nil
}

// listed returns an activity as the caller is shown it, or nil if the caller may not
// read it.
func (e *Engine) listed(ctx context.Context, reader *request.Caller, recorded *store.Activity) (*activity.Record, error) {
	record, free, err := records.DecodeInRoom(ctx, recorded)
	if err != nil {
		return nil, err
	}
	readable, err := e.approvals.MayRead(ctx, reader, record)
	if err != nil || !readable {
		free()
		return nil, err
	}
	return e.approvals.ShownTo(ctx, reader, record)
}

func filterOf(query *activity.ListActivitiesQuery) store.Filter {
	filter := store.Filter{Before: query.Before, After: query.After, Limit: query.Limit}
	filter.Waiting = len(query.Statuses) > 0
	for _, status := range query.Statuses {
		filter.Statuses = append(filter.Statuses, string(status))
		filter.Waiting = filter.Waiting && status.Waits()
	}
	for _, kind := range query.Types {
		filter.Types = append(filter.Types, string(kind))
	}
	return filter
}

// ListPolicies answers a list_policies query: the rules of the policy that concern the
// credential, read-only, if the policy is a [access.PolicyLister].
func (e *Engine) ListPolicies(ctx context.Context, sent SignedBody) ([]activity.PolicyRule, error) {
	return answerQuery(ctx, e, "list_policies", func(s *request.Submission) ([]activity.PolicyRule, error) {
		query, err := activity.DecodeQuery(sent.Body)
		if err == nil {
			err = e.admitQuery(ctx, s, query, sent)
		}
		if err != nil {
			return nil, err
		}
		if lister, ok := e.config.Policy.(access.PolicyLister); ok {
			return lister.PoliciesOf(s.Caller.Organization, s.Caller.Member), nil
		}
		return nil, nil
	})
}
