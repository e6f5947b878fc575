package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// maxScanned bounds how many activities a listing looks at to find those that
// its reader may see.
const maxScanned = 20 * store.MaxList

// ListActivities answers a list_activities query: the activities that the caller
// may read, the newest first. A page ends early if the server has no memory for
// more at the moment, but never before its first activity.
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

// page gathers what the caller may read, until the page is full.
func (e *Engine) page(ctx context.Context, by *caller, query *activity.ListActivitiesQuery) ([]*activity.Record, error) {
	filter := filterOf(query)
	page := []*activity.Record{}
	for scanned := 0; scanned < maxScanned; {
		found, err := e.config.Store.List(ctx, by.organization.ID, filter)
		if err != nil {
			return nil, refuseStore(err)
		}
		for i := range found {
			record, err := decodeRecorded(ctx, &found[i])
			if err != nil {
				if len(page) > 0 {
					return page, nil
				}
				return nil, err
			}
			if !by.mayRead(record) {
				continue
			}
			if record, err = e.shownTo(ctx, by, record); err != nil {
				return nil, err
			}
			if page = append(page, record); len(page) == query.Limit {
				return page, nil
			}
		}
		scanned += len(found)
		if len(found) < filter.Limit || filter.Ascending() {
			return page, nil
		}
		filter.Before = found[len(found)-1].ID
	}
	return page, nil
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
