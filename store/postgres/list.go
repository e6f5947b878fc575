package postgres

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/store"
)

// List implements store.Lister.
func (r activities) List(ctx context.Context, organizationID string,
	filter store.Filter) (activities []store.Activity, err error) {
	if !isText(organizationID) || !isText(filter.Before+filter.After) {
		return nil, nil
	}
	page, arguments := pageOf(organizationID, &filter)
	order, n := ` ORDER BY id `+direction(&filter), len(arguments)
	activities, err = r.all(ctx, fmt.Sprintf(`
		WITH RECURSIVE %[1]s,
		summed AS (SELECT *, sum(octet_length(data)) OVER (%[2]s) - octet_length(data) AS earlier FROM page)
		SELECT %[3]s FROM summed WHERE earlier < $%[4]d%[2]s`, page, order, activityColumns, n+1),
		append(arguments, store.MaxListBytes)...)
	return filter.Ordered(activities), err
}

func direction(filter *store.Filter) string {
	if filter.Ascending() {
		return "ASC"
	}
	return "DESC"
}

// pageOf returns the common table expression page, with its arguments from $1 on: as many
// activities as pass a filter, up to its limit. Bounds that the filter does not have are left
// out: with "no bound, or above it" an index could not be entered at the bound.
func pageOf(organizationID string, filter *store.Filter) (expression string, arguments []any) {
	arguments = []any{organizationID, filter.Most()}
	add := func(text string, argument any) string {
		arguments = append(arguments, argument)
		return fmt.Sprintf(" AND "+text, len(arguments))
	}
	bounds, group := "", "true"
	if filter.Before != "" {
		bounds += add("id < $%d", filter.Before)
	}
	if filter.After != "" {
		bounds += add("id > $%d", filter.After)
	}
	if len(filter.Statuses) > 0 {
		group += add("status = ANY ($%d)", filter.Statuses)
	}
	if len(filter.Types) > 0 {
		group += add("type = ANY ($%d)", filter.Types)
	}
	order := fmt.Sprintf(" ORDER BY id %s LIMIT $2", direction(filter))
	switch {
	case filter.Waiting:
		bounds += " AND waiting AND " + group
	case group != "true":
		return fmt.Sprintf(byGroups, group, bounds, order), arguments
	}
	return `page AS (SELECT * FROM countersign_activities WHERE organization_id = $1 AND id IS NOT NULL` + bounds +
		order + `)`, arguments
}

// byGroups is pageOf for a filter of types or statuses: groups are those that the
// organization has, which are few, each found behind the one before it in the index of
// organization, type, status and id.
const byGroups = `groups AS (
		(SELECT type, status FROM countersign_activities
		WHERE organization_id || '' = $1 AND id IS NOT NULL ORDER BY type, status LIMIT 1)
		UNION ALL
		SELECT following.type, following.status FROM groups, LATERAL (
			SELECT type, status FROM countersign_activities
			WHERE organization_id || '' = $1 AND id IS NOT NULL AND (type, status) > (groups.type, groups.status)
			ORDER BY type, status LIMIT 1) AS following),
	passing AS (
		SELECT one.id FROM (SELECT * FROM groups WHERE %[1]s) AS wanted, LATERAL (
			SELECT id FROM countersign_activities
			WHERE organization_id || '' = $1 AND type = wanted.type AND status = wanted.status
				AND id IS NOT NULL%[2]s%[3]s) AS one%[3]s),
	page AS (SELECT one.* FROM passing, LATERAL (
		SELECT * FROM countersign_activities WHERE organization_id = $1 AND id = passing.id OFFSET 0) AS one)`
