package countersign

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// maxScanned bounds how many activities a listing looks at to find those that
// its reader may see.
const maxScanned = 20 * store.MaxList

// ListActivities answers a list_activities query: the activities that the caller
// may read, the newest first. A page ends early if the server has no memory for
// more at the moment, but never before its first activity: only an empty page says
// that there are no more.
func (e *Engine) ListActivities(ctx context.Context, sent SignedBody) ([]*activity.Record, error) {
	started := time.Now()
	seen := Observation{Operation: "list_activities", trail: new(trail)}
	records, organizationID, err := e.listActivities(ctx, sent, &seen)
	e.observed(ctx, &seen, organizationID, started, err)
	return records, err
}

func (e *Engine) listActivities(ctx context.Context, sent SignedBody, seen *Observation) ([]*activity.Record, string, error) {
	if err := e.ready(); err != nil {
		return nil, "", err
	}
	query, err := activity.DecodeListActivities(sent.Body)
	if err != nil {
		return nil, "", err
	}
	by, err := e.authenticateQuery(ctx, query.Query, sent)
	if err != nil {
		return nil, query.OrganizationID, err
	}
	seen.trail.by = by
	records, err := e.page(ctx, by, &query)
	return records, query.OrganizationID, err
}

// page gathers what the caller may read, until the page is full. If the server has no
// room for more, it is what there is room for, but never nothing.
func (e *Engine) page(ctx context.Context, by *caller, query *activity.ListActivitiesQuery) ([]*activity.Record, error) {
	filter := filterOf(query)
	page := []*activity.Record{}
	for scanned := 0; scanned < maxScanned && len(page) < query.Limit; {
		found, more, err := e.pageOf(ctx, by, &filter, query.Limit, &page)
		if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonUnavailable && len(page) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		scanned += found
	}
	if filter.Ascending() {
		slices.Reverse(page)
	}
	return page, nil
}

// pageOf reads one page of the store, and appends to the caller's page what they may
// read of it, up to a limit. The filter then goes on behind it. It returns how many
// activities the store has found, and whether there may be more.
func (e *Engine) pageOf(ctx context.Context, by *caller, filter *store.Filter, limit int, page *[]*activity.Record) (count int, more bool, err error) {
	free, err := roomFor(ctx, store.MaxListBytes)
	if err != nil {
		return 0, false, err
	}
	defer free()
	found, err := e.config.Store.List(ctx, by.organization.ID, *filter)
	if err != nil {
		return 0, false, refuseStore(err)
	}
	size := 0
	for i := range found {
		size += len(found[i].Data)
	}
	if filter.Ascending() {
		slices.Reverse(found)
	}
	for i := range found {
		if len(*page) == limit {
			break
		}
		record, err := e.listed(ctx, by, &found[i])
		if err != nil {
			return 0, false, err
		}
		if record != nil {
			*page = append(*page, record)
		}
		if filter.Ascending() {
			filter.After = found[i].ID
		} else {
			filter.Before = found[i].ID
		}
	}
	return len(found), filter.Full(len(found), size), nil
}

// listed is an activity as the caller is shown it; nil if they may not read it.
func (e *Engine) listed(ctx context.Context, by *caller, found *store.Activity) (*activity.Record, error) {
	free, err := roomFor(ctx, decodedCopies*len(found.Data))
	if err != nil {
		return nil, err
	}
	record, err := activity.DecodeRecord(found.Data)
	if err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "a recorded activity cannot be read")
	}
	if !by.mayRead(record) {
		free()
		return nil, nil
	}
	return e.shownTo(ctx, by, record)
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

// PolicyLister is a Policy that can say which rules an organization has.
type PolicyLister interface {
	// PoliciesOf returns the rules in the order in which they are asked.
	PoliciesOf(organization *Organization) []activity.PolicyRule
}

// ListPolicies answers a list_policies query: the rules of the policy, if it is a
// [PolicyLister], to be read and not changed.
func (e *Engine) ListPolicies(ctx context.Context, sent SignedBody) ([]activity.PolicyRule, error) {
	started := time.Now()
	seen := Observation{Operation: "list_policies", trail: new(trail)}
	rules, organizationID, err := e.listPolicies(ctx, sent, &seen)
	e.observed(ctx, &seen, organizationID, started, err)
	return rules, err
}

func (e *Engine) listPolicies(ctx context.Context, sent SignedBody, seen *Observation) ([]activity.PolicyRule, string, error) {
	if err := e.ready(); err != nil {
		return nil, "", err
	}
	query, err := activity.DecodeListPolicies(sent.Body)
	if err != nil {
		return nil, "", err
	}
	by, err := e.authenticateQuery(ctx, query.Query, sent)
	if err != nil {
		return nil, query.OrganizationID, err
	}
	seen.trail.by = by
	if lister, ok := e.config.Policy.(PolicyLister); ok {
		return lister.PoliciesOf(by.organization), query.OrganizationID, nil
	}
	return nil, query.OrganizationID, nil
}
