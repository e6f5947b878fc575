package activity

import (
	"slices"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Query is what all queries have. A query with a time is live as long as a request
// is; one without, which the API allows, can be replayed while its credential is
// valid.
type Query struct {
	OrganizationID string
	Time           time.Time // timestampMs; zero: none
}

// read reads the members of a query.
func (q *Query) read(body []byte, fields ...strictjson.Field) error {
	var timestamp string
	fields = append(fields, required("organizationId", &q.OrganizationID), optional("timestampMs", &timestamp))
	if err := strictjson.Read(body, "body", fields...); err != nil {
		return refuseJSON(err)
	}
	if timestamp != "" {
		milliseconds, err := parseTimestamp(timestamp)
		if err != nil {
			return err
		}
		q.Time = time.UnixMilli(milliseconds)
	}
	return checkOrganizationID(q.OrganizationID)
}

// GetActivityQuery asks for a recorded activity: the body of get_activity.
type GetActivityQuery struct {
	Query
	ActivityID string
}

// WhoAmIQuery asks who the stamp belongs to: the body of whoami.
type WhoAmIQuery struct{ Query }

// WhoAmI is the answer to it.
type WhoAmI struct {
	OrganizationID   string `json:"organizationId"`
	OrganizationName string `json:"organizationName"`
	UserID           string `json:"userId"`
	Username         string `json:"username"`
}

// DecodeGetActivity reads the body of a get_activity query strictly. Its error
// is an *Error.
func DecodeGetActivity(body []byte) (query GetActivityQuery, err error) {
	return query, query.read(body, required("activityId", &query.ActivityID))
}

// DecodeWhoAmI reads the body of a whoami query strictly. Its error is an
// *Error.
func DecodeWhoAmI(body []byte) (query WhoAmIQuery, err error) {
	return query, query.read(body)
}

// Bounds of the pages of list_activities.
const (
	DefaultPage = 10
	MaxPage     = 100
)

// ListActivitiesQuery asks for the activities of an organization, the newest
// first: the body of list_activities.
type ListActivitiesQuery struct {
	Query
	Statuses []Status // empty: all
	Types    []Type   // empty: all
	Limit    int      // 1 to MaxPage
	Before   string   // id: only activities that are older
	After    string   // id: only activities that are newer
}

// DecodeListActivities reads the body of a list_activities query strictly. Its
// error is an *Error.
func DecodeListActivities(body []byte) (query ListActivitiesQuery, err error) {
	var statuses, types []string
	var limit string
	pages := func(reader *strictjson.Reader) error {
		return reader.Object(optional("limit", &limit), optional("before", &query.Before), optional("after", &query.After))
	}
	err = query.read(body,
		strictjson.Optional("filterByStatus", &statuses).AtMost(boundOf("filterByStatus")),
		strictjson.Optional("filterByType", &types).AtMost(boundOf("filterByType")),
		strictjson.Optional("paginationOptions", pages),
	)
	if err != nil {
		return query, err
	}
	for _, status := range statuses {
		if !slices.Contains(Statuses(), Status(status)) && !slices.Contains(otherStatuses, status) {
			return query, NewError(ReasonRequestInvalid, "filterByStatus", nil, "filterByStatus: status %s is not known", quoted(status))
		}
		query.Statuses = append(query.Statuses, Status(status))
	}
	for _, kind := range types {
		query.Types = append(query.Types, Type(kind))
	}
	query.Limit, err = parsePage(limit)
	return query, err
}

// otherStatuses are those of the API that no activity has here.
var otherStatuses = []string{"ACTIVITY_STATUS_CREATED", "ACTIVITY_STATUS_PENDING", "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED"}

func parsePage(text string) (int, error) {
	if text == "" {
		return DefaultPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > MaxPage {
		return 0, NewError(ReasonRequestInvalid, "limit", nil, "limit %s: 1 to %d is expected, as a string", quoted(text), MaxPage)
	}
	return limit, nil
}

// ListPoliciesQuery asks for the rules that an organization has: the body of
// list_policies.
type ListPoliciesQuery struct{ Query }

// DecodeListPolicies reads the body of a list_policies query strictly. Its error
// is an *Error.
func DecodeListPolicies(body []byte) (query ListPoliciesQuery, err error) {
	return query, query.read(body)
}
