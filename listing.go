package countersign

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// maxScanned bounds how many activities a listing scans for those that the caller may read.
const maxScanned = 20 * store.MaxList

// maxReading bounds how long a listing reads once it has an activity: lists of transactions that
// wait are prepared and judged again, each of which may take a second.
const maxReading = 2 * time.Second

// ListActivities answers a list_activities query: the activities that the caller may
// read, the newest first. A page ends early if the server has no memory for more at
// the moment, or has read for maxReading, but never before its first activity: only an
// empty page means that there are no more.
func (e *Engine) ListActivities(ctx context.Context, sent SignedBody) ([]*activity.Record, error) {
	s := request.New("list_activities")
	query, err := activity.DecodeListActivities(sent.Body)
	return answerQuery(ctx, e, s, sent, query.Query, err, func() ([]*activity.Record, error) {
		if e.can.Lister == nil {
			return nil, activity.NewError(activity.ReasonInternal, "", errNoLister,
				"this server cannot list activities: its store is no store.Lister")
		}
		p := page{engine: e, reader: s.Caller, filter: filterOf(&query), limit: query.Limit,
			records: []*activity.Record{}, began: time.Now()}
		listed, err := p.gather(ctx)
		if err == nil {
			_, err = e.records.Withhold(ctx, query.OrganizationID, listed...)
		}
		return listed, err
	})
}

// page is a page of a listing: what the caller may read of what the filter finds.
type page struct {
	engine  *Engine
	reader  *request.Caller
	filter  store.Filter // advanced past what was read
	limit   int
	records []*activity.Record
	began   time.Time
}

// ends reports whether the page has as much as it can have.
func (p *page) ends() bool {
	return len(p.records) >= p.limit || len(p.records) > 0 && time.Since(p.began) > maxReading
}

// gather reads the store until the page is full or the server has no room for more records.
func (p *page) gather(ctx context.Context) ([]*activity.Record, error) {
	for scanned := 0; scanned < maxScanned && !p.ends(); {
		count, more, err := p.read(ctx)
		if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonUnavailable &&
			len(p.records) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		scanned += count
		p.filter.Limit = min(2*p.filter.Limit, store.MaxList) // most of what is scanned is not the caller's
	}
	if p.filter.Ascending() {
		slices.Reverse(p.records)
	}
	return p.records, nil
}

// read reads what the store finds next. It returns how many activities that were, and
// whether there may be more.
func (p *page) read(ctx context.Context) (count int, more bool, err error) {
	free, err := access.OriginOf(ctx).Reserve(store.MaxListBytes)
	if err != nil {
		return 0, false, err
	}
	defer free()
	listed, err := p.engine.can.Lister.List(ctx, p.reader.Organization.ID, p.filter)
	if err != nil {
		return 0, false, refuse.Store(err)
	}
	size := 0
	for i := range listed {
		size += len(listed[i].Data)
	}
	if p.filter.Ascending() {
		slices.Reverse(listed)
	}
	for i := range listed {
		if p.ends() {
			break
		}
		if err := p.add(ctx, &listed[i]); err != nil {
			return 0, false, err
		}
		if p.filter.Ascending() {
			p.filter.After = listed[i].ID
		} else {
			p.filter.Before = listed[i].ID
		}
	}
	return len(listed), p.filter.Full(len(listed), size), nil
}

// add adds an activity as the caller is shown it, if the caller may read it.
func (p *page) add(ctx context.Context, recorded *store.Activity) error {
	of := &p.engine.approvals
	if !of.MayFind(p.reader, recorded) {
		return nil
	}
	record, free, err := records.DecodeInRoom(ctx, recorded)
	if err != nil {
		return err
	}
	readable, err := of.MayRead(ctx, p.reader, record)
	if err != nil || !readable {
		free()
		return err
	}
	shown, err := of.ShownTo(ctx, p.reader, record)
	if err == nil {
		p.records = append(p.records, shown)
	}
	return err
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
	s := request.New("list_policies")
	query, err := activity.DecodeQuery(sent.Body)
	return answerQuery(ctx, e, s, sent, query, err, func() ([]activity.PolicyRule, error) {
		if lister, ok := e.config.Policy.(access.PolicyLister); ok {
			return lister.PoliciesOf(s.Caller.Organization, s.Caller.Member), nil
		}
		return nil, nil
	})
}
